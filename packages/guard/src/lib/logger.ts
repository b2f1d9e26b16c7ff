import { pino } from 'pino';
import { setBounded } from './collections.js';

export type Logger = pino.Logger;
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Names under which a secret could be logged by accident; their values are replaced. */
const SECRET_NAMES = ['secret', 'cookie', 'nonce', 'password', 'authorization', 'body'];

/**
 * Former names of events. For one release their lines also contain the old name in `formerEvent`, so that log searches
 * for it still work. To be removed in the release after 0.1.
 */
const FORMER_EVENTS: ReadonlyMap<unknown, string> = new Map(
  Object.entries({
    'settings-rollback-failed': 'settings-not-put-back',
    'api-init-failed': 'api-not-made',
    'throttled-accounts-store-failed': 'slow-users-not-stored',
    'login-attempts-store-failed': 'login-attempts-not-stored',
    'login-unlocks-read-failed': 'login-attempts-not-read',
    'login-attempts-store-slow': 'login-attempts-late',
    'login-unlocks-applied': 'login-locks-lifted',
    'blocklist-read-failed': 'blocked-not-read',
    'visits-store-failed': 'visits-not-stored',
    'hostname-store-failed': 'hostname-not-stored',
    'activity-log-open-failed': 'activity-log-not-opened',
    'activity-log-write-failed': 'activity-log-not-written',
    'activity-log-write-recovered': 'activity-log-written-again',
    'activity-retention-failed': 'activity-not-cleared',
    'events-drain-failed': 'events-not-drained',
    'events-drain-recovered': 'events-drained-again',
    'guard-events-store-failed': 'guard-events-not-stored',
    'report-send-failed': 'report-not-sent',
    'report-build-failed': 'report-not-made',
    'job-store-failed': 'job-not-stored',
    'job-audit-failed': 'job-not-recorded',
    'site-facts-store-failed': 'site-facts-not-stored',
    'sessions-end-failed': 'sessions-not-ended',
    'session-issue-failed': 'session-not-issued',
    'trusted-devices-read-failed': 'trusted-devices-not-read',
    'audit-store-failed': 'audit-not-stored',
    'translation-read-failed': 'translation-not-read',
    'connector-key-restore-failed': 'connector-key-not-restored',
    'security-log-write-failed': 'security-log-not-written',
    'security-log-write-recovered': 'security-log-written-again',
    'blocks-end-failed': 'blocks-not-ended',
    'login-addresses-read-failed': 'login-addresses-not-read',
    'alerts-send-failed': 'alerts-not-sent',
    'alerts-read-failed': 'alerts-not-read',
    'alerts-store-failed': 'alerts-not-stored',
    'technical-data-send-failed': 'technical-data-not-sent',
    'service-state-send-failed': 'service-state-not-sent',
    'guarded-traffic-store-failed': 'guarded-traffic-not-stored',
    'configuration-reload-failed': 'configuration-not-reloaded',
    'sites-file-write-failed': 'sites-not-noted',
  }),
);

/**
 * The service's log: one JSON object per line on standard error. Every line has an `event`, a stable name in kebab-case
 * that docs/operator/configuration.md lists. Written without blocking, so that a slow reader of the log never delays
 * requests.
 *
 * @param destination where lines are written. Default: standard error
 */
export function createLogger(level: LogLevel, destination?: pino.DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (line) => {
          const formerEvent = FORMER_EVENTS.get(line.event);
          return formerEvent === undefined ? line : { ...line, formerEvent };
        },
      },
      redact: { paths: SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[removed]' },
    },
    destination ?? pino.destination({ dest: 2, sync: false }),
  );
}

/** A log that writes nothing, for tests and for commands that print plain text instead. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}

/** An outage is over when nothing has failed for this time, milliseconds. */
const QUIET_MS = 60_000;
const OUTAGES_MAX = 10_000;

/**
 * Logs one line per outage instead of one per failed call: while WordPress does not answer, thousands of calls fail for
 * the same reason.
 */
export class OutageLog {
  readonly #outages = new Map<string, { last: number; suppressed: number }>();

  /**
   * Records a failure.
   * @param what identifies the outage, for example by site and error code
   * @returns null when this outage was already logged; else how many failures of the previous outage were not logged
   */
  record(what: string, now: number): number | null {
    const before = this.#outages.get(what);
    if (before !== undefined && Math.abs(now - before.last) < QUIET_MS) {
      before.last = now;
      before.suppressed++;
      return null;
    }
    this.#outages.delete(what);
    setBounded(this.#outages, what, { last: now, suppressed: 0 }, OUTAGES_MAX);
    return before?.suppressed ?? 0;
  }
}
