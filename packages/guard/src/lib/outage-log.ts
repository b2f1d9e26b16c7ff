import { setBounded } from './set-bounded.js';

/** An outage is over when nothing has failed for so long, milliseconds. */
const QUIET_MS = 60_000;
const MOST = 10_000;

/**
 * One line of the log per outage in place of one per failed call: while WordPress does not answer, thousands of calls
 * fail for the same reason.
 */
export class OutageLog {
  readonly #outages = new Map<string, { last: number; left: number }>();

  /**
   * Takes note of a failure.
   * @param what what is out, for example a site and a code
   * @returns null when this outage stands in the log already; else how many failures of the one before were left out
   */
  note(what: string, now: number): number | null {
    const before = this.#outages.get(what);
    if (before !== undefined && Math.abs(now - before.last) < QUIET_MS) {
      before.last = now;
      before.left++;
      return null;
    }
    this.#outages.delete(what);
    setBounded(this.#outages, what, { last: now, left: 0 }, MOST);
    return before?.left ?? 0;
  }
}
