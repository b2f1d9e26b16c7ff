/**
 * Login Security for views in a worker process. A view is a GET without credentials: it may hold a password all the
 * same, since a few plugins read one from the address. The primary process counts; see `processes/`.
 */
import type { LoginAttempts as LoginLimit } from '@security-optimizer/contract/login/limits';
import type { Exchange, RequestHooks } from '../hooks.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SiteConfig, SiteId } from '../site.js';
import { createLoginHook, toAttemptKeys } from './admission.js';
import type { LoginAttempts, Permit } from './attempts.js';
import { BasicCredentials } from './basic-credentials.js';
import { type AttemptEntry, NO_FAILURES } from './lockout-rule.js';
import { CHECK_WAIT_MS, type LoginServices, type SecondFactor } from './login-services.js';
import type { ReportLookup } from './missing-reports.js';
import { logLock } from './outcome.js';
import type { CheckOutcome } from './password-check-queue.js';

/** What the primary process knows about the client of a view. */
export interface ViewLogin {
  /** Whether the view holds a permit for a password check, which must be released. */
  readonly hasPermit: boolean;
  /** The lock of the client, by the key that is locked; null without one. */
  readonly lock: { readonly key: string; readonly entry: AttemptEntry } | null;
  /** See `MissingReports.getRetention`. */
  readonly keep: number | null;
}

/** A view that the primary process has admitted. */
export interface AdmittedView {
  readonly login: ViewLogin;
  /** Releases the permit for a password check. */
  releasePermit(outcome: CheckOutcome): void;
}

/** A failed login of a view. */
export interface ViewFailure {
  readonly site: SiteId;
  readonly key: string;
  readonly user: number;
  readonly requestId: string;
}

/** The primary process, as Login Security in a worker uses it. */
export interface LoginLink {
  /**
   * Calls `then` once the view may be forwarded, in the same turn as it is given its connection. `then` is not called
   * when the client has left.
   */
  enter(
    exchange: Exchange,
    keys: { readonly own: string; readonly key: string },
    handlers: { admitted(view: AdmittedView): void; clientClosed(): void },
  ): void;
  /** The lock of a client, by its own key or that of the request; null without one. */
  findLock(site: SiteId, keys: { readonly own: string; readonly key: string }, now: number): ViewLogin['lock'];
  /** Whether a plugin of the site has wanted to check a password in a view. */
  readsPasswordsInViews(site: SiteId): boolean;
  reportPasswordInView(site: SiteId): void;
  recordFailure(failure: ViewFailure): void;
  recordThrottled(site: SiteId, user: number): void;
  recordSuccess(site: SiteId, key: string, user: number): void;
  recordMissing(site: SiteId, requestId: string, status: number | null): void;
  recordSigned(site: SiteId): void;
  findReport(site: SiteId, requestId: string): Promise<ReportLookup>;
  whenStored(site: SiteId): Promise<void>;
  /** Has the primary process respond to a login that needs a second factor. */
  beginSecondFactor: SecondFactor['begin'];
}

/** A query parameter that is named like a password. */
const NAMED_PASSWORD = /[?&][^=&]*(?:pass|pwd|pw|secret|pin)[^=&]*=/i;

/**
 * Returns the hook for views in a worker. Requests that may hold a password otherwise are relayed before.
 *
 * WordPress checks no password in a view, so a view need not wait for the primary process. Only views that may hold one
 * do: those with a parameter that is named like a password, and all views of a site where a plugin wanted to check one.
 */
export function createViewHook(link: LoginLink, clock: Clock, logger: Logger): RequestHooks['onAllowed'] {
  const basicCredentials = new BasicCredentials();
  return (exchange, next) => {
    const keys = toAttemptKeys(exchange.allowed, exchange.request);
    const { site, target } = exchange.allowed;
    const { id } = site.config;
    if (!NAMED_PASSWORD.test(target) && !link.readsPasswordsInViews(id)) {
      const view: AdmittedView = {
        login: { hasPermit: false, lock: link.findLock(id, keys, clock()), keep: null },
        releasePermit() {},
      };
      const { services } = toServices(link, view, exchange.requestId);
      const onPasswordInView = (of: SiteId): void => link.reportPasswordInView(of);
      const own = { basicCredentials, clock, logger, waitMs: CHECK_WAIT_MS, onPasswordInView };
      createLoginHook({ ...services, ...own })(exchange, next);
      return;
    }
    link.enter(exchange, keys, {
      clientClosed: () => next.clientClosed(),
      admitted(view) {
        const { services, dispose } = toServices(link, view, exchange.requestId);
        createLoginHook({ ...services, basicCredentials, clock, logger, waitMs: CHECK_WAIT_MS })(exchange, next);
        dispose();
      },
    });
  };
}

