import { randomBytes } from 'node:crypto';
import type { Logger } from '../lib/logger.js';
import type { LoginAttempts, Ticket } from '../login/attempts.js';
import { countSuccess } from '../login/count-success.js';
import { deviceCookie, deviceKey, type KnownDevice } from '../login/device-cookie.js';
import { checksPassword } from '../login/login-policy.js';
import type { FoundReport, LostReports } from '../login/lost-reports.js';
import { judgeUnsigned } from '../login/missing-report.js';
import type { SlowAccounts } from '../login/slow-accounts.js';
import type { FactorNeeded } from '../login/two-factor/second-factor-door.js';
import { visitCookie } from '../login/visit-cookie.js';
import type { RawHeaders } from '../protections/protection.js';
import type { SiteId } from '../site.js';
import { type LoginReport, readLoginReport } from '../wordpress/login-headers.js';
import { isMember, type Signal } from '../wordpress/signature.js';
import { claimOf } from './admit-login.js';
import type { Pass } from './examine.js';
import type { ExchangeWatch } from './exchange-watch.js';
import { wasLetIn } from './hide-login.js';

export interface LoginExchangeDeps {
  readonly attempts: LoginAttempts;
  readonly slow: SlowAccounts;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly lost: LostReports;
  /** See `AttemptKeeper.settled`. */
  settled(site: SiteId): Promise<void>;
}

/** One request on its way to WordPress, as far as passwords go. */
export interface LoginPassage {
  readonly pass: Pass;
  readonly requestId: string;
  readonly cookie: string | undefined;
  /** Leave for one check, when it was needed and to be had. */
  readonly ticket: Ticket | null;
  /** It holds a password for certain. */
  readonly certain: boolean;
  readonly device: KnownDevice | null;
  /** What failures are kept under, beside the device's. */
  readonly key: string;
  /** What the connector said with this answer; set before the head is looked at. */
  signal(): Signal;
  /** A password was wrong. */
  onFailed(): void;
  /** A second factor is needed: its pages answer the visitor. */
  onFactor(needed: FactorNeeded): void;
  /** WordPress would have shown that a login exists: a missing page answers the visitor. */
  onHidden(): void;
}

