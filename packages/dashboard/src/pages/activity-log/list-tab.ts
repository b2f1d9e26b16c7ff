import type { Applied } from './list/applied.js';

/** What the tabs with a list of the log get. The page keeps their filters while other tabs are open. */
export interface ListTabProps {
  readonly applied: Applied;
  readonly onApply: (applied: Applied) => void;
}
