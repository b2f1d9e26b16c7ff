import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ApiRoute, findApiRoute, isStaticFile } from '../http/request-facts.js';
import { wantsJson } from '../http/wants-json.js';
import type { Address } from '../lib/address.js';
import { toSeenAddress } from '../lib/carried-address.js';
import { isHarmlessResponse } from '../rules/harmless-response.js';
import { needsStaffCheck } from '../rules/policy.js';
import type { SiteFacts } from '../site.js';
import type { TwoFactorRequest } from '../two-factor/steps.js';
import { CLIENT_CLOSED_REQUEST, forward, type ResponseHooks } from '../upstream/forward.js';
import type { RefuseReason } from '../wordpress/login-headers.js';
import { checksStaff, isMember, isRefusedForStaff, readSignal, type Signal } from '../wordpress/signature.js';
import { admitLogin, createRequestCredentials, type LoginAdmission, type RequestCredentials } from './admit-login.js';
import type { GatewayContext } from './context.js';
import { serveDecoy404 } from './decoy-404.js';
import { type Allowed, type Decision, evaluate, isNamedHost, refuseUnknownHost } from './evaluate.js';
import { fitsInHeader, toForwardedClient } from './forwarded-client.js';
import { respondToInspection } from './inspection.js';
import { createLoginHooks } from './login-outcome.js';
import { toHostName } from './machine-hosts.js';
import { FAILURE_PAGES, reportUpstreamFailure } from './observer.js';
import type { Peer } from './peer.js';
import { createResponder, editForwardedHeaders, prepareOwnResponse, type Responder } from './respond.js';
import { sendAsset, toAssetName } from './shared-assets.js';
import { recordVisit } from './visits.js';

/** An allowed request and what handling it needs. */
interface RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly allowed: Allowed;
  readonly peer: Peer;
  readonly responder: Responder;
  readonly twoFactor: TwoFactorRequest;
  readonly basic: RequestCredentials | null;
  /** Arrival, milliseconds since the Unix epoch. */
  readonly time: number;
  readonly expectsContinue: boolean;
}

/**
 * Handles one request from its head to its response: facts, rules, then guard's own API or WordPress.
 *
 * @param peer the other end of the connection
 * @param expectsContinue the client waits for `100 Continue`
 */
export function handleRequest(
  gateway: GatewayContext,
  request: IncomingMessage,
  response: ServerResponse,
  peer: Peer,
  expectsContinue: boolean,
): void {
  const decision = evaluate(gateway, request, peer);
  if (respondToInspection(gateway, decision, request, response, peer)) return;
  if (decision.kind === 'refuse' || decision.isHostProved) {
    handleDecision(gateway, decision, request, response, { peer, expectsContinue });
    return;
  }
  const { site, host, address, scheme } = decision;
  const facts = gateway.facts(site.config.id) as SiteFacts;
  const isNamed = (other: string): boolean => isNamedHost(gateway, site, other);
  const asked = {
    site: site.config,
    facts,
    name: toHostName(host),
    origin: { scheme, host },
    client: address,
    isNamed,
  };
  void gateway.hosts.check(asked).then((standing) => {
    if (response.destroyed) return;
    let proved: Decision = decision;
    if (standing === 'foreign') proved = refuseUnknownHost(gateway, host, address);
    if (standing === 'busy') proved = { ...refuseUnknownHost(gateway, host, address), page: 'busy' };
    handleDecision(gateway, proved, request, response, { peer, expectsContinue });
  });
}

function handleDecision(
  gateway: GatewayContext,
  decision: Decision,
  request: IncomingMessage,
  response: ServerResponse,
  { peer, expectsContinue }: Pick<Arrived, 'peer' | 'expectsContinue'>,
): void {
  // The id of the request to WordPress is the key that disguises the names in a decoy.
  const requestId = (decision.kind === 'allow' ? decision.decoy?.requestId : undefined) ?? gateway.createRequestId();
  const time = gateway.clock();
  const responder = createResponder(gateway, decision, request, response, { requestId, time });
  if (decision.kind === 'refuse') {
    logRefusal(gateway, decision, requestId);
    // The end of this request is ambiguous, so the connection can't be used again (RFC 9112 section 6.1).
    if (UNCLEAR_FRAMING.has(decision.rule)) response.shouldKeepAlive = false;
    responder.page(decision.page, decision.rule);
    return;
  }
  const current = { request, response, peer, responder, requestId, time, expectsContinue };
  const { facts } = decision;
  const { sharedConnector } = decision.site.config;
  const asset = sharedConnector === undefined ? null : toAssetName(decision);
  if (sharedConnector !== undefined && asset !== null) {
    const editHeaders = (headers: string[]) => decision.policy.editResponseHeaders(facts, headers, gateway.onRuleError);
    void gateway.sharedAssets.find(sharedConnector, asset).then((found) => {
      if (response.destroyed) return;
      if (found === null) handleAllowed(gateway, decision, current);
      else sendAsset(asset, found, request, response, editHeaders);
    });
    return;
  }
  handleAllowed(gateway, decision, current);
}

