import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiHandler } from '../api/api-call.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { PageName } from '../pages/visitor-pages.js';
import type { SiteConfig } from '../site.js';
import { GUARD_HEADER, guardHeader, readSignal, type Signal } from '../wordpress/signature.js';
import { type ExamineDeps, type Examined, examine } from './examine.js';
import { forward } from './forward.js';
import type { RefusalCounts } from './refusal-counts.js';
import { refuse } from './refuse.js';
import { ownNamespace } from './request-facts.js';
import type { VisitorFacts } from './request-head.js';
import type { UpstreamFailure } from './upstream/upstream-connection.js';

export interface GateDeps extends ExamineDeps {
  readonly api: ApiHandler;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly nextId: () => string;
  readonly refusals: RefusalCounts;
  readonly timeoutMs: number;
  readonly idleMs: number;
  /** What the connector said with an answer; never throws. */
  onSignal(site: SiteConfig, signal: Signal): void;
}

export type Pass = Extract<Examined, { kind: 'pass' }>;

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
  const answer = (page: PageName): void => {
    const { host, address, policy, facts } = examined;
    refuse(request, response, { page, host, address: address.text, requestId, time }, (headers) => {
      if (facts !== null) policy?.editHeaders(facts, headers, deps.onFault);
    });
  };
  if (examined.kind === 'refuse') {
    noteRefusal(deps, examined, requestId);
    // Where this request ends is unclear, and so is where a next one would begin (RFC 9112 section 6.1).
    if (examined.rule === UNCLEAR_END) response.shouldKeepAlive = false;
    answer(examined.page);
    return;
  }
  const { site, policy, facts } = examined;
  const own = ownNamespace(facts.restRoute);
  if (own !== null) {
    if (continueFirst) response.writeContinue();
    const headers: string[] = [];
    policy.editHeaders(facts, headers, deps.onFault);
    if (own.namespace === 'connector') noRoute(response, headers);
    else {
      for (let i = 0; i < headers.length; i += 2) response.setHeader(headers[i] as string, headers[i + 1] as string);
      deps.api(request, response, {
        site: site.config,
        namespace: own.namespace,
        route: own.route,
        query: withoutRestRoute(examined.query),
        address: examined.address.text,
        scheme: examined.scheme,
        host: examined.host,
        requestId,
      });
    }
    return;
  }
  forward({
    request,
    response,
    pool: site.pool,
    target: examined.target,
    visitor: visitorFacts(examined, requestId, time),
    stopped: policy.stopHeaders(facts, deps.onFault),
    timeoutMs: deps.timeoutMs,
    idleMs: deps.idleMs,
    continueFirst,
    editHeaders: (headers) => policy.editHeaders(facts, headers, deps.onFault),
    onSignal: (signal) => deps.onSignal(site.config, readSignal(site.config.secret, signal, requestId)),
    onFailure(kind, cause, started) {
      noteFailure(deps, site.config, kind, cause, requestId);
      if (started) response.destroy();
      else answer(FAILURE_PAGES[kind]);
    },
  });
}

const UNCLEAR_END = 'ambiguous:framing';

/** What WordPress is told about the visitor, signed. */
export function visitorFacts(examined: Pass, requestId: string, time: number): VisitorFacts {
  const { host, scheme, site } = examined;
  const address = examined.address.text;
  const signed = guardHeader(site.config.secret, { time: Math.floor(time / 1000), requestId, scheme, address });
  return { address, scheme, host, signed: [GUARD_HEADER, signed] };
}

const FAILURE_PAGES = {
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
