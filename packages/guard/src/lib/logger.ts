import { pino } from 'pino';
import { setBounded } from './set-bounded.js';

export type Logger = pino.Logger;
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Names under which a secret could reach the log by accident; their values are replaced. */
const SECRET_NAMES = ['secret', 'cookie', 'nonce', 'password', 'authorization', 'body'];

/**
 * The service's log: one JSON object per line on standard error. Every line carries `event`, a stable name in
 * kebab-case that docs/configuration.md lists. Written without blocking, so that a slow reader of the log never
 * holds up requests.
 *
 * @param destination where lines go; standard error when left out
 */
export function createLogger(level: LogLevel, destination?: pino.DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[removed]' },
    },
    destination ?? pino.destination({ dest: 2, sync: false }),
  );
}

/** A log that writes nothing, for tests and for commands that print plain text instead. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}

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
  record(what: string, now: number): number | null {
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
