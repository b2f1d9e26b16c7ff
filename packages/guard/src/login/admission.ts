import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AllowedRequest, Continuation, Exchange, LoginClosed, RequestHooks } from '../hooks.js';
import { toOriginalPath } from '../http/canonical-path.js';
import { hasOpaqueOrigin, isCrossSite } from '../http/headers.js';
import { type KnownBrowser, readKnownBrowser } from '../http/login-cookies.js';
import { toClientKey } from '../lib/address.js';
import { toLockedSentence } from '../pages/login-closed-pages.js';
import { checksPassword, isLoginForm, needsNoLogin } from '../rules/login-policy.js';
import type { LoginContext, RefuseReason } from '../wordpress/login-headers.js';
import { type Permit, toBrowserKey, toCrossSiteKey } from './attempts.js';
import { type CredentialsOwner, createRequestCredentials, type RequestCredentials } from './basic-credentials.js';
import type { PasswordLikelihood } from './concurrency-limiter.js';
import { getLockStage } from './lockout-rule.js';
import type { LoginServices } from './login-services.js';
import { createLoginResponseHook, LOGIN_LIMIT, type LoginAdmission } from './outcome.js';
import type { CheckOutcome, CheckPermit } from './password-check-queue.js';

/** The hook of Login Security: admits the passwords in a request, and records the outcome of their checks. */
export function createLoginHook(login: LoginServices): RequestHooks['onAllowed'] {
  return (exchange, next) => {
    const basic = createRequestCredentials(login, exchange);
    admitLogin(login, exchange, basic, {
      admitted: (admitted) =>
        next.allow(
          admitted.loginContext,
          createLoginResponseHook(login, exchange, admitted, basic),
          admitted.mayCheckPasswords,
        ),
      refused: (closed) => next.refuse(LOGIN_LIMIT, closed),
      clientClosed: () => next.clientClosed(),
    });
  };
}

interface AdmissionHandlers extends Pick<Continuation, 'clientClosed'> {
  admitted(admitted: LoginAdmission): void;
  /** The login is closed to this address; null when too many of its checks are already waiting. */
  refused(closed: LoginClosed | null): void;
}

/**
 * Decides whether the passwords in a request may be checked. Any request to PHP may hold a password, so each one
 * acquires a permit of its address. Without a permit WordPress must refuse every check in the request. Only a request
 * that certainly holds a password waits for a permit, and then in the site's queue for password checks; a known browser
 * skips that queue. All other requests are decided at once.
 *
 * Requests that a page of another site caused are counted under a separate key, so that such a page can't lock out the
 * address of its reader. Their passwords in the login form and in XML-RPC are not checked, unless the request may come
 * from a form of the site itself with an opaque origin.
 *
 * A locked address is refused at the login form and in XML-RPC, except for forms that need no login (a lost password).
 * Its other requests are forwarded, and WordPress must check no password in them: a request with `Authorization: Basic`
 * may need no login.
 *
 * @param basic credentials of the request by `Authorization: Basic`, or null
 */
