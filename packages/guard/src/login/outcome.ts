import { randomBytes } from 'node:crypto';
import type { Exchange, ResponseHook } from '../hooks.js';
import type { RawHeaders } from '../http/headers.js';
import {
  cookieFolder,
  createKnownBrowserCookie,
  createLoginPageCookie,
  isKnownBrowser,
  type KnownBrowser,
} from '../http/login-cookies.js';
import { startsSession } from '../http/session-cookies.js';
import { resolveWithin } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import { isLoginForm } from '../rules/login-policy.js';
import type { SessionCookieNames, SiteId } from '../site.js';
import type { LoginContext, LoginReport, RefuseReason } from '../wordpress/login-headers.js';
import { isSignedIn } from '../wordpress/signature.js';
import { type Permit, recordSuccess, toBrowserKey } from './attempts.js';
import type { RequestCredentials } from './basic-credentials.js';
import type { PasswordLikelihood } from './concurrency-limiter.js';
import type { AttemptEntry } from './lockout-rule.js';
import type { LoginServices } from './login-services.js';
import { classifyUnsignedResponse, type ReportLookup, toCountedOutcome } from './missing-reports.js';
import type { CheckOutcome } from './password-check-queue.js';

/** The rule name recorded for requests that are refused because of failed logins. */
export const LOGIN_LIMIT = 'login-limit';

/** How a request is forwarded to WordPress. */
export interface LoginAdmission {
  /** Content of the signed context header to WordPress; null for none. */
  readonly loginContext: LoginContext | null;
  readonly permit: Permit | null;
  readonly certain: boolean;
  readonly likelihood: PasswordLikelihood;
  /** End of the lockout that forbids password checks, milliseconds since the Unix epoch; null without one. */
  readonly lockedUntil: number | null;
  readonly device: KnownBrowser | null;
  /** Key under which failures are counted, in addition to that of the browser. */
  readonly key: string;
  /** Whether WordPress may check passwords, unless the context says something else. */
  readonly mayCheckPasswords: boolean;
}

/**
 * Records the outcome of the passwords in a request, releases its permit, and withholds responses that must not reach
 * the client.
 *
 * @param basic its `Authorization: Basic` credentials, or null
 */
