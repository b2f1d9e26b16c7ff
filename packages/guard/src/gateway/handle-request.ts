import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Continuation, Exchange, LoginClosed, ProbeResponse, ResponseHook } from '../hooks.js';
import type { RawHeaders } from '../http/headers.js';
import { type ApiRoute, findApiRoute, isStaticFile } from '../http/request-facts.js';
import type { Address } from '../lib/address.js';
import { toSeenAddress } from '../lib/carried-address.js';
import type { PageName } from '../pages/visitor-pages.js';
import { isHarmlessResponse } from '../rules/harmless-response.js';
import { needsStaffCheck } from '../rules/snapshot.js';
import type { SiteFacts } from '../site.js';
import { CLIENT_CLOSED_REQUEST, forward, type ResponseHandler } from '../upstream/forward.js';
import { whenReceived } from '../upstream/request-body.js';
import { type LoginContext, readLoginReport } from '../wordpress/login-headers.js';
import { checksStaff, isRefusedForStaff, isSignedIn, readSignal, type Signal } from '../wordpress/signature.js';
import type { GatewayContext } from './context.js';
import { serveDecoy404 } from './decoy-404.js';
import { type Allowed, type Decision, evaluate, isNamedHost, refuseUnknownHost } from './evaluate.js';
import { fitsInHeader, toForwardedClient } from './forwarded-client.js';
import { respondToHealthCheck } from './health-check.js';
import { respondToInspection } from './inspection.js';
import { toHostName } from './machine-hosts.js';
import { FAILURE_PAGES, reportUpstreamFailure } from './observer.js';
import type { Peer } from './peer.js';
import { probeWebServer } from './probe.js';
import { type ForwardedLogin, isView } from './relay.js';
import { createResponder, editForwardedHeaders, prepareOwnResponse, type Responder, recordVisit } from './respond.js';
import { sendAsset, toAssetName } from './shared-assets.js';

/**
 * Handles one request from its head to its response: facts, rules, then guard's own API or WordPress.
 *
 * @param peer the other end of the connection
 * @param options `expectsContinue`: the client waits for `100 Continue`; `forwarded`: a worker has forwarded the request,
 *   and WordPress's response is withheld
 */
export function handleRequest(
  gateway: GatewayContext,
  request: IncomingMessage,
  response: ServerResponse,
  peer: Peer,
  {
    expectsContinue,
    forwarded = null,
  }: { readonly expectsContinue: boolean; readonly forwarded?: ForwardedLogin | null },
): void {
  const decision = evaluate(gateway, request, peer);
  if (decision === 'health-check') {
    respondToHealthCheck(gateway.router, request, response);
    return;
  }
  if (respondToInspection(gateway, decision, request, response, peer)) return;
  if (gateway.relay !== null && decision.kind === 'allow' && !isView(decision, request)) {
    gateway.relay(request, response, peer, { expectsContinue });
    return;
  }
  if (decision.kind === 'refuse' || decision.isHostProved) {
    handleDecision(gateway, decision, request, response, { peer, expectsContinue, forwarded });
    return;
  }
  const { site, host, address, scheme } = decision;
  const facts = gateway.facts(site.config.id) as SiteFacts;
  const isNamed = (other: string): boolean => isNamedHost(gateway, site, other);
  const question = {
    site: site.config,
    facts,
    name: toHostName(host),
    origin: { scheme, host },
    client: address,
    isNamed,
  };
  void gateway.hosts.check(question).then((hostStatus) => {
    if (response.destroyed) return;
    let proved: Decision = decision;
    if (hostStatus === 'foreign') proved = refuseUnknownHost(gateway, host, address);
    if (hostStatus === 'busy') proved = { ...refuseUnknownHost(gateway, host, address), page: 'busy' };
    handleDecision(gateway, proved, request, response, { peer, expectsContinue, forwarded });
  });
}

