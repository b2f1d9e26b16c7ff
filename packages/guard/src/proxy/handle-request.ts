import type { IncomingMessage, ServerResponse } from 'node:http';
import { CLOSED_EARLY, type VisitSink } from '../activity/visit.js';
import type { ApiHandler } from '../api/api-call.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { LoginGate } from '../login/login-gate.js';
import { type PageName, visitorPages } from '../pages/visitor-pages.js';
import type { SiteConfig } from '../site.js';
import { CONTEXT_HEADER, contextHeader, type LoginContext } from '../wordpress/login-headers.js';
import { GUARD_HEADER, guardHeader, isMember, readSignal, type Signal } from '../wordpress/signature.js';
import { type Admitted, admitLogin } from './admit-login.js';
import { type ExamineDeps, type Examined, examine, type Pass } from './examine.js';
import { forward } from './forward.js';
import type { KnownMembers } from './known-members.js';
import { watchLogin } from './login-exchange.js';
import { missingInstead } from './missing-instead.js';
import { noteVisit } from './note-visit.js';
import type { OpenTunnels } from './open-tunnels.js';
import type { RefusalCounts } from './refusal-counts.js';
import { refuse } from './refuse.js';
import { CLOSED_STATUS, type Closed, refuseLogin } from './refuse-login.js';
import { ownNamespace, type RequestFacts, requestFacts } from './request-facts.js';
import type { VisitorFacts } from './request-head.js';
import { isStaticFile } from './static-file.js';
import type { UpstreamFailure } from './upstream/upstream-connection.js';

export interface GateDeps extends ExamineDeps {
  readonly api: ApiHandler;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly nextId: () => string;
  readonly refusals: RefusalCounts;
  readonly timeoutMs: number;
  readonly idleMs: number;
  readonly login: LoginGate;
  readonly visits: VisitSink;
  readonly tunnels: OpenTunnels;
  readonly members: KnownMembers;
  /** What the connector said with an answer; never throws. */
  onSignal(site: SiteConfig, signal: Signal): void;
}

/**
 * One request, from its head to its answer: facts, rules, then guard's own API or WordPress. Reads top to bottom.
 * @param continueFirst the visitor waits for `100 Continue`
 */
export function handleRequest(
  deps: GateDeps,
  request: IncomingMessage,
  response: ServerResponse,
  continueFirst: boolean,
): void {
  const examined = examine(deps, request);
  const requestId = deps.nextId();
  const time = deps.clock();
  const note = (status: number, rule: string | null): void => noteVisit(deps, examined, request, status, rule);
  const answer = (page: PageName | 'away', rule: string | null = null): void => {
    const { host, address, policy, facts } = examined;
    if (page === 'away') {
      close({ kind: 'away', until: policy.login.away(time).until }, rule);
      return;
    }
    note(visitorPages[page].status, rule);
    const { language } = policy;
    refuse(request, response, { page, language, host, address: address.text, requestId, time }, (headers) => {
      policy.editHeaders(facts ?? unreadFacts(examined), headers, deps.onFault);
    });
  };
  const close = (closed: Closed, rule: string | null): void => {
    note(CLOSED_STATUS[closed.kind], rule);
    const { host, policy, facts } = examined;
    const program = facts !== null && (facts.restRoute !== null || facts.segments.includes('admin-ajax.php'));
    const home = `${policy.paths.home}/`;
    const { language } = policy;
    const { timeZone } = policy.login;
    const now = deps.clock();
    refuseLogin(request, response, closed, { host, home, now, timeZone, program, language }, (headers) => {
      policy.editHeaders(facts ?? unreadFacts(examined), headers, deps.onFault);
    });
  };
  if (examined.kind === 'refuse') {
    noteRefusal(deps, examined, requestId);
    // Where this request ends is unclear, and so is where a next one would begin (RFC 9112 section 6.1).
    if (examined.rule === UNCLEAR_END) response.shouldKeepAlive = false;
    answer(examined.page, examined.rule);
    return;
  }
  const { site, policy, facts } = examined;
  const own = ownNamespace(facts.restRoute);
  if (own !== null) {
    if (continueFirst) response.writeContinue();
    const headers: string[] = [];
    policy.editHeaders(facts, headers, deps.onFault);
    if (own.namespace === 'connector') {
      note(404, null);
      noRoute(response, headers);
    } else {
      for (let i = 0; i < headers.length; i += 2) response.setHeader(headers[i] as string, headers[i + 1] as string);
      let member = false;
      // The API rewrites the target of the request it is given.
      const asked = { url: request.url, headers: request.headers };
      const { cookie } = request.headers;
      noteWhenDone(response, (status) => {
        // A member's nonce may have grown old; a member may have left before WordPress was asked.
        if (member || deps.members.knows(site.config.id, cookie, time)) return;
        noteVisit(deps, examined, asked, status, null);
      });
      deps.api(request, response, {
        site: site.config,
        namespace: own.namespace,
        route: own.route,
        query: withoutRestRoute(examined.query),
        address: examined.address.text,
        scheme: examined.scheme,
        host: examined.host,
        requestId,
        onMember() {
          member = true;
          deps.members.saw(site.config.id, cookie, time);
        },
      });
    }
    return;
  }
  const atDoor = {
    site: site.config,
    address: examined.address.text,
    scheme: examined.scheme,
    host: examined.host,
    requestId,
    loginPath: policy.login.loginPath,
    language: policy.language,
  };
  if (examined.road === 'login' && SECOND_FACTOR.has(facts.query.all('action').at(-1) ?? '')) {
    if (continueFirst) response.writeContinue();
    setHeaders(deps, response, examined);
    noteWhenDone(response, note);
    deps.login.door.handle(request, response, atDoor);
    return;
  }
  const send = (admitted: Admitted): void => {
    let signal: Signal = { kind: 'missing' };
    forward({
      request,
      response,
      pool: site.pool,
      target: examined.target,
      visitor: () => visitorFacts(examined, requestId, deps.clock(), admitted.context),
      stopped: policy.stopHeaders(facts, deps.onFault),
      timeoutMs: deps.timeoutMs,
      idleMs: deps.idleMs,
      continueFirst,
      editHeaders: (headers) => policy.editHeaders(facts, headers, deps.onFault),
      onSignal(value) {
        signal = readSignal(site.config.secret, value, requestId);
        deps.onSignal(site.config, signal);
      },
      onAnswered(status) {
        const { cookie } = request.headers;
        if (isMember(signal)) deps.members.saw(site.config.id, cookie, time);
        else if (status === CLOSED_EARLY && deps.members.knows(site.config.id, cookie, time)) return;
        else if (!(signal.kind === 'missing' && isStaticFile(facts))) note(status, null);
      },
      onStream: () => deps.tunnels.watch(response, { site: site.config.id, facts, cut: () => response.destroy() }),
      watch: watchLogin(deps.login, {
        pass: examined,
        requestId,
        cookie: request.headers.cookie,
        ticket: admitted.ticket,
        certain: admitted.certain,
        device: admitted.device,
        key: admitted.key,
        signal: () => signal,
        onFactor(needed) {
          setHeaders(deps, response, examined);
          noteWhenDone(response, note);
          deps.login.door.begin(request, response, atDoor, needed);
        },
        onHidden: () => missingInstead(deps, examined, request, response, answer, note),
      }),
      onFailure(kind, cause, started) {
        noteFailure(deps, site.config, kind, cause, requestId);
        if (started) response.destroy();
        else answer(FAILURE_PAGES[kind]);
      },
    });
  };
  admitLogin(deps.login, examined, request, response, {
    admitted: send,
    refused(closed) {
      deps.refusals.add('login-limit');
      if (closed === null) answer('login-busy', 'login-limit');
      else close(closed, 'login-limit');
    },
    left: () => note(CLOSED_EARLY, null),
  });
}

