import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toOriginalPath } from '../http/canonical-path.js';
import { hasOpaqueOrigin, isCrossSite } from '../http/headers.js';
import { addressKey } from '../lib/address.js';
import { type LoginAttempts, type Permit, toCrossSiteKey } from '../login/attempts.js';
import { type BasicCredentials, type CredentialsOwner, readBasicCredentials } from '../login/basic-credentials.js';
import type { PasswordLikelihood } from '../login/concurrency-limiter.js';
import { getLockStage } from '../login/lockout-rule.js';
import { type KnownBrowser, readKnownBrowser, toBrowserKey } from '../login/login-cookies.js';
import type { MissingReports } from '../login/missing-reports.js';
import type { CheckOutcome, CheckPermit } from '../login/password-check-queue.js';
import { checksPassword, isLoginForm } from '../rules/login-policy.js';
import type { SiteId } from '../site.js';
import type { TwoFactorFlow } from '../two-factor/two-factor-flow.js';
import { toClientResponseHead, toUpstreamRequestHead } from '../upstream/message-head.js';
import { whenReceived } from '../upstream/request-body.js';
import type { UpstreamConnection } from '../upstream/upstream-client.js';
import type { LoginContext, RefuseReason } from '../wordpress/login-headers.js';
import type { Allowed } from './evaluate.js';
import { toForwardedClient } from './forwarded-client.js';
import { type LoginClosed, toLockedSentence } from './respond.js';

export interface LoginAdmissionContext {
  readonly attempts: LoginAttempts;
  readonly twoFactor: Pick<TwoFactorFlow, 'trustedUsers'>;
  readonly missingReports: Pick<MissingReports, 'isAway' | 'getRetention'>;
  readonly clock: () => number;
  /** Longest wait for a password check, milliseconds. */
  readonly waitMs: number;
}

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
  /** Key that failures are counted under, besides that of the browser. */
  readonly key: string;
}

export interface LoginAdmissionHandlers {
  admitted(admitted: LoginAdmission): void;
  /** The login is closed to this address; null when too many of its checks are waiting already. */
  refused(closed: LoginClosed | null): void;
  /** The client closed the connection while the request was waiting. */
  clientClosed(): void;
}

/**
 * Decides whether the passwords in a request may be checked. Any request to PHP may hold a password, so each one acquires
 * a permit of its address. Without a permit WordPress must refuse every check in the request. Only a request that
 * certainly holds a password waits for a permit, and then in the site's queue for password checks; a known browser skips
 * that queue. All other requests are decided at once.
 *
 * Requests that a page of another site caused are counted under a separate key, so that such a page can't lock out the
 * address of its reader. Their passwords in the login form and in XML-RPC are not checked, unless the request may come
 * from a form of the site itself with an opaque origin.
 *
 * A locked address is refused at the login form and in XML-RPC, but for forms that need no login (a lost password). Its
 * other requests are forwarded, and WordPress must check no password in them: a request with `Authorization: Basic` may
 * need no login.
 *
 * @param basic credentials of the request by `Authorization: Basic`, or null
 */
