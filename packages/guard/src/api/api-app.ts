import type { IncomingMessage } from 'node:http';
import { downloads } from '@security-optimizer/contract/activity-export';
import { type Endpoint, endpoints } from '@security-optimizer/contract/endpoints';
import type { Envelope } from '@security-optimizer/contract/envelope';
import type { ErrorCode } from '@security-optimizer/contract/errors';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { ApiError } from '../lib/api-error.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import { OutageLog } from '../lib/outage-log.js';
import type { WordPressUser } from '../wordpress/connector-answers.js';
import type { Sender } from '../wordpress/sender.js';
import type { Sessions } from '../wordpress/session.js';
import type { ApiCall, ApiHandler } from './api-call.js';
import { authenticate } from './authenticate.js';
import { MAX_BODY_BYTES, parseBody } from './body.js';
import type { CallContext, Outcome } from './call-context.js';
import type { DownloadHandlers } from './download-handlers.js';
import { apiErrorOf, failureOf } from './error-response.js';
import type { Handlers } from './handlers.js';
import { parseInput } from './parse-input.js';
import { readQuery } from './read-query.js';
import { sendFile } from './send-file.js';

/** A client that was answered but goes on sending is cut off after this time, milliseconds. */
const DRAIN_MS = 10_000;
/** So long a client with too large a body may go on sending before it is answered, milliseconds. */
const TOO_LARGE_MS = 2000;

interface CallState {
  readonly call: ApiCall;
  user: WordPressUser | undefined;
}

/** Calls under way, by their request: Fastify finds here what the proxy recognised. */
type Calls = WeakMap<IncomingMessage, CallState>;

export interface Api {
  readonly handle: ApiHandler;
  close(): Promise<void>;
}

/**
 * The REST API without a listener of its own: the proxy hands over the calls that are addressed to it. Routes come
 * from the contract; each answer is the contract's envelope with the HTTP status of its `status`.
 */
export async function createApi(deps: {
  handlers: Handlers;
  downloads: DownloadHandlers;
  sessions: Pick<Sessions, 'who'>;
  clock: Clock;
  logger: Logger;
}): Promise<Api> {
  const { sessions } = deps;
  const logFailure = failureLog(deps.logger, deps.clock);
  const calls: Calls = new WeakMap();
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    exposeHeadRoutes: true,
    routerOptions: { ignoreTrailingSlash: true },
    // The same route for the pretty path and for rest_route; `/plugin` can't clash with a route of the other base.
    rewriteUrl: (request) => {
      const call = calls.get(request as IncomingMessage)?.call;
      return call ? `/${call.namespace}${call.route}${call.query === '' ? '' : `?${call.query}`}` : '/';
    },
    frameworkErrors: (error, request, reply) => refuse(logFailure, calls, error, request, reply),
  });

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    parseBody(body),
  );
  app.setNotFoundHandler((request, reply) => refuse(logFailure, calls, new ApiError('rest_no_route'), request, reply));
  app.setErrorHandler(async (error, request, reply) => {
    if (apiErrorOf(error).code === 'body_too_large') await restOf(request.raw, TOO_LARGE_MS);
    return refuse(logFailure, calls, error, request, reply);
  });
  mountEndpoints(app, { handlers: deps.handlers, sessions, calls });
  mountDownloads(app, { handlers: deps.downloads, sessions, calls, logFailure });
  await app.ready();

  return {
    handle(request, response, call) {
      calls.set(request, { call, user: undefined });
      // Bodies are JSON whatever their header says, and empty ones an empty object. Without a type the framework would
      // refuse some of them before it looked for a route.
      request.headers['content-type'] = 'application/json';
      response.once('finish', () => {
        if (request.complete) return;
        const timer = setTimeout(() => request.destroy(), DRAIN_MS);
        request.once('close', () => clearTimeout(timer));
      });
      app.routing(request, response);
    },
    close: () => app.close(),
  };
}

function mountEndpoints(
  app: FastifyInstance,
  deps: { handlers: Handlers; sessions: Pick<Sessions, 'who'>; calls: Calls },
): void {
  for (const endpoint of endpoints) {
    // One handler per name is checked by the type of `Handlers`; here each gets exactly what its own schema gave.
    const handler = deps.handlers[endpoint.name] as (input: unknown, context: CallContext) => Promise<Outcome<unknown>>;
    const url = routeOf(endpoint);
    // Exactly the calls that change nothing can also be made by GET.
    const changes = !(endpoint.methods as readonly string[]).includes('GET');
    app.route({
      method: [...endpoint.methods],
      url,
      onRequest: async (request) => {
        const state = stateOf(deps.calls, request);
        state.user = await authenticate(deps.sessions, state.call, request.headers, changes, isHere(request));
      },
      handler: async (request, reply) => {
        const input = parseInput(endpoint.request, inputOf(endpoint, request, stateOf(deps.calls, request).call));
        const { data, message, setCookies = [] } = await handler(input, contextOf(deps.calls, request));
        if (setCookies.length > 0) reply.header('set-cookie', [...setCookies]);
        return send(reply, { data, message, status: 200 });
      },
    });
  }
  for (const url of new Set(endpoints.map(routeOf))) {
    const methods = endpoints
      .filter((endpoint) => routeOf(endpoint) === url)
      .flatMap((endpoint) => endpoint.methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])));
    app.options(url, (_request, reply) =>
      send(reply.header('allow', [...methods, 'OPTIONS'].join(', ')), { data: null, message: '', status: 200 }),
    );
  }
}

