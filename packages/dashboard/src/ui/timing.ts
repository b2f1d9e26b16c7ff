import { useEffect, useState } from 'react';

/** Durations of the controls. Source: specification section 9, API clarifications. */

/** Closing animation of a dialog, in milliseconds. */
export const DIALOG_CLOSE_MS = 300;
/** Closing animation of a menu of a row, in milliseconds. */
export const MENU_CLOSE_MS = 400;
/** Pause in typing after which a field is validated, in milliseconds. */
export const VALIDATION_DEBOUNCE_MS = 500;
/** Debounce of window resizing, in milliseconds. */
export const RESIZE_DEBOUNCE_MS = 300;
/** Length of a long press, in milliseconds. */
export const PRESS_MS = 200;
/** Delay of a tooltip, in milliseconds. */
export const TOOLTIP_DELAY_MS = 1000;
/** Number of rows of a table placeholder. */
export const SKELETON_ROWS = 5;
/** A message with `autoClose` closes after this time, in milliseconds. */
export const TOAST_LIFE_MS = 7000;
/** Exit animation of a message, in milliseconds. */
export const TOAST_EXIT_MS = 500;
/** The loader appears after a request has run for this time, in milliseconds. */
export const LOADER_DELAY_MS = 1000;
/** Animation of an added or removed row, in milliseconds. */
export const ROW_ANIMATION_MS = 500;
/** Closing animation of the filter panel, in milliseconds. */
export const FILTER_CLOSE_MS = 400;

/** Device classes by width in CSS pixels: phone up to 800, tablet up to 1500, desktop above (specification section 9). */
export const PHONE_MAX_WIDTH = 800;
export const TABLET_MAX_WIDTH = 1500;

/** True after `active` was true for `delay` milliseconds; false as soon as it ends. */
export function useDelayed(active: boolean, delay: number): boolean {
  const [passed, setPassed] = useState(false);
  useEffect(() => {
    if (!active) return;
    const timer = setTimeout(() => setPassed(true), delay);
    return () => {
      clearTimeout(timer);
      setPassed(false);
    };
  }, [active, delay]);
  return active && passed;
}
