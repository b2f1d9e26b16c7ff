/**
 * The conclusions of `doctor` about a site: pure rules over plain data. Every message says what is wrong, and `advice`
 * what to do.
 */

import { guideFile } from '../lib/guides.js';
import type { QuarantineCause, QuarantinedSite } from '../site.js';
import { type Finding, type Judgement, toFinding } from './doctor-findings.js';
import { sharedAdvice } from './shared-connector.js';
import type { StatusReport } from './status-report.js';
import type { SiteStatus } from './status-site.js';
import { describeCachePastGuard, toUpstreamServerWarnings } from './upstream-server.js';

/**
 * What the running guard does with a site: it serves it, keeps it in quarantine, or does not have it. Null when it is
 * not known, or guard does not run.
 */
export type Serving = 'served' | 'quarantined' | 'absent' | null;

/**
 * Whether guard runs, answers, and serves the site.
 * @param cause the check with the reason why it could not serve it after a reload either; null when it could
 */
export function checkGuard(guard: StatusReport['guard'], serving: Serving, cause: QuarantineCause | null): Finding {
  const judge = (): Judgement => {
    if (!guard.running) {
      return ['problem', 'guard-stopped', 'Guard is not running.', 'Start it: systemctl start security-optimizer.'];
    }
    if (!guard.answers) {
      const advice = 'Read its log (journalctl -u security-optimizer), and compare `listen` with the socket unit.';
      return ['problem', 'guard-silent', `Guard runs, but does not answer on ${guard.listen}.`, advice];
    }
    if (serving === 'quarantined') {
      const message = `Guard runs and answers on ${guard.listen}, but does not protect this site: it is in quarantine, and its visitors get 503.`;
      const advice =
        cause === null
          ? 'The reason for it is gone. Have guard read the configuration again: systemctl reload security-optimizer.'
          : `See below, ${cause}, for the reason and the remedy.`;
      return ['problem', 'guard-quarantines', message, advice];
    }
    if (serving === 'absent') {
      const advice = 'Have it read the configuration again: systemctl reload security-optimizer.';
      return ['problem', 'guard-serves-others', 'The running guard does not serve this site.', advice];
    }
    if (serving === null) return ['ok', `Guard runs and answers on ${guard.listen}.`];
    return ['ok', `Guard runs, answers on ${guard.listen}, and serves this site.`];
  };
  return toFinding('guard', judge());
}

/** Whether guard can use the site's entry and its key. @param quarantined why it can't, with the remedy; null when it can */
export function checkEntryAndKey(
  quarantined: Pick<QuarantinedSite, 'cause' | 'reason'> | null,
  serving: Serving,
): Finding {
  if (quarantined === null) return toFinding('key', ['ok', 'The site’s key can be used.']);
  const { cause, reason } = quarantined;
  const [name, file] = cause === 'entry' ? (['entry', 'guard.json'] as const) : (['key', 'the file'] as const);
  const last =
    cause === 'entry'
      ? 'The running guard still goes by the last valid entry'
      : 'The running guard still has the former key';
  const effect =
    serving === 'served'
      ? `${last}; from its next ${cause === 'entry' ? '' : 'reload or '}start on the site is in quarantine, and its visitors get 503.`
      : 'The site is in quarantine: guard answers its visitors with 503 and sends nothing to WordPress.';
  const advice = `Mend ${file}, then have guard read it again (systemctl reload security-optimizer), and run \`doctor\` once more: all other checks need the ${name}.`;
  return toFinding(name, ['problem', `${name}-unusable`, `${effect} ${reason}.`, advice]);
}

/** Whether guard can use the site's stored settings. @param mistakes the values that it can't use; null for none */
export function checkSettings(mistakes: string | null, serving: Serving): Finding {
  if (mistakes === null) return toFinding('settings', ['ok', 'The stored settings can be used.']);
  const effect =
    serving === 'quarantined'
      ? 'The site is in quarantine, and its visitors get 503'
      : 'Guard goes by the last settings that it could read, and after its next start visitors get 503';
  return toFinding('settings', [
    'problem',
    'settings-unusable',
    `${effect}: ${mistakes}.`,
    'Correct them with `security-optimizer settings import`, or restore a back-up.',
  ]);
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
        return ['problem', 'connector-version', message, 'Run `security-optimizer attach` for the site again.'];
      }
      case 'missing': {
        const advice =
          'Run `security-optimizer attach` again; where the site has moved its must-use plugins, with --mu-plugins.';
        return ['problem', 'connector-missing', fault, `${advice}${shared}`];
      }
      case 'other_secret':
        return [
          'problem',
          'connector-key',
          fault,
          'Run `security-optimizer attach` again: it writes the key into WordPress.',
        ];
      case 'redirected': {
        const advice = `${guideFile('operations.md')}, “The web server behind guard”, has the lines with which it redirects visitors, and not guard.`;
        return ['problem', 'connector-redirected', fault, `${advice}${shared}`];
      }
      case 'unknown': {
        const advice = 'Check the web server behind guard and `upstream`; a difference of clocks is told under clock.';
        return ['problem', 'connector-unreachable', fault, `${advice}${shared}`];
      }
    }
  };
  return toFinding('connector', judge());
}