function mountDownloads(
  app: FastifyInstance,
  deps: { handlers: DownloadHandlers; sessions: Pick<Sessions, 'who'>; calls: Calls; logFailure: LogFailure },
): void {
  for (const download of downloads) {
    app.route({
      method: 'GET',
      // A file is not written only to tell how it would begin.
      exposeHeadRoute: false,
      url: routeOf(download),
      onRequest: async (request) => {
        const state = stateOf(deps.calls, request);
        state.user = await authenticate(deps.sessions, state.call, request.headers, false, isHere(request));
      },
      handler: async (request, reply) => {
        const { call } = stateOf(deps.calls, request);
        const input = parseInput(download.request, readQuery(call.query)) as never;
        const file = await deps.handlers[download.name](input, contextOf(deps.calls, request));
        return sendFile(reply, file, (error) => deps.logFailure(call, apiErrorOf(error)));
      },
    });
  }
}

function isHere({ raw }: FastifyRequest): () => boolean {
  return () => !raw.socket.destroyed;
}

/** Who calls, and for which site. */
function contextOf(calls: Calls, request: FastifyRequest): CallContext {
  const { call, user } = stateOf(calls, request);
  if (!user) throw new Error('A handler ran without authentication.');
  return {
    site: call.site,
    actor: { id: user.id, login: user.login, address: call.address },
    visitor: { cookie: request.headers.cookie ?? '', sender: senderOf(call) },
  };
}

/** The route of a call; `{id}` of the contract is a parameter. */
function routeOf(endpoint: Pick<Endpoint, 'suffix' | 'namespace'>): string {
  return `/${endpoint.namespace ?? 'plugin'}${endpoint.suffix.replace(/\{(\w+)\}/g, ':$1')}`;
}

/** What the caller sent: body or query, and the parameters of the path, which win. */
function inputOf(endpoint: Endpoint, request: FastifyRequest, call: ApiCall): unknown {
  const reads = request.method === 'GET' || request.method === 'HEAD';
  const sent = reads ? readQuery(call.query) : (request.body ?? absent(request));
  const named = endpoint.listField !== undefined && Array.isArray(sent) ? { [endpoint.listField]: sent } : sent;
  const isObject = typeof named === 'object' && named !== null && !Array.isArray(named);
  return isObject ? { ...named, ...(request.params as object) } : named;
}

/** An absent body counts as an empty object; a body that says `null` is one. */
function absent(request: FastifyRequest): unknown {
  return request.body === undefined ? {} : null;
}

function senderOf({ host, scheme, address, requestId }: ApiCall): Sender {
  return { host, scheme, address, requestId };
}

function stateOf(calls: Calls, request: FastifyRequest): CallState {
  const state = calls.get(request.raw);
  if (!state) throw new Error('The API was called past the proxy.');
  return state;
}

function send(reply: FastifyReply, body: Envelope<unknown>): FastifyReply {
  return reply
    .code(body.status)
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(body));
}

function refuse(logFailure: LogFailure, calls: Calls, thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const error = apiErrorOf(thrown);
  const failure = failureOf(error);
  if (failure.status >= 500) logFailure(calls.get(request.raw)?.call, error);
  return send(reply, failure);
}

/**
 * Waits for the rest of a body, which nobody keeps. A connection that is closed while the other side still sends is
 * reset, and the answer may be lost with it (RFC 9112 section 9.6).
 */
function restOf(request: IncomingMessage, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    request.once('end', end).once('close', end).resume();
  });
}

/** Writes down a call that failed by no fault of the caller; what is out of order for all calls, once. */
function failureLog(logger: Logger, clock: Clock): LogFailure {
  const outages = new OutageLog();
  return (call, error) => {
    const outage = OUTAGES.has(error.code);
    const unlogged = outage ? outages.note(`${call?.site.id} ${error.code}`, clock()) : 0;
    if (unlogged === null) return;
    const { code, cause: err } = error;
    const facts = { event: 'api-failed', code, site: call?.site.id, route: call?.route, request: call?.requestId, err };
    // Anybody can make WordPress busy with invented sessions: worth knowing, but nothing is out of order.
    const level = code === 'wordpress_busy' ? 'warn' : 'error';
    logger[level](unlogged > 0 ? { ...facts, unlogged } : facts, outage ? OUTAGE : 'A call of the API failed.');
  };
}

type LogFailure = (call: ApiCall | undefined, error: ApiError) => void;

const OUTAGES: ReadonlySet<ErrorCode> = new Set([
  'wordpress_unreachable',
  'wordpress_busy',
  'connector_missing',
  'connector_outdated',
  'connector_other_secret',
]);
const OUTAGE = 'A call of the API failed; further ones that fail like this one are not logged.';
