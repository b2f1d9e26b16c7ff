import type { ChangeState } from './use-toggles.js';

/** The value that a row shows: a change that is being saved counts with its new value. */
export function displayedValue(stored: 0 | 1, change: ChangeState | undefined): 0 | 1 {
  return change?.state === 'saving' ? change.wanted : stored;
}