function admitLogin(
  login: LoginServices,
  exchange: Exchange,
  basic: RequestCredentials | null,
  admission: AdmissionHandlers,
): void {
  const { allowed, request, response } = exchange;
  const { site, snapshot, facts, loginRoute } = allowed;
  const { limit } = snapshot.login;
  const siteId = site.config.id;
  const byForm = isLoginForm(facts, loginRoute);
  const isCertain = (): boolean =>
    byForm || (checksPassword(facts, loginRoute) && (basic?.owner() ?? 'unknown') === 'unknown');
  const certain = isCertain();
  const { own, key } = toAttemptKeys(allowed, request);
  const foreign = key !== own;
  const device = !foreign && mayCarryPassword(facts) ? findUnlockedBrowser(login, allowed, request) : null;
  const ownForm = loginRoute === 'login' && hasOpaqueOrigin(request.headers);
  const order = foreign && byForm && !ownForm ? 'other-site' : null;
  const admit = (
    permit: Permit | null,
    why: RefuseReason | null,
    lock: Lock | null = null,
    mayCheckPasswords = true,
  ): void => {
    const loginContext = toLoginContext(login, allowed, request, {
      why,
      device,
      lock,
      basic: basic?.owner() ?? 'unknown',
    });
    const likelihood = toPasswordLikelihood(facts, isCertain());
    const lockedUntil = lock?.until ?? null;
    const certain = isCertain();
    admission.admitted({
      ...{ permit, certain, likelihood, device, key, lockedUntil, loginContext, mayCheckPasswords },
    });
  };
  const respondLocked = (lock: Lock): void => {
    const isAway = login.missingReports.isAway(siteId);
    if ((byForm && !needsNoLogin(facts, loginRoute)) || (certain && isAway)) admission.refused(lock);
    else admit(null, 'locked', lock);
  };

  if (facts.signedXmlRpc !== null) {
    // No password is checked in signed XML-RPC, so it needs no permit.
    admit(null, null);
    return;
  }
  const closed = snapshot.login.away(facts.now).away
    ? 'away'
    : snapshot.login.mayLogIn(allowed.address)
      ? null
      : 'access';
  const locked = [own, key].find((each) => login.attempts.isLocked(siteId, each, limit, facts.now));
  if (limit === 0) admit(null, closed);
  else if (locked !== undefined) {
    const page = locked === own && loginRoute === 'login' && isLoginFormAction(facts.query.all('action').at(-1));
    const lock = toLock(login, allowed, locked);
    if (page) admission.refused(lock);
    else if (closed !== null && !certain) admit(null, closed);
    else if (!certain || byForm || basic === null || login.missingReports.isAway(siteId)) respondLocked(lock);
    else {
      // If the web server checks the credentials, any request of the client may have them, and such a request must not
      // be refused.
      void basic.areWebServers().then(() => (response.destroyed ? admission.clientClosed() : respondLocked(lock)));
    }
  } else if (closed !== null) admit(null, closed);
  else {
    const permit = login.attempts.tryAcquire(siteId, key, limit, toPasswordLikelihood(facts, certain), facts.now);
    const refuse = (): void => {
      if (login.attempts.isLocked(siteId, key, limit, login.clock())) respondLocked(toLock(login, allowed, key));
      else admission.refused(null);
    };
    const check = (granted: Permit): void => {
      // The browser has its own limit, so that its cookie gives no advantage when many addresses use it.
      const browserPermit =
        device && certain ? login.attempts.tryAcquire(siteId, toBrowserKey(device), limit, 'certain', facts.now) : null;
      if (!certain) admit(granted, null);
      else if (browserPermit !== null) admit(combinePermits(granted, browserPermit), null);
      else {
        acquireCheck(
          login,
          exchange,
          { key, permit: granted },
          {
            granted: (both) => admit(both, order),
            refused: refuse,
            clientClosed: () => admission.clientClosed(),
          },
        );
      }
    };
    if (permit !== null) check(permit);
    else if (!certain && login.onPasswordInView !== undefined) admit(null, null, null, false);
    else if (!certain) admit(null, 'busy');
    else
      waitForPermit(login, allowed, key, response, {
        granted: check,
        refused: refuse,
        clientClosed: () => admission.clientClosed(),
      });
  }
}

/** The key of the client's own failures, and the one under which those of this request are counted. */
export function toAttemptKeys(
  { address, host, site, snapshot }: Pick<AllowedRequest, 'address' | 'host' | 'site' | 'snapshot'>,
  { headers }: Pick<IncomingMessage, 'headers'>,
): { readonly own: string; readonly key: string } {
  const own = toClientKey(address);
  const foreign = snapshot.login.limit !== 0 && isCrossSite(headers, host, site.config.hosts);
  return { own, key: foreign ? toCrossSiteKey(own) : own };
}

function combinePermits(first: Permit, second: Permit): Permit {
  return {
    release(outcome) {
      first.release(outcome);
      second.release(outcome);
    },
    leaveQueue() {
      first.leaveQueue();
      second.leaveQueue();
    },
  };
}

interface PermitHandlers {
  granted(permit: Permit): void;
  refused(): void;
  clientClosed(): void;
}

function waitForPermit(
  login: LoginServices,
  allowed: AllowedRequest,
  key: string,
  response: ServerResponse,
  handlers: PermitHandlers,
): void {
  const { site, snapshot, facts } = allowed;
  const { limit } = snapshot.login;
  const siteId = site.config.id;
  const waiter = {
    granted(permit: Permit): void {
      response.removeListener('close', onClose);
      handlers.granted(permit);
    },
    refused(): void {
      response.removeListener('close', onClose);
      handlers.refused();
    },
  };
  const cancel = login.attempts.enqueue(siteId, key, limit, waiter, facts.now + login.waitMs);
  const onClose = (): void => {
    cancel?.();
    handlers.clientClosed();
  };
  if (cancel === null) waiter.refused();
  else response.once('close', onClose);
}

/** Whether the action is the login form, and not, for example, logout or the link in a mail. */
function isLoginFormAction(action: string | undefined): boolean {
  return action === undefined || action === '' || action === 'login';
}

type Lock = Extract<LoginClosed, { kind: 'locked' }>;

function toLock(login: LoginServices, { site, snapshot }: AllowedRequest, key: string): Lock {
  const entry = login.attempts.getEntry(site.config.id, key);
  return { kind: 'locked', until: entry.lockedUntil, stage: getLockStage(entry, snapshot.login.limit) };
}

/** How likely the request holds a password. */
function toPasswordLikelihood(facts: AllowedRequest['facts'], certain: boolean): PasswordLikelihood {
  if (certain) return 'certain';
  return mayCarryPassword(facts) ? 'possible' : 'view';
}