/** What is known of a request besides the decision. */
interface Arrived {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly peer: Peer;
  readonly responder: Responder;
  readonly requestId: string;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly expectsContinue: boolean;
}

/**
 * Hands an allowed request to guard's API, to the second factor, or to WordPress. One that only a member may send goes on
 * when the connector is certain to look who sent it; where it does not run, WordPress would do whatever staff ask for.
 */
function handleAllowed(gateway: GatewayContext, decision: Allowed, arrived: Arrived): void {
  const { openVerdict, site } = decision;
  if (!needsStaffCheck(openVerdict) || gateway.staffChecks.isCertain(site.config.id)) {
    dispatch(gateway, decision, arrived);
    return;
  }
  void gateway.staffChecks.confirm(site.config).then((isCertain) => {
    const { response, responder } = arrived;
    if (response.destroyed) responder.record(CLIENT_CLOSED_REQUEST, null);
    else if (isCertain) dispatch(gateway, decision, arrived);
    else {
      gateway.refusals.add(openVerdict.rule);
      responder.page(openVerdict.refusal.page, openVerdict.rule);
    }
  });
}

function dispatch(gateway: GatewayContext, decision: Allowed, arrived: Arrived): void {
  const { request, response, peer, responder, requestId, time, expectsContinue } = arrived;
  const { facts } = decision;
  const route = findApiRoute(facts.restRoute);
  if (route !== null) {
    if (expectsContinue) response.writeContinue();
    handleApiRequest(gateway, decision, route, request, response, { requestId, time });
    return;
  }
  const twoFactor = toTwoFactorRequest(decision, requestId);
  if (decision.loginRoute === 'login' && TWO_FACTOR_ACTIONS.has(facts.query.all('action').at(-1) ?? '')) {
    if (expectsContinue) response.writeContinue();
    prepareOwnResponse(gateway, decision, response, responder.record);
    gateway.login.twoFactor.handle(request, response, twoFactor);
    return;
  }
  const { createRequestId, clock } = gateway;
  const basic = createRequestCredentials(
    { basicCredentials: gateway.login.basicCredentials, createRequestId, clock },
    decision,
    request,
  );
  const current: RequestContext = {
    request,
    response,
    allowed: decision,
    peer,
    responder,
    twoFactor,
    basic,
    time,
    expectsContinue,
  };
  admitLogin(gateway.login, decision, request, response, basic, {
    admitted: (admitted) => forwardToWordPress(gateway, current, admitted),
    refused(closed) {
      gateway.refusals.add('login-limit');
      if (closed === null) responder.page('login-busy', 'login-limit');
      else responder.loginClosed(closed, 'login-limit');
    },
    clientClosed: () => responder.record(CLIENT_CLOSED_REQUEST, null),
  });
}

const UNCLEAR_FRAMING = new Set(['ambiguous:framing', 'ambiguous:host', 'ambiguous:expectation']);

/** Actions of the login page that guard handles itself. */
const TWO_FACTOR_ACTIONS = new Set(['second-factor', 'second-factor-setup']);

function toTwoFactorRequest(allowed: Allowed, requestId: string): TwoFactorRequest {
  const { site, address, scheme, host, policy, facts } = allowed;
  const { language, login } = policy;
  const { loginPath } = login.getLoginPaths(facts);
  const seen = toSeenAddress(address).text;
  const { hasLoginCookie: mayBeSignedIn } = facts;
  return { site: site.config, address: seen, scheme, host, requestId, loginPath, language, mayBeSignedIn };
}