function handleDecision(
  gateway: GatewayContext,
  decision: Decision,
  request: IncomingMessage,
  response: ServerResponse,
  { peer, expectsContinue, forwarded }: Pick<Arrived, 'peer' | 'expectsContinue' | 'forwarded'>,
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
  const current = { request, response, peer, responder, requestId, time, expectsContinue, forwarded };
  const { facts } = decision;
  const { sharedConnector } = decision.site.config;
  const asset = sharedConnector === undefined ? null : toAssetName(decision);
  if (sharedConnector !== undefined && asset !== null) {
    const editHeaders = (headers: string[]) =>
      decision.snapshot.editResponseHeaders(facts, headers, gateway.onRuleError);
    void gateway.sharedAssets.find(sharedConnector, asset).then((found) => {
      if (response.destroyed) return;
      if (found === null) handleAllowed(gateway, decision, current);
      else sendAsset(asset, found, request, response, editHeaders);
    });
    return;
  }
  handleAllowed(gateway, decision, current);
}

/** Facts of a request that are not part of the decision. */
interface Arrived {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly peer: Peer;
  readonly responder: Responder;
  readonly requestId: string;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly expectsContinue: boolean;
  /** Set for a login in a request that a worker has forwarded. */
  readonly forwarded: ForwardedLogin | null;
}

/**
 * Passes an allowed request to guard's API, to a feature, or to WordPress. A request that only members may send is
 * forwarded only when the connector certainly checks who sent it. Where the connector does not run, WordPress would
 * carry out requests of staff.
 */
function handleAllowed(gateway: GatewayContext, decision: Allowed, arrived: Arrived): void {
  const { openVerdict, site } = decision;
  if (!needsStaffCheck(openVerdict) || gateway.staffChecks.isCertain(site.config.id)) {
    dispatch(gateway, decision, arrived);
    return;
  }
  void gateway.staffChecks.confirm(site.config).then((isCertain) => {
    const { response, responder } = arrived;
    if (response.destroyed) responder.record(CLIENT_CLOSED_REQUEST);
    else if (isCertain) dispatch(gateway, decision, arrived);
    else {
      gateway.refusals.add(openVerdict.rule);
      responder.page(openVerdict.refusal.page, openVerdict.rule);
    }
  });
}

function dispatch(gateway: GatewayContext, decision: Allowed, arrived: Arrived): void {
  const { request, response, requestId, time, expectsContinue } = arrived;
  const route = findApiRoute(decision.facts.restRoute);
  if (route !== null) {
    if (expectsContinue) response.writeContinue();
    handleApiRequest(gateway, decision, route, request, response, { requestId, time });
    return;
  }
  const exchange = new AllowedExchange(gateway, decision, arrived);
  const { forwarded } = arrived;
  if (forwarded !== null) gateway.onFactor(exchange, forwarded.factor, forwarded.withheld);
  else if (!gateway.onPage(exchange)) gateway.onAllowed(exchange, exchange);
}

const UNCLEAR_FRAMING = new Set(['ambiguous:framing', 'ambiguous:host', 'ambiguous:expectation']);

/** A request on its way to WordPress, unless a feature responds to it or refuses it. */
class AllowedExchange implements Exchange, Continuation, ResponseHandler {
  signal: Signal = { kind: 'missing' };
  #isForwarded = false;
  /** The connector was told that Away Mode is on. */
  #isAway = false;
  #hook: ResponseHook | null = null;

  constructor(
    private readonly gateway: GatewayContext,
    readonly allowed: Allowed,
    private readonly arrived: Arrived,
  ) {}

  get request(): IncomingMessage {
    return this.arrived.request;
  }

  get response(): ServerResponse {
    return this.arrived.response;
  }

  get requestId(): string {
    return this.arrived.requestId;
  }