type Remote = Omit<LoginServices, 'basicCredentials' | 'clock' | 'logger' | 'waitMs'>;

/** @returns `dispose`: releases the permit unless the hook has taken it; called after the hook */
function toServices(
  link: LoginLink,
  { login, releasePermit }: AdmittedView,
  requestId: string,
): { readonly services: Remote; dispose(): void } {
  const { lock, hasPermit, keep } = login;
  let isHeld = hasPermit;
  let isTaken = false;
  const release = (outcome: CheckOutcome): void => {
    if (isHeld) releasePermit(outcome);
    isHeld = false;
  };
  const attempts: LoginServices['attempts'] = {
    isLocked: (_site, key) => lock?.key === key,
    getEntry: () => lock?.entry ?? NO_FAILURES,
    tryAcquire() {
      isTaken = true;
      return isHeld ? { leaveQueue() {}, release: (outcome = 'wrong') => release(outcome) } : null;
    },
    recordFailure(site, key, _limit, _now, user = 0): AttemptEntry {
      link.recordFailure({ site, key, user, requestId });
      return NO_FAILURES;
    },
    recordSuccess: (site, key, user) => link.recordSuccess(site, key, user),
    enqueue: onlyForPasswords,
    enqueueCheck: onlyForPasswords,
  };
  const services: Remote = {
    attempts,
    throttled: { recordFailure: (site, user) => link.recordThrottled(site, user) },
    missingReports: {
      pending: 0,
      recordMissing: ({ id }, request, status) => link.recordMissing(id, request, status),
      recordSigned: (site) => link.recordSigned(site),
      // Matters only for requests that certainly hold a password.
      isAway: () => false,
      getRetention: () => keep,
      async find({ id }: SiteConfig, request: string, onFound: (found: ReportLookup) => void) {
        onFound(await link.findReport(id, request));
      },
    },
    whenStored: (site) => link.whenStored(site),
    secondFactor: () => ({ trustedUsers: () => [], begin: (...args) => link.beginSecondFactor(...args) }),
  };
  return {
    services,
    dispose() {
      if (!isTaken) release('none');
    },
  };
}

function onlyForPasswords(): never {
  throw new Error('A view does not wait for a password check.');
}

/** Answers the workers' questions about views, in the primary process. */
export interface ViewDesk
  extends Omit<
    LoginLink,
    'enter' | 'beginSecondFactor' | 'findLock' | 'readsPasswordsInViews' | 'reportPasswordInView'
  > {
  /** Sets the only listener for locks. */
  watchLocks: LoginAttempts['watchLocks'];
  allLocks: LoginAttempts['allLocks'];

  /** @returns what a worker needs, and the permit to be released */
  enter(site: SiteId, own: string, key: string): { readonly login: ViewLogin; readonly permit: Permit | null };
}

/** @param getLimit the limit of failed logins of a site */
export function createViewDesk(
  login: Pick<LoginServices, 'throttled' | 'missingReports' | 'whenStored' | 'clock' | 'logger'> & {
    readonly attempts: LoginAttempts;
  },
  { getLimit, find }: { getLimit(site: SiteId): LoginLimit; find(site: SiteId): SiteConfig | null },
): ViewDesk {
  const { attempts, throttled, missingReports, whenStored, clock, logger } = login;
  return {
    watchLocks: (listener) => attempts.watchLocks(listener),
    allLocks: () => attempts.allLocks(),
    enter(site, own, key) {
      const limit = getLimit(site);
      const now = clock();
      const keep = missingReports.getRetention(site);
      const locked = [own, key].find((each) => attempts.isLocked(site, each, limit, now));
      const lock = locked === undefined ? null : { key: locked, entry: attempts.getEntry(site, locked) };
      const permit = limit === 0 || lock !== null ? null : attempts.tryAcquire(site, key, limit, 'view', now);
      return { login: { hasPermit: permit !== null, lock, keep }, permit };
    },
    recordFailure({ site, key, user, requestId }) {
      const now = clock();
      const entry = attempts.recordFailure(site, key, getLimit(site), now, user);
      logLock(logger, entry, { site, address: key, requestId, now });
    },
    recordThrottled: (site, user) => throttled.recordFailure(site, user, clock()),
    recordSuccess: (site, key, user) => attempts.recordSuccess(site, key, user, clock()),
    recordMissing(site, requestId, status) {
      const config = find(site);
      if (config !== null) missingReports.recordMissing(config, requestId, status);
    },
    recordSigned: (site) => missingReports.recordSigned(site),
    findReport(site, requestId) {
      const config = find(site);
      return new Promise((resolve) => {
        if (config === null) resolve('unknown');
        else void missingReports.find(config, requestId, resolve);
      });
    },
    whenStored,
  };
}
