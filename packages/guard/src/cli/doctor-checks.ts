/**
 * The conclusions of `doctor` about a site: pure rules over plain data. Every message says what is wrong, and `advice`
 * what to do.
 */

import { sharedAdvice } from './shared-connector.js';
import type { SiteStatus, StatusReport } from './status.js';
import { describeCachePastGuard, toUpstreamServerWarnings } from './upstream-server.js';

/** Parts of a site that are checked, in the order of the report. */
export type CheckName =
  | 'guard'
  | 'key'
  | 'connector'
  | 'policy'
  | 'redirects'
  | 'direct-requests'
  | 'public-address'
  | 'client-address'
  | 'server-behind'
  | 'https'
  | 'certificate'
  | 'scheme'
  | 'clock'
  | 'cache'
  | 'permissions'
  | 'disk'
  | 'mail';

/** `skipped`: the check was not possible; the message says why. */
export type CheckState = 'ok' | 'warning' | 'problem' | 'skipped';

export interface Finding {
  readonly check: CheckName;
  readonly state: CheckState;
  /** One or two sentences. */
  readonly message: string;
  /** What to do; null when there is nothing to do. */
  readonly advice: string | null;
}

/** A finding without the name of its check. */
export type Judgement = readonly [state: CheckState, message: string, advice?: string];

export const toFinding = (check: CheckName, [state, message, advice]: Judgement): Finding => ({
  check,
  state,
  message,
  advice: advice ?? null,
});

/** Whether guard runs, answers, and serves the site. */
export function checkGuard(guard: StatusReport['guard'], isServed: boolean | null): Finding {
  const judge = (): Judgement => {
    if (!guard.running) {
      return ['problem', 'Guard is not running.', 'Start it: systemctl start security-optimizer.'];
    }
    if (!guard.answers) {
      const advice = 'Read its log (journalctl -u security-optimizer), and compare `listen` with the socket unit.';
      return ['problem', `Guard runs, but does not answer on ${guard.listen}.`, advice];
    }
    if (isServed === false) {
      const advice = 'Have it read the configuration again: systemctl reload security-optimizer.';
      return ['problem', 'The running guard does not serve this site.', advice];
    }
    return ['ok', `Guard runs, answers on ${guard.listen}, and serves this site.`];
  };
  return toFinding('guard', judge());
}

/** Whether the site's key can be used. @param reason why it can't, with the remedy; null when it can */
export function checkKey(reason: string | null): Finding {
  if (reason === null) return toFinding('key', ['ok', 'The site’s key can be used.']);
  const advice = 'Mend the file, then have guard read it again: systemctl reload security-optimizer.';
  return toFinding('key', ['problem', `The site is in quarantine, and its visitors get 503. ${reason}.`, advice]);
}

/**
 * Whether the connector answers with this key, in guard's version.
 * @param sharedConnector folder from which the site runs the connector; null for a copy of its own
 */
export function checkConnector(
  site: Pick<SiteStatus, 'connector' | 'connectorVersion' | 'connectorFault'>,
  guardVersion: string,
  sharedConnector: string | null,
): Finding {
  const shared = sharedConnector === null ? '' : ` ${sharedAdvice(sharedConnector)}`;
  const judge = (): Judgement => {
    const fault = site.connectorFault ?? 'WordPress does not answer guard.';
    switch (site.connector) {
      case 'ok':
        return ['ok', `The connector answers, in version ${site.connectorVersion}.`];
      case 'version_differs': {
        const message = `The connector has version ${site.connectorVersion}, guard ${guardVersion}.`;
        return ['problem', message, 'Run `security-optimizer attach` for the site again.'];
      }
      case 'missing': {
        const advice =
          'Run `security-optimizer attach` again; where the site has moved its must-use plugins, with --mu-plugins.';
        return ['problem', fault, `${advice}${shared}`];
      }
      case 'other_secret':
        return ['problem', fault, 'Run `security-optimizer attach` again: it writes the key into WordPress.'];
      case 'redirected': {
        const advice =
          'docs/operator/operations.md, “The web server behind guard”, has the lines with which it redirects visitors, and not guard.';
        return ['problem', fault, `${advice}${shared}`];
      }
      case 'unknown': {
        const advice = 'Check the web server behind guard and `upstream`; a difference of clocks is told under clock.';
        return ['problem', fault, `${advice}${shared}`];
      }
    }
  };
  return toFinding('connector', judge());
}