  prepareResponse(): void {
    const { response, responder, expectsContinue } = this.arrived;
    if (expectsContinue && !this.#isForwarded) response.writeContinue();
    prepareOwnResponse(this.gateway, this.allowed, response, responder.record);
  }

  countLoginFailure(login: string): void {
    this.gateway.observer.loginFailed();
    this.arrived.responder.passwordFailed(login);
  }

  recordChecksRefused(passwords: number, rule: string | null): void {
    for (let i = 0; i < passwords; i++) this.gateway.observer.loginFailed();
    this.arrived.responder.checksRefused(passwords, rule);
  }

  whenReceived(then: (isComplete: boolean) => void): () => void {
    return whenReceived(this.arrived.request, then);
  }

  probe(rawHeaders: readonly string[]): Promise<ProbeResponse> {
    return probeWebServer(this.gateway, this.allowed, rawHeaders);
  }

  clientClosed(): void {
    this.arrived.responder.record(CLIENT_CLOSED_REQUEST);
  }

  refuse(rule: string, closed: LoginClosed | null): void {
    const { responder } = this.arrived;
    this.gateway.refusals.add(rule);
    if (closed === null) responder.page('login-busy', rule);
    else responder.loginClosed(closed, rule);
  }

  allow(context: LoginContext | null, hook: ResponseHook | null, mayCheckPasswords = true): void {
    const { gateway, allowed } = this;
    const { request, response, peer, responder, requestId, time, expectsContinue } = this.arrived;
    const { site, snapshot, facts, openVerdict } = allowed;
    const { cookie } = request.headers;
    this.#hook = hook;
    this.#isAway = context?.why === 'away';
    if (needsStaffCheck(openVerdict) && !this.#isAway) {
      // The connector checks this only when it was told that Away Mode is on.
      this.#refuseUnsent(openVerdict.refusal.page, openVerdict.rule);
      return;
    }
    if (!fitsInHeader(allowed, requestId, context)) {
      // Without its context WordPress would not know which passwords to refuse.
      this.#refuseUnsent('too-long', 'ambiguous:context');
      return;
    }
    this.#isForwarded = true;
    const more = { decoy: allowed.decoy?.reversible === true, repeated: !mayCheckPasswords };
    forward({
      request,
      response,
      pool: site.pool,
      address: allowed.address,
      target: allowed.target,
      toForwardedClient: () => toForwardedClient(allowed, requestId, gateway.clock(), context, more),
      strippedHeaders: snapshot.stripRequestHeaders(facts, gateway.onRuleError),
      timeoutMs: site.timeoutMs,
      idleMs: gateway.idleMs,
      expectsContinue,
      editHeaders: (headers) => editForwardedHeaders(gateway, allowed, facts, headers),
      onSignal: (value) => {
        this.signal = readSignal(site.config.secret, value, requestId);
        gateway.onSignal(site.config, this.signal, allowed);
        const isGuarded = this.signal.kind === 'ok' && !site.config.requireGuard;
        if (isGuarded && isFromElsewhere(peer.address, allowed.address)) gateway.onGuarded(site.config);
      },
      onResponse: (status) => {
        const { signal } = this;
        if (status !== CLIENT_CLOSED_REQUEST) gateway.observer.forwarded(status, gateway.clock() - time);
        if (isSignedIn(signal)) gateway.sessions.add(site.config.id, cookie, snapshot.sessionCookies, time);
        // A failed login is listed for registered users, too.
        if (responder.hasFailed()) responder.record(status);
        else if (isSignedIn(signal)) return;
        else if (
          status === CLIENT_CLOSED_REQUEST &&
          gateway.sessions.has(site.config.id, cookie, snapshot.sessionCookies, time)
        )
          return;
        else if (!(signal.kind === 'missing' && isStaticFile(facts))) responder.record(status);
      },
      onStream: () => gateway.tunnels.add(response, { site: site.config.id, facts, close: () => response.destroy() }),
      handler: this,
      onFailure(kind, cause, started) {
        reportUpstreamFailure(gateway, site.config, kind, cause, requestId);
        if (started) response.destroy();
        else responder.page(FAILURE_PAGES[kind], null);
      },
    });
  }

  #refuseUnsent(page: PageName | 'away', rule: string): void {
    void this.#hook?.onNoResponse('nothing');
    this.gateway.refusals.add(rule);
    this.arrived.responder.page(page, rule);
  }