function mayCarryPassword(facts: AllowedRequest['facts']): boolean {
  return facts.hasAuthorization || (facts.method !== 'GET' && facts.method !== 'HEAD');
}

/** The known browser of this request, unless the browser itself is locked. */
function findUnlockedBrowser(
  login: LoginServices,
  allowed: AllowedRequest,
  request: IncomingMessage,
): KnownBrowser | null {
  const { id, secret } = allowed.site.config;
  const device = readKnownBrowser(secret, request.headers.cookie, allowed.facts.now);
  if (device === null) return null;
  return login.attempts.isLocked(id, toBrowserKey(device), allowed.snapshot.login.limit, allowed.facts.now)
    ? null
    : device;
}

function toLoginContext(
  login: LoginServices,
  allowed: AllowedRequest,
  request: IncomingMessage,
  state: {
    readonly why: RefuseReason | null;
    readonly device: KnownBrowser | null;
    readonly lock: Lock | null;
    readonly basic: CredentialsOwner;
  },
): LoginContext | null {
  const { why, device, lock } = state;
  const basic = state.basic === 'web-server';
  const { facts, loginRoute, uri, decoy, site, snapshot } = allowed;
  const users = mayCarryPassword(facts) ? login.secondFactor().trustedUsers(site.config, request.headers.cookie) : [];
  const trusted = users.slice(0, USERS_MAX);
  // The connector can derive the requested path from a reversible decoy.
  const path = uri === null || decoy?.reversible === true ? undefined : toOriginalPath(uri);
  const customPage =
    snapshot.login.hasCustomUrl && (loginRoute === 'login' || loginRoute === 'signup') ? loginRoute : null;
  const folder = customPage === 'login' ? snapshot.login.getLoginPaths(facts).folder : null;
  const plugin = facts.signedXmlRpc;
  if (plugin !== null) return { login: 'refuse', xml_rpc: plugin, ...(path === undefined ? {} : { path }) };
  const keep = login.missingReports.getRetention(site.config.id);
  const isPlain = why === null && path === undefined && customPage === null && device === null && trusted.length === 0;
  if (isPlain && !basic && keep === null) return null;
  return {
    ...(why === null ? {} : { login: 'refuse', why }),
    ...(lock === null ? {} : { until: Math.floor(lock.until / 1000), message: toLockSentence(login, allowed, lock) }),
    ...(basic ? { basic: 'web-server' } : {}),
    ...(keep === null ? {} : { keep }),
    ...(path === undefined ? {} : { path }),
    ...(customPage === null ? {} : { page: customPage }),
    ...(folder === null ? {} : { folder }),
    ...(device === null ? {} : { devices: device.users }),
    ...(trusted.length === 0 ? {} : { trusted }),
  };
}

function toLockSentence(login: LoginServices, { snapshot }: AllowedRequest, lock: Lock): string {
  return toLockedSentence(snapshot.language, lock.until - login.clock());
}

/** Limit of users with a trusted device in the context header. */
const USERS_MAX = 32;

/**
 * Waits in the site's queue for password checks. A request enters the queue when it has been received completely.
 * Requests that are too large to be buffered use a separate queue, because it is unknown when their bodies will have
 * arrived.
 */
function acquireCheck(
  { attempts, clock, waitMs }: Pick<LoginServices, 'attempts' | 'clock' | 'waitMs'>,
  exchange: Exchange,
  { key, permit }: { readonly key: string; readonly permit: Permit },
  handlers: PermitHandlers,
): void {
  const { allowed, response } = exchange;
  const site = allowed.site.config.id;
  const until = allowed.facts.now + waitMs;
  const end = (notify: () => void): void => {
    clearTimeout(timeout);
    response.removeListener('close', onClose);
    notify();
  };
  const giveUp = (notify: () => void): void => {
    cancel();
    permit.release();
    end(notify);
  };
  const onClose = (): void => giveUp(() => handlers.clientClosed());
  let cancel = exchange.whenReceived((isComplete) => {
    const waiter = {
      granted(checkPermit: CheckPermit): void {
        const release = (outcome: CheckOutcome = 'wrong'): void => {
          permit.release();
          checkPermit.release(outcome, clock());
        };
        // An unknown outcome counts as wrong: the queue only has to know whether anyone may be guessing.
        const leaveQueue = (): void => checkPermit.release('wrong', clock());
        end(() => handlers.granted({ release, leaveQueue }));
      },
      refused: () => giveUp(() => handlers.refused()),
    };
    clearTimeout(timeout);
    cancel = () => {};
    cancel = attempts.enqueueCheck(isComplete ? site : `${site} large`, site, key, waiter, until);
  });
  const timeout = setTimeout(() => giveUp(() => handlers.refused()), Math.max(0, until - clock()));
  response.once('close', onClose);
}