export function createLoginResponseHook(
  login: LoginServices,
  exchange: Exchange,
  admitted: LoginAdmission,
  basic: RequestCredentials | null,
): ResponseHook {
  const { allowed, requestId } = exchange;
  const { cookie } = exchange.request.headers;
  const { permit, certain, likelihood, device, key, lockedUntil } = admitted;
  const { site, snapshot, address, loginRoute } = allowed;
  const { id, secret } = site.config;
  const { limit, hasCustomUrl } = snapshot.login;

  const recordFailure = (user: number, name = ''): void => {
    exchange.countLoginFailure(name);
    const now = login.clock();
    const entry = login.attempts.recordFailure(id, key, limit, now, user);
    logLock(login.logger, entry, { site: id, address: address.text, requestId, now });
    if (limit === 0) return;
    // Counted for any account, so that a cookie that many addresses use for guesses soon loses its privilege.
    if (device !== null) login.attempts.recordFailure(id, toBrowserKey(device), limit, now, user);
    throttle(user, now);
  };

  const throttle = (user: number, now: number): void => {
    if (user !== 0 && !device?.users.includes(user)) login.throttled.recordFailure(id, user, now);
  };

  const addCookies = (headers: RawHeaders, report: LoginReport | null, isLoginPage: boolean): void => {
    const where = { home: cookieFolder(snapshot.paths), scheme: allowed.scheme, now: login.clock() };
    if (report !== null && report.ok !== null && BROWSER_ROUTES.has(report.ok.route)) {
      const knownBrowser = { ...where, device, user: report.ok.id, freshId: randomBytes(8).toString('hex') };
      headers.push('Set-Cookie', createKnownBrowserCookie(secret, knownBrowser));
    }
    if (isLoginPage) headers.push('Set-Cookie', createLoginPageCookie(secret, where));
  };

  const count = (read: LoginReport): CheckOutcome => {
    for (const failure of read.failed) recordFailure(failure.id, failure.user);
    if (read.ok !== null) recordSuccess(login.attempts, { site: id, key, device, user: read.ok.id }, login.clock());
    if (read.failed.length > 0) return 'wrong';
    // An empty report means that a correct password was refused for another reason, which is no guess.
    return read.ok !== null || read.factor !== null || read.refused === 0 ? 'right' : 'wrong';
  };

  /**
   * Records a report. Failures caused by credentials that the web server itself checks are not counted, nor is an
   * application password that was wrong before: sending it again guesses nothing new.
   */
  const countReport = (read: LoginReport): Promise<void> | null => {
    const others = read.failed.filter(({ route }) => route !== APPLICATION_PASSWORD);
    const end = (counted: LoginReport): Promise<void> | null => {
      permit?.release(counted === read ? count(read) : counted.failed.length > 0 ? count(counted) : 'none');
      return limit === 0 ? null : login.whenStored(id);
    };
    if (limit === 0 || basic === null || others.length === read.failed.length) return end(read);
    // The request keeps its permit until the web server's check is known, so that the limit of guesses under way holds.
    return basic
      .areWebServers()
      .then(
        (isWebServers) =>
          end(isWebServers || basic.recordRejection(key) ? { ...read, failed: others } : read) ?? undefined,
      );
  };

  const recordRefused = ({ refused, failed }: LoginReport): void => {
    const why = admitted.loginContext?.why;
    const rule = failed.length === 0 && why !== undefined ? CHECK_REFUSALS[why] : null;
    // Credentials of the web server, or of a plugin, are no try to log in.
    const isLogin = basic === null || basic.owner() === 'unknown';
    exchange.recordChecksRefused(isLogin ? refused : 0, rule);
  };

  const recordFound = (found: ReportLookup, expected: boolean): void => {
    const counted = toCountedOutcome(found, expected, likelihood);
    if (typeof counted === 'object') void countReport(counted);
    else {
      if (counted === 'failure') recordFailure(0);
      permit?.release(counted === 'none' ? 'none' : 'wrong');
    }
  };

  /**
   * Handles a response without a signed report: finds out whether a password was checked, and how the check ended.
   * Until then the address keeps its permit. So it never has more guesses under way than the failures it may have, and
   * no failure is recorded that may not have happened.
   */
  const recordMissingReport = (status: number | null, headers: RawHeaders, isComplete = true): Promise<void> | null => {
    const verdict = classifyUnsignedResponse({
      method: allowed.facts.method,
      allowed: permit !== null && limit !== 0,
      likelihood,
      byForm: isLoginForm(allowed.facts, loginRoute),
      rest: allowed.facts.restRoute !== null,
      status,
      startsSession:
        (loginRoute === 'login' || loginRoute === 'signup') && beginsSession(headers, snapshot.sessionCookies),
    });
    const expected = verdict === 'expected';
    if (expected && (status !== null || isComplete)) login.missingReports.recordMissing(site.config, requestId, status);
    if (verdict !== 'nothing' && !(likelihood === 'view' && login.missingReports.pending > MAX_PENDING_VIEWS)) {
      permit?.leaveQueue();
      const found = login.missingReports
        .find(site.config, requestId, (report) => recordFound(report, expected))
        .then(() => login.whenStored(id));
      // The response waits where a check may have preceded it. A page or file of the web server itself does not wait.
      return expected || status === null || status >= 500 ? resolveWithin(found, WAIT_FOR_REPORT_MS) : null;
    }
    // The instruction to check no password may not have reached the connector.
    if (lockedUntil !== null && certain && isComplete)
      login.missingReports.recordMissing(site.config, requestId, status);
    permit?.release();
    return null;
  };

  let report: LoginReport | null = null;
  return {
    outlivesClient: permit !== null,
    onReport(read, status, headers) {
      const { signal } = exchange;
      if (signal.kind === 'ok' && limit !== 0) login.missingReports.recordSigned(id);
      if (read === null) {
        if (signal.kind !== 'ok') return recordMissingReport(status, headers);
        // With a cookie as well, the cookie may have authenticated the user.
        if (isSignedIn(signal) && cookie === undefined) basic?.recordPluginUse();
        permit?.release('none');
        return null;
      }
      basic?.forgetPluginUse();
      if (read === 'unreadable') {
        recordFailure(0);
        permit?.release();
        return limit === 0 ? null : login.whenStored(id);
      }
      report = read;
      if (read.refused > 0) recordRefused(read);
      if (!admitted.mayCheckPasswords) login.onPasswordInView?.(id);
      if (read.refused > 0 && lockedUntil !== null) addRetryAfter(headers, status, lockedUntil - login.clock());
      const stored = countReport(read);
      // A refused check must look like a failed one, and take as long.
      return read.failed.length + read.refused > 0 ? stored : null;
    },
    onHead(status, headers) {
      if (report !== null && report.factor !== null) {
        login.secondFactor().begin(exchange, report.factor, { status, headers });
        return 'replaced';
      }
      if (!hasCustomUrl) {
        if (report !== null && report.ok !== null) addCookies(headers, report, false);
        return 'send';
      }
      const { signal } = exchange;
      const mayOpenAdmin = loginRoute !== 'admin' || isKnownBrowser(secret, cookie, login.clock());
      // An unknown browser gets a page of wp-admin only if the connector confirms that WordPress accepted the cookie.
      // Other addresses may contain the name too (`/author/wp-admin/`); a response there proves nothing about the
      // cookie.
      const isKnown = mayOpenAdmin || isSignedIn(signal);
      // The web server found the request too long or malformed. It responds in the same way to a missing page, whose
      // request has the same length.
      if (!isKnown && signal.kind === 'missing' && WEB_SERVER_STATUSES.has(status)) return 'send';
      if (!isKnown || (signal.kind === 'ok' && signal.flags.includes('a'))) return 'decoy-404';
      addCookies(headers, report, loginRoute === 'login' || loginRoute === 'signup' || !mayOpenAdmin);
      return 'send';
    },
    onNoResponse(sent) {
      if (sent === 'whole' || (sent === 'part' && certain)) return recordMissingReport(null, [], sent === 'whole');
      permit?.release();
      return null;
    },
  };
}

