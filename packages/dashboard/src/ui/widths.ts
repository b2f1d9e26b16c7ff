/** Device classes by width in CSS pixels: phone up to 800, tablet up to 1500, desktop above (specification section 9). */
export const PHONE_MAX_WIDTH = 800;
export const TABLET_MAX_WIDTH = 1500;