const UNCLEAR_END = 'ambiguous:framing';

/** Facts of a request that could not be read: the rules' headers go on its answer too. */
function unreadFacts({ policy, address }: Pick<Examined, 'policy' | 'address'>): RequestFacts {
  return requestFacts({ method: 'GET', address, path: { path: '/', segments: [] }, query: '', paths: policy.paths });
}

/** Actions of the login address that guard answers itself. */
const SECOND_FACTOR = new Set(['second-factor', 'second-factor-setup']);

/** Notes an answer that another part of guard writes, as soon as it is written. */
function noteWhenDone(response: ServerResponse, note: (status: number, rule: string | null) => void): void {
  response.once('close', () => note(response.headersSent ? response.statusCode : CLOSED_EARLY, null));
}

/** Gives the rules' headers to an answer that another part of guard writes. */
function setHeaders(deps: GateDeps, response: ServerResponse, { policy, facts }: Pass): void {
  const headers: string[] = [];
  policy.editHeaders(facts, headers, deps.onFault);
  for (let i = 0; i < headers.length; i += 2) response.setHeader(headers[i] as string, headers[i + 1] as string);
}

/** What WordPress is told about the visitor, signed. */
export function visitorFacts(
  examined: Pick<Pass, 'host' | 'scheme' | 'site' | 'address'>,
  requestId: string,
  time: number,
  said: LoginContext | null,
): VisitorFacts {
  const { host, scheme, site } = examined;
  const address = examined.address.text;
  const signed = guardHeader(site.config.secret, { time: Math.floor(time / 1000), requestId, scheme, address });
  const { secret } = site.config;
  const context = said === null ? null : ([CONTEXT_HEADER, contextHeader(secret, requestId, said)] as const);
  return { address, scheme, host, signed: [GUARD_HEADER, signed], context };
}

export const FAILURE_PAGES = {
  connect: 'unreachable',
  closed: 'unreachable',
  syntax: 'unreachable',
  timeout: 'slow',
  busy: 'busy',
} as const satisfies Record<UpstreamFailure, PageName>;

/** Visitors see a generic page; the log says which site failed and why. */
export function noteFailure(
  deps: GateDeps,
  site: SiteConfig,
  kind: UpstreamFailure,
  cause: unknown,
  requestId: string,
): void {
  const why = cause instanceof Error ? cause.message : String(cause);
  deps.logger.warn(
    { event: 'upstream-failed', site: site.id, kind, cause: why, requestId },
    'no answer from WordPress',
  );
}

export function noteRefusal(deps: GateDeps, refused: Extract<Examined, { kind: 'refuse' }>, requestId: string): void {
  deps.refusals.add(refused.rule);
  if (!deps.logger.isLevelEnabled('debug')) return;
  deps.logger.debug(
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

/** The words of WordPress itself for a route that does not exist. */
const NO_ROUTE = JSON.stringify({
  code: 'rest_no_route',
  message: 'No route was found matching the URL and request method.',
  data: { status: 404 },
});

function noRoute(response: ServerResponse, more: readonly string[]): void {
  response.writeHead(404, [
    'Content-Type',
    'application/json; charset=UTF-8',
    'Content-Length',
    String(NO_ROUTE.length),
    'Cache-Control',
    'no-store',
    ...more,
  ]);
  response.end(NO_ROUTE);
}

function withoutRestRoute(query: string): string {
  if (!query.includes('rest')) return query;
  const kept = [...new URLSearchParams(query)].filter(([name]) => name !== 'rest_route');
  return new URLSearchParams(kept).toString();
}
