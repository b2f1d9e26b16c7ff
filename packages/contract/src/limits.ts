/** Limits and times that both sides of the contract use. Sources: specification section 9, API clarifications. */

/** Largest request body that the API reads, in bytes; more is answered with 413. */
export const MAX_BODY_BYTES = 64 * 1024;

/** A message with `autoClose` leaves after this many milliseconds. */
export const NOTICE_LIFE_MS = 7000;
/** Exit animation of a message, in milliseconds. */
export const NOTICE_EXIT_MS = 500;
/** The loader appears when a request has run for this many milliseconds. */
export const LOADER_DELAY_MS = 1000;
/** Closing animation of a dialog, in milliseconds. */
export const DIALOG_CLOSE_MS = 300;
/** A row that is added or removed moves for this long, in milliseconds. */
export const ROW_ANIMATION_MS = 500;
/** A message about a field appears after this pause in typing, in milliseconds. */
export const VALIDATION_DEBOUNCE_MS = 500;
/** Changes of the window's size are acted on after this pause, in milliseconds. */
export const RESIZE_DEBOUNCE_MS = 300;

/** Device classes by width in CSS pixels: phone up to 800, tablet up to 1500, desktop above. */
export const PHONE_MAX_WIDTH = 800;
export const TABLET_MAX_WIDTH = 1500;

/** Status that the client gives to a body that is not JSON (specification section 8). */
export const STATUS_NOT_JSON = 555;

/** Closing animation of a menu of a row, in milliseconds. */
export const MENU_CLOSE_MS = 400;
/** Closing animation of the filter panel, in milliseconds. */
export const FILTER_CLOSE_MS = 400;
/** A finger that rests on a cell for this long presses it, in milliseconds. */
export const PRESS_MS = 200;
/** The tooltip of a cell appears after this, in milliseconds. */
export const TOOLTIP_DELAY_MS = 1000;
/** Rows of a table that stand in while it loads. */
export const SKELETON_ROWS = 5;