/** Whether the first page or the login page redirects to itself. @param loop the fault and the remedy, or null */
export function checkRedirects(
  loop: { readonly message: string; readonly advice: string } | null,
  { connector, homeUrl }: Pick<SiteStatus, 'connector' | 'homeUrl'>,
): Finding {
  const judge = (): Judgement => {
    if (loop !== null) return ['problem', 'redirect-loop', loop.message, loop.advice];
    if (homeUrl === null)
      return [
        'skipped',
        'redirects-address-unknown',
        'The site’s address is not known, because WordPress has never told it.',
      ];
    if (connector === 'unknown') return ['skipped', 'redirects-no-response', 'WordPress’s web server did not answer.'];
    return ['ok', 'The web server behind guard leads neither the first page nor the login page to itself.'];
  };
  return toFinding('redirects', judge());
}

/** Whether WordPress enforces the stored policy. @param inSync null when it is not known */
export function checkPolicy(inSync: boolean | null, pausedUntil: string | null): Finding {
  const judge = (): Judgement => {
    if (pausedUntil !== null) {
      return [
        'problem',
        'policy-paused',
        `Everything is paused until ${pausedUntil}.`,
        'End the pause: security-optimizer resume.',
      ];
    }
    if (inSync === null)
      return ['skipped', 'policy-unknown', 'Which policy WordPress runs is not known, because it did not answer.'];
    if (inSync) return ['ok', 'WordPress runs the stored policy.'];
    const advice = 'A running guard pushes it within seconds. If this stays, read its log for policy-push-failed.';
    return ['problem', 'policy-outdated', 'WordPress does not run the stored policy.', advice];
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
      return [
        'warning',
        isAddressSeen === false ? 'server-hides-visitors' : 'server-open-page',
        first.slice(0, end),
        [first.slice(end + 1), ...more].join(' '),
      ];
    }
    if (isAddressSeen === null) {
      return [
        'skipped',
        'server-unknown',
        'Whether the web server behind guard sees each visitor’s address is not known.',
      ];
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
    if ('fault' in php)
      return ['skipped', 'direct-no-response', `WordPress’s web server did not answer guard’s machine: ${php.fault}.`];
    if (!requireGuard) {
      if (isRefusal(php.status)) return ['ok', `Direct requests are refused with ${php.status}.`];
      return ['warning', 'direct-allowed', 'WordPress answers direct requests, so visitors can go past guard.', next];
    }
    if (php.status >= 500) {
      return [
        'skipped',
        'direct-server-error',
        `WordPress’s web server answered with ${php.status}, which tells nothing.`,
      ];
    }
    if (php.status >= 300 && php.status < 400) {
      const message = `WordPress’s web server redirects direct requests (${php.status}) before PHP can refuse them.`;
      return ['skipped', 'direct-redirected', message];
    }
    if (!isRefusal(php.status)) {
      const message = `WordPress answers direct requests (status ${php.status}), although the site requires guard.`;
      const advice =
        'Run `security-optimizer attach` again: it writes into WordPress that guard is required. Reload PHP if it keeps files in memory.';
      return ['problem', 'direct-answered', message, advice];
    }
    if (cachePastGuard !== null) {
      const { message, advice } = describeCachePastGuard(cachePastGuard);
      return ['warning', 'direct-cache', message, advice];
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
    if (ahead === null) return ['skipped', 'clock-unknown', 'WordPress’s web server did not tell its time.'];
    const seconds = Math.round(Math.abs(ahead));
    if (seconds <= CLOCK_WARNING_SECONDS) return ['ok', 'The clocks of guard and WordPress agree.'];
    const message = `The clock of WordPress’s machine is ${seconds} seconds ${ahead > 0 ? 'ahead of' : 'behind'} guard’s.`;
    const advice = 'Set both clocks by NTP: timedatectl set-ntp true.';
    if (seconds <= SIGNATURE_SECONDS) return ['warning', 'clock-differs', message, advice];
    return [
      'problem',
      'clock-signatures-refused',
      `${message} WordPress believes no signature of guard’s beyond ${SIGNATURE_SECONDS}.`,
      advice,
    ];
  };
  return toFinding('clock', judge());
}

const MEGABYTE = 1024 * 1024;
const DISK_WARNING = 1024 * MEGABYTE;
const DISK_PROBLEM = 100 * MEGABYTE;

/** Whether there is room for the databases. @param freeBytes on the disk of the data folder, or null */
export function checkDisk(freeBytes: number | null): Finding {
  const judge = (): Judgement => {
    if (freeBytes === null)
      return ['skipped', 'disk-unknown', 'The free space of the data folder’s disk is not known.'];
    const free = `${Math.floor(freeBytes / MEGABYTE).toLocaleString('en')} MB are free on the disk of the data folder.`;
    if (freeBytes >= DISK_WARNING) return ['ok', free];
    const advice = 'Make room, or lower `activity.maxRows`: on a full disk guard stores no setting and no visit.';
    return freeBytes < DISK_PROBLEM
      ? ['problem', 'disk-full', `Only ${free}`, advice]
      : ['warning', 'disk-low', `Only ${free}`, advice];
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
    if (fault !== null) return ['problem', 'mail-server', `${fault} Reports and alerts are not sent.`, configure];
    if (test !== null) {
      const way = server === null ? 'WordPress' : server;
      if (test.fault === null) return ['ok', `${way} has taken a mail to ${test.to}. See whether it arrives.`];
      const advice = server === null ? 'Check how WordPress sends mails, or set `mail.smtp` in guard.json.' : configure;
      return ['problem', 'mail-not-sent', `${way} did not take a mail to ${test.to}: ${test.fault}`, advice];
    }
    return server === null
      ? ['ok', 'WordPress sends the mails (`mail.smtp` is not set). --mail ADDRESS tries it.']
      : ['ok', `The mail server ${server} answers and lets guard in.`];
  };
  return toFinding('mail', judge());
}
