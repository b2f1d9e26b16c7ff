import { Writable } from 'node:stream';
import { createLogger, type Logger } from '../../src/lib/logger.js';
import { keepRecentLog } from './recent-log.js';

/** A real log whose lines a test can read. */
export function recordedLog(): { logger: Logger; events: () => string[]; text: () => string } {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      keepRecentLog(String(chunk));
      done();
    },
  });
  return {
    logger: createLogger('debug', stream),
    events: () => lines.map((line) => JSON.parse(line).event),
    text: () => lines.join(''),
  };
}