/** Counts what came of the passwords in a request, gives its slot back, and keeps in what must not go out. */
export function watchLogin(deps: LoginExchangeDeps, passage: LoginPassage): ExchangeWatch {
  const { pass, ticket, certain, requestId, device, key } = passage;
  const { site, policy, address, road } = pass;
  const { id, secret } = site.config;
  const { limit, custom } = policy.login;
  const claim = claimOf(pass.facts, road);

  const failed = (user: number): void => {
    passage.onFailed();
    const now = deps.clock();
    const entry = deps.attempts.failed(id, key, limit, now, user);
    if (entry.lockedUntil > now && entry.lastFailure === now) {
      const until = new Date(entry.lockedUntil).toISOString();
      deps.logger.info(
        { event: 'login-locked', site: id, address: address.text, failures: entry.failures, until, requestId },
        'An address failed to log in too often and has to wait.',
      );
    }
    if (limit === 0) return;
    // Whatever account it tried: a cookie that many addresses guess with is no known device for long.
    if (device !== null) deps.attempts.failed(id, deviceKey(device), limit, now, user);
    slowDown(user, now);
  };

  const slowDown = (user: number, now: number): void => {
    if (user !== 0 && !device?.users.includes(user)) deps.slow.failed(id, user, now);
  };

  const addCookies = (headers: RawHeaders, report: LoginReport | null, marks: boolean): void => {
    const where = { home: policy.paths.home, scheme: pass.scheme, now: deps.clock() };
    if (report !== null && report.ok !== null && IN_BROWSERS.has(report.ok.road)) {
      const login = { ...where, device, user: report.ok.id, freshId: randomBytes(8).toString('hex') };
      headers.push('Set-Cookie', deviceCookie(secret, login));
    }
    if (marks) headers.push('Set-Cookie', visitCookie(secret, where));
  };

  /** @returns whether every password was right */
  const count = (read: LoginReport): boolean => {
    for (const failure of read.failed) failed(failure.id);
    if (read.ok !== null) countSuccess(deps.attempts, { site: id, key, device, user: read.ok.id }, deps.clock());
    return (read.ok !== null || read.factor !== null) && read.failed.length === 0;
  };

  const whenFound = (found: FoundReport): void => {
    if (found === 'none' || found === 'unknown' || (found === 'lost' && claim === 'view')) ticket?.release();
    else if (typeof found === 'object') ticket?.release(count(found));
    else {
      failed(0);
      ticket?.release();
    }
  };

  /** Nothing vouches for what came of the passwords: counts the request, or finds out before another may try. */
  const withoutReport = (status: number | null, headers: RawHeaders, whole = true): Promise<void> | null => {
    const verdict = judgeUnsigned({
      method: pass.facts.method,
      allowed: ticket !== null && limit !== 0,
      claim,
      byForm: certain && !isByHeaderOnly(pass),
      rest: pass.facts.restRoute !== null,
      status,
      startsSession: (road === 'login' || road === 'signup') && startsSession(headers),
    });
    if (verdict === 'ask' && !(claim === 'view' && deps.lost.pending > VIEWS_MOST)) {
      const asked = deps.lost.find(site.config, requestId, whenFound).then(() => deps.settled(id));
      // An error may wait for what it hides, an answer that the web server gives by itself need not.
      return status === null || status >= 500 ? atMost(asked, WAIT_FOR_REPORT_MS) : null;
    }
    if (verdict === 'failure') countUnreported();
    ticket?.release();
    if (verdict !== 'failure') return null;
    if (status !== null || whole) deps.lost.note(site.config, requestId, status);
    return deps.settled(id);
  };

  /** One failure, of whichever account; the connector may know of which. */
  const countUnreported = (): void => {
    failed(0);
    void deps.lost.find(site.config, requestId, (found) => {
      if (typeof found === 'object') for (const failure of found.failed) slowDown(failure.id, deps.clock());
    });
  };

  let report: LoginReport | null = null;
  return {
    staysForHead: ticket !== null,
    onLogin(login, status, headers) {
      const read = login === undefined ? null : readLoginReport(secret, login, requestId);
      if (read === null) {
        if (passage.signal().kind !== 'ok') return withoutReport(status, headers);
        ticket?.release(false);
        return null;
      }
      if (read === 'unreadable') {
        failed(0);
        ticket?.release(false);
      } else {
        report = read;
        ticket?.release(count(read));
      }
      // A check that was refused looks like one that failed, and takes as long.
      const waits = read === 'unreadable' || read.failed.length + read.refused > 0;
      return waits && limit !== 0 ? deps.settled(id) : null;
    },
    onHead(status, headers) {
      if (report !== null && report.factor !== null) {
        const { id: userId, ...needed } = report.factor;
        passage.onFactor({ userId, ...needed });
        return true;
      }
      if (!custom) {
        if (report !== null && report.ok !== null) addCookies(headers, report, false);
        return false;
      }
      const signal = passage.signal();
      const letIn = road !== 'admin' || wasLetIn({ secret, cookie: passage.cookie, now: deps.clock() });
      // A page of wp-admin goes to someone unknown only when the connector vouches that WordPress took the cookie. Its
      // name may stand in other addresses, too (`/author/wp-admin/`): what is there tells nothing of the cookie.
      const isKnown = letIn || isMember(signal);
      // The web server found the request too long or not well formed: it would say so of a missing page as well, whose
      // request has the same length.
      if (!isKnown && signal.kind === 'missing' && OF_THE_WEB_SERVER.has(status)) return false;
      if (!isKnown || (signal.kind === 'ok' && signal.flags.includes('a'))) {
        passage.onHidden();
        return true;
      }
      addCookies(headers, report, road === 'login' || road === 'signup' || !letIn);
      return false;
    },
    onNoHead(sent) {
      if (sent === 'whole' || (sent === 'part' && certain)) return withoutReport(null, [], sent === 'whole');
      ticket?.release();
      return null;
    },
  };
}

/** Page views that end with an error are not asked for while more reports than these are missing. */
const VIEWS_MOST = 2000;

/** How long an error waits for what the connector knows of the passwords behind it, milliseconds. */
const WAIT_FOR_REPORT_MS = 3000;

/** Resolves with a promise, or when the time is over. */
function atMost(promise: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(resolve, ms);
    void promise.then(() => {
      clearTimeout(late);
      resolve();
    });
  });
}

/** Answers of web servers to requests that they would not read: 400, 413, 414, 431. */
const OF_THE_WEB_SERVER: ReadonlySet<number> = new Set([400, 413, 414, 431]);

/** Whether nothing but `Authorization: Basic` says that the request holds a password. */
function isByHeaderOnly({ facts, road }: Pass): boolean {
  return !checksPassword({ ...facts, hasBasic: false }, road);
}

/** Whether an answer sets the cookie by which WordPress knows who is logged in. */
function startsSession(headers: RawHeaders): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if (/^set-cookie$/i.test(headers[i] as string) && /^\s*wordpress_logged_in_/.test(headers[i + 1] as string))
      return true;
  }
  return false;
}

/** Roads on which a browser may log in and keep a cookie. */
const IN_BROWSERS: ReadonlySet<string> = new Set(['form', 'other']);
