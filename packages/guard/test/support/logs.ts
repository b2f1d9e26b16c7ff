import { Writable } from 'node:stream';
import { createLogger, type Logger } from '../../src/lib/logger.js';

/** Number of lines that the report of a failed test shows. */
const STORED = 40;

const lines: string[] = [];

/**
 * Keeps the log lines of a guard of the running test.
 * @param text one line or several
 */
export function recordRecentLog(text: string): void {
  lines.push(...text.split('\n').filter(Boolean));
  lines.splice(0, Math.max(0, lines.length - STORED));
}

/** The last log lines of guards of the running test. */
export function recentLog(): readonly string[] {
  return [...lines];
}

/** Deletes the lines of the previous test. */
export function forgetRecentLog(): void {
  lines.length = 0;
}

/** The log of a guard whose lines no test reads. They are shown if the test fails. */
export function recentLogger(): Logger {
  const stream = new Writable({
    write(chunk, _encoding, done) {
      recordRecentLog(String(chunk));
      done();
    },
  });
  return createLogger('info', stream);
}

/** A real log whose lines a test can read. */
export function recordedLog(): { logger: Logger; events: () => string[]; text: () => string } {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      recordRecentLog(String(chunk));
      done();
    },
  });
  return {
    logger: createLogger('debug', stream),
    events: () => lines.map((line) => JSON.parse(line).event),
    text: () => lines.join(''),
  };
}
