import { openSync } from 'node:fs';
import { pino } from 'pino';
import type { VisitRecorder } from '../hooks.js';
import type { Address } from '../lib/address.js';
import { toSeenAddress } from '../lib/carried-address.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';

/** Maximum number of bytes that are queued while the disk is slow. Further lines are dropped and counted. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

/** The file for programs that block addresses, such as fail2ban. */
export interface SecurityLog {
  /** Records the refused visits and the failed logins, and passes all visits on. */
  readonly visits: VisitRecorder;
  /** Writes the queued lines and closes the file. */
  close(): Promise<void>;
}

/**
 * Writes one line for each refused request and each failed login, the same that the Activity Log counts. Each contains
 * the whole address as it is seen, since a firewall knows no other. The address is the only part that a visitor can
 * choose, so patterns can't be deceived.
 *
 * @param file appended to; created with mode 0600
 * @throws the system's error when the file can't be opened
 */
export function openSecurityLog(
  file: string,
  { visits, clock, logger }: { readonly visits: VisitRecorder; readonly clock: Clock; readonly logger: Logger },
): SecurityLog {
  // Opened synchronously, so that a wrong path keeps guard from starting; written without blocking.
  const destination = pino.destination({ dest: openSync(file, 'a', 0o600), sync: false, maxLength: MAX_WAITING_BYTES });
  let lost = 0;
  let failing = false;
  let closed = false;
  destination.on('drop', () => {
    lost++;
    report(new Error('The disk is too slow.'));
  });
  destination.on('error', report);
  destination.on('drain', () => {
    if (failing) logger.warn({ event: 'security-log-write-recovered', lost }, 'The security log can be written again.');
    failing = false;
    lost = 0;
  });

  function report(error: unknown): void {
    // Logged once per outage.
    if (!failing) logger.error({ event: 'security-log-write-failed', file, err: error }, 'Lines are missing in it.');
    failing = true;
  }

  function write(event: 'request-refused' | 'login-failed', site: SiteId, visitor: Address, more: object): void {
    if (closed) return;
    const address = toSeenAddress(visitor).text;
    const time = new Date(clock()).toISOString();
    destination.write(`${JSON.stringify({ time, event, site, address, ...more })}\n`);
  }

  return {
    visits: {
      add(site, observed) {
        visits.add(site, observed);
        const { address, rule, status, failedLogins = 0, requestId } = observed;
        if (rule !== null) write('request-refused', site, address, { rule, status, requestId });
        else if (failedLogins > 0) write('login-failed', site, address, { failures: failedLogins, requestId });
      },
      addFailedLogins(site, request) {
        visits.addFailedLogins?.(site, request);
        write('login-failed', site, request.address, { failures: request.failedLogins });
      },
      getCounts: () => visits.getCounts?.() ?? { dropped: 0, waiting: 0 },
    },
    close() {
      // Logins whose outcome is known only later are in the Activity Log alone.
      closed = true;
      return new Promise((resolve) => {
        destination.once('close', resolve);
        destination.end();
      });
    },
  };
}
