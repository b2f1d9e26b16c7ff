/** Times of the interface, in milliseconds (specification section 9). */

/** A message with `autoClose` closes after this time. */
export const NOTICE_LIFE_MS = 7000;
/** The exit animation of a message. */
export const NOTICE_EXIT_MS = 500;
/** The loader appears after a request has run for this time. */
export const LOADER_DELAY_MS = 1000;
/** The animation of an added or removed row. */
export const ROW_ANIMATION_MS = 500;
/** The closing animation of the filter panel. */
export const FILTER_CLOSE_MS = 400;