export function admitLogin(
  context: LoginAdmissionContext,
  allowed: Allowed,
  request: IncomingMessage,
  response: ServerResponse,
  basic: RequestCredentials | null,
  admission: LoginAdmissionHandlers,
): void {
  const { site, policy, facts, loginRoute, address } = allowed;
  const { limit } = policy.login;
  const siteId = site.config.id;
  const byForm = isLoginForm(facts, loginRoute);
  const isCertain = (): boolean =>
    byForm || (checksPassword(facts, loginRoute) && (basic?.owner() ?? 'unknown') === 'unknown');
  const certain = isCertain();
  const foreign = limit !== 0 && isCrossSite(request.headers, allowed.host, site.config.hosts);
  const device = !foreign && mayCarryPassword(facts) ? findUnlockedBrowser(context, allowed, request) : null;
  const own = addressKey(address);
  const key = foreign ? toCrossSiteKey(own) : own;
  const ownForm = loginRoute === 'login' && hasOpaqueOrigin(request.headers);
  const order = foreign && byForm && !ownForm ? 'other-site' : null;
  const go = (permit: Permit | null, why: RefuseReason | null, lock: Lock | null = null): void => {
    const loginContext = toLoginContext(context, allowed, request, {
      why,
      device,
      lock,
      basic: basic?.owner() ?? 'unknown',
    });
    const likelihood = toPasswordLikelihood(facts, isCertain());
    const lockedUntil = lock?.until ?? null;
    admission.admitted({ permit, certain: isCertain(), likelihood, device, key, lockedUntil, loginContext });
  };
  const goLocked = (lock: Lock): void => {
    const isAway = context.missingReports.isAway(siteId);
    if ((byForm && !needsNoLogin(facts, loginRoute)) || (certain && isAway)) admission.refused(lock);
    else go(null, 'locked', lock);
  };

  if (facts.signedXmlRpc !== null) {
    // No password is checked in it, so it needs no permit.
    go(null, null);
    return;
  }
  const closed = policy.login.away(facts.now).away ? 'away' : policy.login.mayLogIn(address) ? null : 'access';
  const locked = [own, key].find((each) => context.attempts.isLocked(siteId, each, limit, facts.now));
  if (limit === 0) go(null, closed);
  else if (locked !== undefined) {
    const page = locked === own && loginRoute === 'login' && isLoginFormAction(facts.query.all('action').at(-1));
    const lock = toLock(context, allowed, locked);
    if (page) admission.refused(lock);
    else if (closed !== null && !certain) go(null, closed);
    else if (!certain || byForm || basic === null || context.missingReports.isAway(siteId)) goLocked(lock);
    else {
      // If the web server checks the credentials, this may be any request of a client, which must not be refused.
      void basic.areWebServers().then(() => (response.destroyed ? admission.clientClosed() : goLocked(lock)));
    }
  } else if (closed !== null) go(null, closed);
  else {
    const permit = context.attempts.tryAcquire(siteId, key, limit, toPasswordLikelihood(facts, certain), facts.now);
    const refuse = (): void => {
      if (context.attempts.isLocked(siteId, key, limit, context.clock())) goLocked(toLock(context, allowed, key));
      else admission.refused(null);
    };
    const check = (granted: Permit): void => {
      // The browser has a limit too, so that its cookie gains nothing when many addresses use it.
      const browserPermit =
        device && certain
          ? context.attempts.tryAcquire(siteId, toBrowserKey(device), limit, 'certain', facts.now)
          : null;
      if (!certain) go(granted, null);
      else if (browserPermit !== null) go(combinePermits(granted, browserPermit), null);
      else {
        acquireCheck(context, { site: siteId, key, permit: granted, request, response }, facts.now + context.waitMs, {
          granted: (both) => go(both, order),
          refused: refuse,
          clientClosed: () => admission.clientClosed(),
        });
      }
    };
    if (permit !== null) check(permit);
    else if (!certain) go(null, 'busy');
    else
      waitForPermit(context, allowed, key, response, {
        granted: check,
        refused: refuse,
        clientClosed: () => admission.clientClosed(),
      });
  }
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

function waitForPermit(
  context: LoginAdmissionContext,
  allowed: Allowed,
  key: string,
  response: ServerResponse,
  then: { granted(permit: Permit): void; refused(): void; clientClosed(): void },
): void {
  const { site, policy, facts } = allowed;
  const { limit } = policy.login;
  const siteId = site.config.id;
  const waiter = {
    granted(permit: Permit): void {
      response.removeListener('close', onClose);
      then.granted(permit);
    },
    refused(): void {
      response.removeListener('close', onClose);
      then.refused();
    },
  };
  const cancel = context.attempts.enqueue(siteId, key, limit, waiter, facts.now + context.waitMs);
  const onClose = (): void => {
    cancel?.();
    then.clientClosed();
  };
  if (cancel === null) waiter.refused();
  else response.once('close', onClose);
}

/** Whether the action is the login form, not for example log-out or the link in an e-mail. */
function isLoginFormAction(action: string | undefined): boolean {
  return action === undefined || action === '' || action === 'login';
}

/** Actions of the login page whose forms need no login: a lost password, a new one, a sign-up, a protected post. */
const OPEN_ACTIONS: ReadonlySet<string> = new Set([
  'lostpassword',
  'retrievepassword',
  'rp',
  'resetpass',
  'register',
  'postpass',
]);

/**
 * Whether a form of the login page or the registration needs no login, by its target. Its body may name another action,
 * so a locked address sends it with the order to check no password.
 */
function needsNoLogin({ query }: Allowed['facts'], route: Allowed['loginRoute']): boolean {
  return route === 'signup' || (route === 'login' && OPEN_ACTIONS.has(query.all('action').at(-1) ?? ''));
}

type Lock = Extract<LoginClosed, { kind: 'locked' }>;

function toLock(context: LoginAdmissionContext, { site, policy }: Allowed, key: string): Lock {
  const entry = context.attempts.getEntry(site.config.id, key);
  return { kind: 'locked', until: entry.lockedUntil, stage: getLockStage(entry, policy.login.limit) };
}

/** How likely a request holds a password. */
function toPasswordLikelihood(facts: Allowed['facts'], certain: boolean): PasswordLikelihood {
  if (certain) return 'certain';
  return mayCarryPassword(facts) ? 'possible' : 'view';
}

function mayCarryPassword(facts: Allowed['facts']): boolean {
  return facts.hasAuthorization || (facts.method !== 'GET' && facts.method !== 'HEAD');
}

/** The known browser of this request, unless it is locked itself. */
function findUnlockedBrowser(
  context: LoginAdmissionContext,
  allowed: Allowed,
  request: IncomingMessage,
): KnownBrowser | null {
  const { id, secret } = allowed.site.config;
  const device = readKnownBrowser(secret, request.headers.cookie, allowed.facts.now);
  if (device === null) return null;
  return context.attempts.isLocked(id, toBrowserKey(device), allowed.policy.login.limit, allowed.facts.now)
    ? null
    : device;
}

function toLoginContext(
  context: LoginAdmissionContext,
  allowed: Allowed,
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
  const { facts, loginRoute, uri, decoy, site, policy } = allowed;
  const users = mayCarryPassword(facts) ? context.twoFactor.trustedUsers(site.config, request.headers.cookie) : [];
  const trusted = users.slice(0, USERS_MAX);
  // The connector can derive the requested path from a reversible decoy.
  const path = uri === null || decoy?.reversible === true ? undefined : toOriginalPath(uri);
  const customPage =
    policy.login.hasCustomUrl && (loginRoute === 'login' || loginRoute === 'signup') ? loginRoute : null;
  const folder = customPage === 'login' ? policy.login.getLoginPaths(facts).folder : null;
  const plugin = facts.signedXmlRpc;
  if (plugin !== null) return { login: 'refuse', xml_rpc: plugin, ...(path === undefined ? {} : { path }) };
  const keep = context.missingReports.getRetention(site.config.id);
  const isPlain = why === null && path === undefined && customPage === null && device === null && trusted.length === 0;
  if (isPlain && !basic && keep === null) return null;
  return {
    ...(why === null ? {} : { login: 'refuse', why }),
    ...(lock === null ? {} : { until: Math.floor(lock.until / 1000), message: toLockSentence(context, allowed, lock) }),
    ...(basic ? { basic: 'web-server' } : {}),
    ...(keep === null ? {} : { keep }),
    ...(path === undefined ? {} : { path }),
    ...(customPage === null ? {} : { page: customPage }),
    ...(folder === null ? {} : { folder }),
    ...(device === null ? {} : { devices: device.users }),
    ...(trusted.length === 0 ? {} : { trusted }),
  };
}

function toLockSentence(context: LoginAdmissionContext, { policy }: Allowed, lock: Lock): string {
  return toLockedSentence(policy.language, lock.until - context.clock());
}

/** Maximum of users with a trusted device that the context header lists. */
const USERS_MAX = 32;

export interface CheckContext {
  readonly attempts: LoginAttempts;
  readonly clock: () => number;
}

/** A request that certainly holds a password, with a permit of its address. */
export interface CheckRequest {
  readonly site: SiteId;
  readonly key: string;
  readonly permit: Permit;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Waits in the site's queue for password checks. A request enters the queue when it has been received whole. Requests
 * that are too large to be buffered use a separate queue, because it is unknown when their bodies will have arrived.
 *
 * @param until end of the wait, milliseconds since the Unix epoch
 */
export function acquireCheck(
  context: CheckContext,
  check: CheckRequest,
  until: number,
  then: { granted(permit: Permit): void; refused(): void; clientClosed(): void },
): void {
  const { site, key, permit, request, response } = check;
  const { attempts, clock } = context;
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
  const onClose = (): void => giveUp(() => then.clientClosed());
  let cancel = whenReceived(request, (whole) => {
    const waiter = {
      granted(checkPermit: CheckPermit): void {
        const release = (outcome: CheckOutcome = 'wrong'): void => {
          permit.release();
          checkPermit.release(outcome, clock());
        };
        // Unknown counts as wrong here: the queue only has to know whether somebody may be guessing.
        const leaveQueue = (): void => checkPermit.release('wrong', clock());
        end(() => then.granted({ release, leaveQueue }));
      },
      refused: () => giveUp(() => then.refused()),
    };
    clearTimeout(timeout);
    cancel = () => {};
    cancel = attempts.enqueueCheck(whole ? site : `${site} large`, site, key, waiter, until);
  });
  const timeout = setTimeout(() => giveUp(() => then.refused()), Math.max(0, until - clock()));
  response.once('close', onClose);
}

/** The credentials in the `Authorization: Basic` header of one request. */
export interface RequestCredentials {
  /** Who checks them, as far as is known now. */
  owner(): CredentialsOwner;
  /** Finds out whether the web server checks them. Never rejects. */
  areWebServers(): Promise<boolean>;
  /** WordPress found them wrong. @param key that failures are counted under @returns whether it had before */
  wereWrong(key: string): boolean;
  /** The connector confirms that these alone authenticated a registered user, and that no password was checked. */
  takenByPlugin(): void;
  /** A password in the request was checked, or its check was refused. */
  notTaken(): void;
}

/** The Basic credentials of a request, or null without any that guard can identify. */
export function createRequestCredentials(
  context: ProbeContext & { readonly basicCredentials: BasicCredentials },
  allowed: Allowed,
  request: IncomingMessage,
): RequestCredentials | null {
  // A request for a decoy can't be a login.
  if (!allowed.facts.hasBasic || allowed.decoy !== null) return null;
  const { basicCredentials, clock } = context;
  const { id } = allowed.site.config;
  const name = basicCredentials.toFingerprint(id, request.rawHeaders);
  if (name === null) return null;
  return {
    owner: () => basicCredentials.getOwner(name, clock()),
    areWebServers: () =>
      basicCredentials.belongToWebServer(id, name, () => probeWebServer(context, allowed, request), clock),
    wereWrong: (key) => basicCredentials.recordWrong(name, key, clock()),
    takenByPlugin: () => basicCredentials.recordPluginUse(name, clock()),
    notTaken: () => basicCredentials.forgetPluginUse(name),
  };
}

interface ProbeContext {
  readonly createRequestId: () => string;
  readonly clock: () => number;
}

/** Longest wait for the response to a probe, milliseconds. */
const WAIT_MS = 3000;
/** Headers of a request that make no sense without its body. */
const BODY_HEADERS: ReadonlySet<string> = new Set(['content-length', 'content-type', 'content-encoding']);

/**
 * Finds out whether the web server itself checks the credentials of a request. The probe is the same request without its
 * body, and with another password for the same user name. If the web server refuses it (401 with a challenge, and without
 * the connector's signature), then it had checked the password before WordPress got the request.
 *
 * The probe has a wrong password rather than none, because a server that accepts any credentials checks nothing. Method,
 * cookies and address stay the same, because the server's check may depend on them. If the probe reaches WordPress, the
 * connector ends it at once (note `probe`), so that nothing is executed twice. Rejects when no response arrives in time.
 */
function probeWebServer(context: ProbeContext, allowed: Allowed, request: IncomingMessage): Promise<boolean> {
  const { pool } = allowed.site;
  const client = toForwardedClient(allowed, context.createRequestId(), context.clock(), null, {
    decoy: false,
    probe: true,
  });
  const head = toUpstreamRequestHead({
    method: allowed.facts.method,
    target: allowed.target,
    rawHeaders: withOtherPassword(request.rawHeaders),
    visitor: client,
    body: 'none',
    stripped: BODY_HEADERS,
    upstreamHost: pool.host,
    upgrade: null,
  });
  return new Promise((resolve, reject) => {
    let connection: UpstreamConnection | null = null;
    let isAnswered = false;
    const end = (settle: () => void): void => {
      clearTimeout(timeout);
      pool.cancel(waiter);
      // The rest of the response is not needed. One that has not begun still occupies WordPress.
      if (isAnswered) connection?.destroy();
      else if (connection !== null) pool.abandon(connection);
      settle();
    };
    const waiter = {
      from: addressKey(allowed.address),
      reuse: 'fresh' as const,
      use(free: UpstreamConnection): void {
        connection = free;
        free.send(
          head,
          {
            onInformation: () => {},
            onHead(probed) {
              const { headers, signal } = toClientResponseHead(probed);
              isAnswered = true;
              const refuses = probed.status === 401 && signal === undefined && challengesBasic(headers);
              end(() => resolve(refuses));
            },
            onBody: () => {},
            onComplete: () => {
              connection = null;
            },
            onFailure: (_kind, cause) => end(() => reject(cause)),
            onDrain: () => {},
          },
          { headRequest: allowed.facts.method === 'HEAD', expectsBody: false, timeoutMs: WAIT_MS },
        );
      },
      fail: (_kind: string, cause: unknown) => end(() => reject(cause)),
    };
    const timeout = setTimeout(() => end(() => reject(new Error('no answer in time'))), WAIT_MS);
    pool.acquire(waiter);
  });
}

function withOtherPassword(rawHeaders: readonly string[]): string[] {
  const name = Buffer.from(readBasicCredentials(rawHeaders) ?? '', 'base64')
    .toString('latin1')
    .split(':', 1)[0] as string;
  const other = Buffer.from(`${name}:${randomBytes(18).toString('hex')}`, 'latin1').toString('base64');
  return rawHeaders.map((value, i) => {
    const isCredentials = i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === 'authorization';
    return isCredentials ? `Basic ${other}` : value;
  });
}

function challengesBasic(headers: readonly string[]): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]?.toLowerCase() === 'www-authenticate' && /(?:^|[\s,])basic(?:\s|$)/i.test(headers[i + 1] ?? '')) {
      return true;
    }
  }
  return false;
}