/** Forwards the request and records the outcome of the passwords in it. */
function forwardToWordPress(gateway: GatewayContext, current: RequestContext, admitted: LoginAdmission): void {
  const { loginContext, permit } = admitted;
  const { request, response, allowed, peer, responder, twoFactor, basic, time, expectsContinue } = current;
  const { site, policy, facts } = allowed;
  const { requestId } = twoFactor;
  const { cookie } = request.headers;
  const { openVerdict } = allowed;
  if (needsStaffCheck(openVerdict) && loginContext?.why !== 'away') {
    // The connector looks only when it is told that the owner is away.
    permit?.release();
    gateway.refusals.add(openVerdict.rule);
    responder.page(openVerdict.refusal.page, openVerdict.rule);
    return;
  }
  if (!fitsInHeader(allowed, requestId, loginContext)) {
    // Without its context WordPress would not know which passwords to refuse.
    permit?.release();
    gateway.refusals.add('ambiguous:context');
    responder.page('too-long', 'ambiguous:context');
    return;
  }
  const more = { decoy: allowed.decoy?.reversible === true };
  let signal: Signal = { kind: 'missing' };
  forward({
    request,
    response,
    pool: site.pool,
    address: allowed.address,
    target: allowed.target,
    toForwardedClient: () => toForwardedClient(allowed, requestId, gateway.clock(), loginContext, more),
    strippedHeaders: policy.stripRequestHeaders(facts, gateway.onRuleError),
    timeoutMs: site.timeoutMs,
    idleMs: gateway.idleMs,
    expectsContinue,
    editHeaders: (headers) => editForwardedHeaders(gateway, allowed, facts, headers),
    onSignal(value) {
      signal = readSignal(site.config.secret, value, requestId);
      gateway.onSignal(site.config, signal, allowed);
      if (signal.kind === 'ok' && !site.config.requireGuard && isFromElsewhere(peer.address, allowed.address)) {
        gateway.onGuarded(site.config);
      }
    },
    onResponse(status) {
      if (status !== CLIENT_CLOSED_REQUEST) gateway.observer.forwarded(status, gateway.clock() - time);
      if (isMember(signal)) gateway.sessions.add(site.config.id, cookie, policy.sessionCookies, time);
      // A wrong password is listed, whoever sent it.
      if (responder.hasFailed()) responder.record(status, null);
      else if (isMember(signal)) return;
      else if (
        status === CLIENT_CLOSED_REQUEST &&
        gateway.sessions.has(site.config.id, cookie, policy.sessionCookies, time)
      )
        return;
      else if (!(signal.kind === 'missing' && isStaticFile(facts))) responder.record(status, null);
    },
    onStream: () => gateway.tunnels.add(response, { site: site.config.id, facts, close: () => response.destroy() }),
    hooks: withResponseRule(
      gateway,
      { allowed, responder, isAway: loginContext?.why === 'away' },
      () => signal,
      createLoginHooks(gateway.login, {
        allowed,
        requestId,
        cookie,
        admitted,
        basic,
        signal: () => signal,
        onFailed(user) {
          gateway.observer.loginFailed();
          responder.passwordFailed(user);
        },
        onCheckRefused: (why) => responder.checkRefused(CHECK_REFUSALS[why]),
        onFactor(needed, headers) {
          prepareOwnResponse(gateway, allowed, response, responder.record);
          const json = wantsJson(request.headers, facts);
          if (json) copyCorsHeaders(headers, response);
          gateway.login.twoFactor.begin(request, response, twoFactor, needed, json);
        },
        onHidden: () => serveDecoy404(gateway, allowed, request, response, responder),
      }),
    ),
    onFailure(kind, cause, started) {
      reportUpstreamFailure(gateway, site.config, kind, cause, requestId);
      if (started) response.destroy();
      else responder.page(FAILURE_PAGES[kind], null);
    },
  });
}

/**
 * Adds the rule that only the response can decide on, for a path that looks like something that the rule protects, or for a
 * request that only a member may send. The connector also refuses what staff send to other addresses while away.
 *
 * @param isAway the connector was told that the owner is away
 */
function withResponseRule(
  gateway: GatewayContext,
  { allowed, responder, isAway }: Pick<RequestContext, 'allowed' | 'responder'> & { readonly isAway: boolean },
  signal: () => Signal,
  hooks: ResponseHooks,
): ResponseHooks {
  const { openVerdict } = allowed;
  if (openVerdict === null && !isAway) return hooks;
  return {
    ...hooks,
    onHead(status, headers) {
      const replaced = hooks.onHead(status, headers);
      if (replaced !== false) return replaced;
      if (isRefusedForStaff(signal())) {
        gateway.refusals.add(AWAY_MODE);
        responder.away(isJson(headers));
        return true;
      }
      if (openVerdict === null) return false;
      const { rule, refusal } = openVerdict;
      const shown = { isFromWordPress: signal().kind === 'ok', isFromMember: checksStaff(signal()), headers };
      if (refusal.unless === undefined || isHarmlessResponse(refusal.unless, shown)) return false;
      if (needsStaffCheck(openVerdict)) {
        gateway.staffChecks.recordDoubt(allowed.site.config.id);
        // The web server failed to reach PHP, or PHP to answer.
        if (status >= 500) return false;
      }
      gateway.refusals.add(rule);
      responder.page(refusal.page, rule);
      return shown.isFromWordPress || 'unread';
    },
  };
}