  get outlivesClient(): boolean {
    return this.#hook?.outlivesClient === true;
  }

  onLoginReport(value: string | undefined, status: number, headers: RawHeaders): Promise<void> | null {
    if (this.#hook === null) return null;
    const { secret } = this.allowed.site.config;
    const report = value === undefined ? null : readLoginReport(secret, value, this.requestId);
    return this.#hook.onReport(report, status, headers);
  }

  onHead(status: number, headers: RawHeaders): boolean | 'unread' {
    const { gateway, allowed, arrived } = this;
    const outcome = this.#hook?.onHead(status, headers) ?? 'send';
    if (outcome === 'decoy-404') serveDecoy404(gateway, allowed, arrived.request, arrived.response, arrived.responder);
    return outcome === 'send' ? this.#replaceByRule(status, headers) : true;
  }

  onNoResponse(sent: 'nothing' | 'part' | 'whole'): Promise<void> | null {
    return this.#hook?.onNoResponse(sent) ?? null;
  }

  /**
   * Applies a rule that depends on the response: for a path that resembles a protected one, or for a request that only
   * members may send. While Away Mode is on, the connector also refuses requests of staff to other addresses.
   */
  #replaceByRule(status: number, headers: RawHeaders): boolean | 'unread' {
    const { gateway, allowed, signal } = this;
    const { responder } = this.arrived;
    const { openVerdict } = allowed;
    if (openVerdict === null && !this.#isAway) return false;
    if (isRefusedForStaff(signal)) {
      gateway.refusals.add(AWAY_MODE);
      responder.away(isJson(headers));
      return true;
    }
    if (openVerdict === null) return false;
    const { rule, refusal } = openVerdict;
    const shown = { isFromWordPress: signal.kind === 'ok', isFromRegisteredUser: checksStaff(signal), headers };
    if (refusal.unless === undefined || isHarmlessResponse(refusal.unless, shown)) return false;
    if (needsStaffCheck(openVerdict)) {
      gateway.staffChecks.recordMissingSignal(allowed.site.config.id);
      // The web server could not reach PHP, or PHP failed.
      if (status >= 500) return false;
    }
    gateway.refusals.add(rule);
    responder.page(refusal.page, rule);
    return shown.isFromWordPress || 'unread';
  }
}

const AWAY_MODE = 'away-mode';

function isJson(headers: readonly string[]): boolean {
  const at = headers.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'content-type');
  return at !== -1 && /^application\/json\b/i.test(headers[at + 1] as string);
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
function handleApiRequest(
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
  const isRegisteredUser = gateway.sessions.has(config.id, cookie, allowed.snapshot.sessionCookies, time);
  prepareOwnResponse(gateway, allowed, response, (status) => {
    // A registered user may send an expired nonce, or close the connection before WordPress confirms the session.
    if (!isConfirmed && !gateway.sessions.has(config.id, cookie, allowed.snapshot.sessionCookies, time)) record(status);
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
      gateway.sessions.add(config.id, cookie, allowed.snapshot.sessionCookies, time);
    },
  });
}

/** WordPress's response for an unknown route. */
const NO_ROUTE = JSON.stringify({
  code: 'rest_no_route',
  message: 'No route was found matching the URL and request method.',
  data: { status: 404 },
});

function sendRouteNotFound(
  { onRuleError }: GatewayContext,
  { snapshot, facts }: Allowed,
  response: ServerResponse,
): void {
  const headers = [
    ...['Content-Type', 'application/json; charset=UTF-8'],
    ...['Content-Length', String(NO_ROUTE.length)],
    ...['Cache-Control', 'no-store'],
  ];
  snapshot.editResponseHeaders(facts, headers, onRuleError);
  response.writeHead(404, headers);
  response.end(NO_ROUTE);
}

function withoutRestRoute(query: string): string {
  if (!query.includes('rest')) return query;
  const remaining = [...new URLSearchParams(query)].filter(([name]) => name !== 'rest_route');
  return new URLSearchParams(remaining).toString();
}