/** Logs a lock that begins with a failure. */
export function logLock(
  logger: Logger,
  { failures, lastFailure, lockedUntil }: AttemptEntry,
  failed: { readonly site: SiteId; readonly address: string; readonly requestId: string; readonly now: number },
): void {
  const { now, ...rest } = failed;
  if (lockedUntil <= now || lastFailure !== now) return;
  const until = new Date(lockedUntil).toISOString();
  logger.info(
    { event: 'login-locked', ...rest, failures, until },
    'An address failed to log in too often and has to wait.',
  );
}

/** The rule names recorded for requests whose passwords WordPress had to refuse unchecked. */
const CHECK_REFUSALS: Readonly<Record<RefuseReason, string>> = {
  locked: LOGIN_LIMIT,
  busy: LOGIN_LIMIT,
  access: 'login-access',
  away: 'away-mode',
  'other-site': 'other-site',
};

/** While more reports than these are missing, those of page views that ended with an error are not queried. */
const MAX_PENDING_VIEWS = 2000;

/** How long an error response waits for the missing report, milliseconds. */
const WAIT_FOR_REPORT_MS = 3000;

/** Statuses with which web servers refuse to read a request: 400, 413, 414, 431. */
const WEB_SERVER_STATUSES: ReadonlySet<number> = new Set([400, 413, 414, 431]);

/** Route in the report of a failure that only `Authorization: Basic` caused. */
const APPLICATION_PASSWORD = 'application-password';

/** Adds `Retry-After` for a locked address. A redirect does not get it, since it would delay following the redirect. */
function addRetryAfter(headers: RawHeaders, status: number, ms: number): void {
  if (status >= 300 && status < 400) return;
  for (let i = 0; i < headers.length; i += 2) if (/^retry-after$/i.test(headers[i] as string)) return;
  headers.push('Retry-After', String(Math.max(1, Math.ceil(ms / 1000))));
}

/** Whether a response sets WordPress's login cookie. */
function beginsSession(headers: RawHeaders, names: SessionCookieNames): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if (/^set-cookie$/i.test(headers[i] as string) && startsSession(headers[i + 1] as string, names)) return true;
  }
  return false;
}

/** Routes in reports on which a browser logs in and keeps cookies. */
const BROWSER_ROUTES: ReadonlySet<string> = new Set(['form', 'other']);