const AWAY_MODE = 'away-mode';

/** Rules by which requests are recorded whose passwords WordPress had to refuse unchecked. */
const CHECK_REFUSALS: Readonly<Record<RefuseReason, string>> = {
  locked: 'login-limit',
  busy: 'login-limit',
  access: 'login-access',
  away: AWAY_MODE,
  'other-site': 'other-site',
};

function isJson(headers: readonly string[]): boolean {
  const at = headers.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'content-type');
  return at !== -1 && /^application\/json\b/i.test(headers[at + 1] as string);
}

/** Lets a page of another origin read the response, where WordPress allows it (Fetch Standard, section 3.2). */
function copyCorsHeaders(headers: readonly string[], response: ServerResponse): void {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (/^access-control-/i.test(name)) response.setHeader(name, headers[i + 1] as string);
    else if (/^vary$/i.test(name)) response.appendHeader(name, headers[i + 1] as string);
  }
}

/** Whether a request comes from another machine rather than from a manual check on this one. */
function isFromElsewhere(peer: Address, client: Address): boolean {
  return client !== peer || !(peer.text === '::1' || peer.text.startsWith('127.'));
}

function logRefusal(gateway: GatewayContext, refused: Extract<Decision, { kind: 'refuse' }>, requestId: string): void {
  gateway.refusals.add(refused.rule);
  if (!gateway.logger.isLevelEnabled('debug')) return;
  gateway.logger.debug(
    {
      event: 'request-refused',
      rule: refused.rule,
      address: refused.address.text,
      path: refused.facts?.path.slice(0, 500),
      requestId,
    },
    'request refused',
  );
}

/** Handles an API request. Routes of the connector's namespace are for guard only: clients get 404. */
export function handleApiRequest(
  gateway: GatewayContext,
  allowed: Allowed,
  { namespace, route }: ApiRoute,
  request: IncomingMessage,
  response: ServerResponse,
  { requestId, time }: { readonly requestId: string; readonly time: number },
): void {
  // The API handler changes `url` of the request.
  const { url, headers, method, socket } = request;
  const original = { url, headers, method, socket };
  const record = (status: number): void => recordVisit(gateway, allowed, original, status, null, { requestId });
  if (namespace === 'connector') {
    record(404);
    sendRouteNotFound(gateway, allowed, response);
    return;
  }
  const { config } = allowed.site;
  const { cookie } = request.headers;
  let isConfirmed = false;
  const isRegisteredUser = gateway.sessions.has(config.id, cookie, allowed.policy.sessionCookies, time);
  prepareOwnResponse(gateway, allowed, response, (status) => {
    // A registered user may send an expired nonce, or close the connection before WordPress confirms the session.
    if (!isConfirmed && !gateway.sessions.has(config.id, cookie, allowed.policy.sessionCookies, time)) record(status);
  });
  gateway.api(request, response, {
    site: config,
    namespace,
    route,
    query: withoutRestRoute(allowed.query),
    address: toSeenAddress(allowed.address).text,
    scheme: allowed.scheme,
    host: allowed.host,
    requestId,
    isRegisteredUser,
    onRegisteredUser() {
      isConfirmed = true;
      gateway.sessions.add(config.id, cookie, allowed.policy.sessionCookies, time);
    },
  });
}

/** WordPress's response for a route that does not exist. */
const NO_ROUTE = JSON.stringify({
  code: 'rest_no_route',
  message: 'No route was found matching the URL and request method.',
  data: { status: 404 },
});

function sendRouteNotFound(
  { onRuleError }: GatewayContext,
  { policy, facts }: Allowed,
  response: ServerResponse,
): void {
  const headers = [
    ...['Content-Type', 'application/json; charset=UTF-8'],
    ...['Content-Length', String(NO_ROUTE.length)],
    ...['Cache-Control', 'no-store'],
  ];
  policy.editResponseHeaders(facts, headers, onRuleError);
  response.writeHead(404, headers);
  response.end(NO_ROUTE);
}

function withoutRestRoute(query: string): string {
  if (!query.includes('rest')) return query;
  const kept = [...new URLSearchParams(query)].filter(([name]) => name !== 'rest_route');
  return new URLSearchParams(kept).toString();
}
