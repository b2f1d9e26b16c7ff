/** Limits and times that guard and the dashboard share. Sources: specification section 9, API clarifications. */

/** Maximum size of a request body in bytes; larger ones get 413. */
export const MAX_BODY_BYTES = 64 * 1024;

/** A message with `autoClose` closes after this many milliseconds. */
export const NOTICE_LIFE_MS = 7000;
/** Duration of the exit animation of a message, in milliseconds. */
export const NOTICE_EXIT_MS = 500;
/** The loader appears after a request has run for this many milliseconds. */
export const LOADER_DELAY_MS = 1000;
/** Duration of the animation of an added or removed row, in milliseconds. */
export const ROW_ANIMATION_MS = 500;

/** Device classes by width in CSS pixels: phone up to 800, tablet up to 1500, desktop above. */
export const PHONE_MAX_WIDTH = 800;
export const TABLET_MAX_WIDTH = 1500;

/** Status that the client uses for a body that is not JSON (specification section 8). */
export const STATUS_NOT_JSON = 555;

/** Duration of the closing animation of the filter panel, in milliseconds. */
export const FILTER_CLOSE_MS = 400;
