import { pino } from 'pino';

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