/** Whether the first page redirects to itself. @param loop the fault and the remedy, or null */
export function checkRedirects(
  loop: { readonly message: string; readonly advice: string } | null,
  { connector, homeUrl }: Pick<SiteStatus, 'connector' | 'homeUrl'>,
): Finding {
  const judge = (): Judgement => {
    if (loop !== null) return ['problem', loop.message, loop.advice];
    if (homeUrl === null) return ['skipped', 'The site’s address is not known, because WordPress has never told it.'];
    if (connector === 'unknown') return ['skipped', 'WordPress’s web server did not answer.'];
    return ['ok', 'The web server behind guard does not lead the first page to itself.'];
  };
  return toFinding('redirects', judge());
}

/** Whether WordPress enforces the stored policy. @param inSync null when it is not known */
export function checkPolicy(inSync: boolean | null, pausedUntil: string | null): Finding {
  const judge = (): Judgement => {
    if (pausedUntil !== null) {
      return ['problem', `Everything is paused until ${pausedUntil}.`, 'End the pause: security-optimizer resume.'];
    }
    if (inSync === null) return ['skipped', 'Which policy WordPress runs is not known, because it did not answer.'];
    if (inSync) return ['ok', 'WordPress runs the stored policy.'];
    const advice = 'A running guard pushes it within seconds. If this stays, read its log for policy-push-failed.';
    return ['problem', 'WordPress does not run the stored policy.', advice];
  };
  return toFinding('policy', judge());
}

/**
 * Whether the upstream web server sees each visitor's address, and keeps pages that are meant for the machine alone
 * from visitors.
 * @param upstream `SiteConfig.upstream`
 */
export function checkUpstreamServer(
  { visitors, openPages }: Pick<SiteStatus, 'visitors' | 'openPages'>,
  upstream: string,
): Finding {
  const isAddressSeen = visitors === null ? null : visitors === 'seen';
  const [first, ...more] = toUpstreamServerWarnings(
    // Reported with the direct requests.
    { isAddressSeen, openPages, cachePastGuard: null },
    upstream,
  );
  const judge = (): Judgement => {
    if (first !== undefined) {
      const end = first.indexOf('. ') + 1;
      return ['warning', first.slice(0, end), [first.slice(end + 1), ...more].join(' ')];
    }
    if (isAddressSeen === null) {
      return ['skipped', 'Whether the web server behind guard sees each visitor’s address is not known.'];
    }
    return ['ok', 'The web server behind guard sees each visitor’s address.'];
  };
  return toFinding('server-behind', judge());
}

/** The response of WordPress's web server to a request that did not come through guard. */
export type DirectResponse = { readonly status: number } | { readonly fault: string };

/**
 * Whether WordPress refuses requests that did not come through guard.
 *
 * @param responses to a request that always starts PHP, and to the first page, which may be cached
 * @param next for a site that does not require guard: what to do next, as a sentence
 */
export function checkDirectRequests(
  {
    requireGuard,
    cachePastGuard,
  }: { readonly requireGuard: boolean; readonly cachePastGuard: SiteStatus['cachePastGuard'] },
  responses: { readonly php: DirectResponse; readonly page: DirectResponse },
  next: string,
): Finding {
  const judge = (): Judgement => {
    const { php, page } = responses;
    if ('fault' in php) return ['skipped', `WordPress’s web server did not answer guard’s machine: ${php.fault}.`];
    if (!requireGuard) {
      if (isRefusal(php.status)) return ['ok', `Direct requests are refused with ${php.status}.`];
      return ['warning', 'WordPress answers direct requests, so visitors can go past guard.', next];
    }
    if (php.status >= 500) {
      return ['skipped', `WordPress’s web server answered with ${php.status}, which tells nothing.`];
    }
    if (php.status >= 300 && php.status < 400) {
      const message = `WordPress’s web server redirects direct requests (${php.status}) before PHP can refuse them.`;
      return ['skipped', message];
    }
    if (!isRefusal(php.status)) {
      const message = `WordPress answers direct requests (status ${php.status}), although the site requires guard.`;
      const advice =
        'Run `security-optimizer attach` again: it writes into WordPress that guard is required. Reload PHP if it keeps files in memory.';
      return ['problem', message, advice];
    }
    if (cachePastGuard !== null) {
      const { message, advice } = describeCachePastGuard(cachePastGuard);
      return ['warning', message, advice];
    }
    if ('status' in page && page.status < 300) {
      const message = `Direct requests are refused with ${php.status}, but by a page cache or a file for the first page.`;
      return ['ok', `${message} Other machines were not found to get it.`];
    }
    return ['ok', `Direct requests are refused with ${php.status}.`];
  };
  return toFinding('direct-requests', judge());
}

const isRefusal = (status: number): boolean => status === 401 || status === 403;

const CLOCK_WARNING_SECONDS = 30;
/** Largest accepted difference of a signature's time (docs/developer/connector-protocol.md). */
const SIGNATURE_SECONDS = 60;

/**
 * Whether the clocks of guard and WordPress agree. @param ahead seconds by which WordPress's clock is ahead, or null
 */
export function checkClock(ahead: number | null): Finding {
  const judge = (): Judgement => {
    if (ahead === null) return ['skipped', 'WordPress’s web server did not tell its time.'];
    const seconds = Math.round(Math.abs(ahead));
    if (seconds <= CLOCK_WARNING_SECONDS) return ['ok', 'The clocks of guard and WordPress agree.'];
    const message = `The clock of WordPress’s machine is ${seconds} seconds ${ahead > 0 ? 'ahead of' : 'behind'} guard’s.`;
    const advice = 'Set both clocks by NTP: timedatectl set-ntp true.';
    if (seconds <= SIGNATURE_SECONDS) return ['warning', message, advice];
    return ['problem', `${message} WordPress believes no signature of guard’s beyond ${SIGNATURE_SECONDS}.`, advice];
  };
  return toFinding('clock', judge());
}

const MEGABYTE = 1024 * 1024;
const DISK_WARNING = 1024 * MEGABYTE;
const DISK_PROBLEM = 100 * MEGABYTE;

/** Whether there is room for the databases. @param freeBytes on the disk of the data folder, or null */
export function checkDisk(freeBytes: number | null): Finding {
  const judge = (): Judgement => {
    if (freeBytes === null) return ['skipped', 'The free space of the data folder’s disk is not known.'];
    const free = `${Math.floor(freeBytes / MEGABYTE).toLocaleString('en')} MB are free on the disk of the data folder.`;
    if (freeBytes >= DISK_WARNING) return ['ok', free];
    const advice = 'Make room, or lower `activity.maxRows`: on a full disk guard stores no setting and no visit.';
    return [freeBytes < DISK_PROBLEM ? 'problem' : 'warning', `Only ${free}`, advice];
  };
  return toFinding('disk', judge());
}

/** How mails are sent, and the outcome of the tests. */
export interface MailFacts {
  /** Server of the configuration; null when WordPress sends the mails. */
  readonly server: string | null;
  /** Why the server does not accept mails; null when it does, or when there is no server. */
  readonly fault: string | null;
  /** The mail that was sent as a test; null when none was requested. */
  readonly test: { readonly to: string; readonly fault: string | null } | null;
}

/** Whether guard can send mails. */
export function checkMail({ server, fault, test }: MailFacts): Finding {
  const judge = (): Judgement => {
    const configure = 'Check `mail.smtp` in guard.json, the password, and the firewall.';
    if (fault !== null) return ['problem', `${fault} Reports and alerts are not sent.`, configure];
    if (test !== null) {
      const way = server === null ? 'WordPress' : server;
      if (test.fault === null) return ['ok', `${way} has taken a mail to ${test.to}. See whether it arrives.`];
      const advice = server === null ? 'Check how WordPress sends mails, or set `mail.smtp` in guard.json.' : configure;
      return ['problem', `${way} did not take a mail to ${test.to}: ${test.fault}`, advice];
    }
    return server === null
      ? ['ok', 'WordPress sends the mails (`mail.smtp` is not set). --mail ADDRESS tries it.']
      : ['ok', `The mail server ${server} answers and lets guard in.`];
  };
  return toFinding('mail', judge());
}
