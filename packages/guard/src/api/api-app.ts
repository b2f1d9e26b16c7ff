import type { IncomingMessage } from 'node:http';
import { downloads } from '@security-optimizer/contract/activity/endpoints';
import { downloadRequests } from '@security-optimizer/contract/activity/requests';
import type { Endpoint } from '@security-optimizer/contract/endpoint';
import { type ApiEndpoint, endpoints } from '@security-optimizer/contract/endpoints';
import type { Envelope } from '@security-optimizer/contract/envelope';
import type { ErrorCode } from '@security-optimizer/contract/errors';
import type { EndpointRequest } from '@security-optimizer/contract/request';
import { requests } from '@security-optimizer/contract/requests';
import type { WithMessages } from '@security-optimizer/contract/server-message';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { CallContext, CallHandlers, EndpointResult, Endpoints } from '../feature.js';
import type { ApiHandler, ApiRequest } from '../gateway/context.js';
import { ApiError } from '../lib/api-error.js';
import { toVisitorText } from '../lib/carried-address.js';
import type { Clock } from '../lib/clock.js';
import { type Logger, OutageLog } from '../lib/logger.js';
import { createOwnAddresses } from '../lib/own-addresses.js';
import { type Actor, WP_CLI } from '../settings/audit-store.js';
import type { CallNonces } from '../storage/call-nonces.js';
import type { Sessions } from '../wordpress/session.js';
import type { Sender } from '../wordpress/site-origin.js';
import { authenticate, MAX_BODY_BYTES, parseBody, parseInput, readQuery } from './request.js';
import { sendFile, separateMessages, toApiError, toFailure } from './response.js';
import { checkSignedBody, readSignedCall, type SignedCallChecks } from './signed-calls.js';

/** A client that still sends its body after the response is disconnected after this time, milliseconds. */
const DRAIN_MS = 10_000;
/** How long a client may continue to send a body that is too large before it gets the response, milliseconds. */
const TOO_LARGE_MS = 2000;

interface CallState {
  readonly call: ApiRequest;
  /** The caller; undefined until the request is authenticated. */
  actor: Actor | undefined;
  /** SHA-256 that the body of a signed call must have; null for other calls. */
  bodyHash: string | null;
}

/** Running API requests, with the facts that the gateway computed. */
type Calls = WeakMap<IncomingMessage, CallState>;

export interface Api {
  readonly handle: ApiHandler;
  close(): Promise<void>;
}

/**
 * Creates the REST API. It has no listener: the gateway passes API requests to it. Routes are those of the contract;
 * each response is the contract's envelope, with the HTTP status of its `status`.
 */
export async function createApi(deps: {
  endpoints: Endpoints;
  sessions: Pick<Sessions, 'getUser'>;
  nonces: CallNonces;
  /** Resolves when every process of guard enforces what has changed until now. Default: there is only one. */
  whenApplied?: () => Promise<void>;
  clock: Clock;
  logger: Logger;
}): Promise<Api> {
  const { sessions } = deps;
  const checks = { nonces: deps.nonces, ownAddresses: createOwnAddresses(deps.clock), clock: deps.clock };
  const logFailure = createFailureLog(deps.logger, deps.clock);
  const calls: Calls = new WeakMap();
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    exposeHeadRoutes: true,
    routerOptions: { ignoreTrailingSlash: true },
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
    // The pretty path and rest_route have the same route. The namespace is the first segment, so that `/plugin` can't
    // clash.
    rewriteUrl: (request) => {
      const call = calls.get(request as IncomingMessage)?.call;
      return call ? `/${call.namespace}${call.route}${call.query === '' ? '' : `?${call.query}`}` : '/';
    },
    frameworkErrors: (error, request, reply) => refuse(logFailure, calls, error, request, reply),
  });

  const { whenApplied } = deps;
  if (whenApplied !== undefined) {
    app.addHook('onSend', async ({ method }) => {
      if (method !== 'GET' && method !== 'HEAD') await whenApplied();
    });
  }
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    checkSignedBody(getState(calls, request).bodyHash, body);
    return parseBody(body);
  });
  app.setNotFoundHandler((request, reply) => refuse(logFailure, calls, new ApiError('rest_no_route'), request, reply));
  app.setErrorHandler(async (error, request, reply) => {
    if (toApiError(error).code === 'body_too_large') await drainBody(request.raw, TOO_LARGE_MS);
    return refuse(logFailure, calls, error, request, reply);
  });
  mountEndpoints(app, { ...deps.endpoints, sessions, calls, checks });
  mountDownloads(app, { handlers: deps.endpoints.downloads, sessions, calls, logFailure });
  await app.ready();

  return {
    handle(request, response, call) {
      calls.set(request, { call, actor: undefined, bodyHash: null });
      // Bodies are JSON whatever their Content-Type. Without a type the framework would refuse some requests before
      // routing.
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

/** The contract's schemas check what comes in, so Fastify's compilers for JSON schemas are neither loaded nor bundled. */
function refuseSchema(): never {
  throw new Error('A route has a JSON schema: use a schema of the contract.');
}

function mountEndpoints(
  app: FastifyInstance,
  deps: Pick<Endpoints, 'handlers' | 'pages'> & {
    sessions: Pick<Sessions, 'getUser'>;
    calls: Calls;
    checks: SignedCallChecks;
  },
): void {
  const handlers: CallHandlers<ApiEndpoint> = {
    ...deps.handlers,
    fetchOptions: async ({ page }, context) => ({ data: await deps.pages[page](context), message: '' }),
  };
  for (const endpoint of endpoints) {
    // The type of `handlers` ensures one handler per name; each gets the output of its own schema.
    const handler = handlers[endpoint.name] as (
      input: unknown,
      context: CallContext,
    ) => Promise<EndpointResult<unknown>>;
    const { schema, listField }: EndpointRequest = requests[endpoint.name];
    const url = toRoute(endpoint);
    // Exactly the endpoints that change nothing allow GET, too.
    const changes = !(endpoint.methods as readonly string[]).includes('GET');
    app.route({
      method: [...endpoint.methods],
      url,
      onRequest: async (request) => {
        const state = getState(deps.calls, request);
        state.bodyHash = await readSignedCall(deps.checks, endpoint.name, request, state.call);
        if (state.bodyHash === null) {
          const user = await authenticate(deps.sessions, state.call, request.headers, changes, isConnected(request));
          state.actor = toActor(user, state.call);
        } else {
          state.actor = { id: null, login: WP_CLI, address: toVisitorText(state.call.address) };
          state.call.onRegisteredUser();
        }
      },
      handler: async (request, reply) => {
        // A body was verified before it was parsed.
        if (request.body === undefined) checkSignedBody(getState(deps.calls, request).bodyHash, NO_BODY);
        const input = parseInput(schema, getInput(listField, request, getState(deps.calls, request).call));
        const { data, message, setCookies = [] } = await handler(input, toLoginContext(deps.calls, request));
        if (setCookies.length > 0) reply.header('set-cookie', [...setCookies]);
        return send(reply, { data, message, status: 200 });
      },
    });
  }
  for (const url of new Set(endpoints.map(toRoute))) {
    const methods = endpoints
      .filter((endpoint) => toRoute(endpoint) === url)
      .flatMap((endpoint) => endpoint.methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])));
    app.options(url, (_request, reply) =>
      send(reply.header('allow', [...methods, 'OPTIONS'].join(', ')), { data: null, message: '', status: 200 }),
    );
  }
}

function mountDownloads(
  app: FastifyInstance,
  deps: { handlers: Endpoints['downloads']; sessions: Pick<Sessions, 'getUser'>; calls: Calls; logFailure: LogFailure },
): void {
  for (const download of downloads) {
    app.route({
      method: 'GET',
      // HEAD would create the whole file only for its headers.
      exposeHeadRoute: false,
      url: toRoute(download),
      onRequest: async (request) => {
        const state = getState(deps.calls, request);
        const user = await authenticate(deps.sessions, state.call, request.headers, false, isConnected(request));
        state.actor = toActor(user, state.call);
      },
      handler: async (request, reply) => {
        const { call } = getState(deps.calls, request);
        const input = parseInput(downloadRequests[download.name].schema, readQuery(call.query)) as never;
        const file = await deps.handlers[download.name](input, toLoginContext(deps.calls, request));
        return sendFile(reply, file, (error) => deps.logFailure(call, toApiError(error)));
      },
    });
  }
}

function isConnected({ raw }: FastifyRequest): () => boolean {
  return () => !raw.socket.destroyed;
}

const NO_BODY = new Uint8Array();

function toActor(user: { readonly id: number; readonly login: string }, call: ApiRequest): Actor {
  return { id: user.id, login: user.login, address: toVisitorText(call.address) };
}

/** Returns the site, the user and the browser of a request. */
function toLoginContext(calls: Calls, request: FastifyRequest): CallContext {
  const { call, actor } = getState(calls, request);
  if (!actor) throw new Error('A handler ran without authentication.');
  return {
    site: call.site,
    actor,
    visitor: { cookie: request.headers.cookie ?? '', sender: toSender(call) },
  };
}

/** Returns the route of an endpoint; `{id}` of the contract is a parameter. */
function toRoute(endpoint: Pick<Endpoint, 'suffix' | 'namespace'>): string {
  return `/${endpoint.namespace ?? 'plugin'}${endpoint.suffix.replace(/\{(\w+)\}/g, ':$1')}`;
}

/**
 * Returns the input of a request: body or query, overridden by the parameters of the path.
 * @param listField receives a bare list
 */
function getInput(listField: string | undefined, request: FastifyRequest, call: ApiRequest): unknown {
  const reads = request.method === 'GET' || request.method === 'HEAD';
  const sent = reads ? readQuery(call.query) : (request.body ?? absent(request));
  const named = listField !== undefined && Array.isArray(sent) ? { [listField]: sent } : sent;
  const isObject = typeof named === 'object' && named !== null && !Array.isArray(named);
  return isObject ? { ...named, ...(request.params as object) } : named;
}

/** Returns the input without a parsed body: an absent body is an empty object; the body `null` is null. */
function absent(request: FastifyRequest): unknown {
  return request.body === undefined ? {} : null;
}

function toSender({ host, scheme, address, requestId }: ApiRequest): Sender {
  return { host, scheme, address, requestId };
}

function getState(calls: Calls, request: FastifyRequest): CallState {
  const state = calls.get(request.raw);
  if (!state) throw new Error('The API was called past the proxy.');
  return state;
}

function send(reply: FastifyReply, body: WithMessages<Envelope<unknown>>): FastifyReply {
  const { json, texts } = separateMessages(body);
  return reply
    .code(body.status)
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(texts.length > 0 ? { ...(json as object), texts } : json));
}

function refuse(logFailure: LogFailure, calls: Calls, thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const error = toApiError(thrown);
  const failure = toFailure(error);
  if (failure.status >= 500) logFailure(calls.get(request.raw)?.call, error);
  return send(reply, failure);
}

/**
 * Reads and discards the rest of a body. If the connection were closed while the client still sends, it would be reset,
 * and the response might be lost (RFC 9112 section 9.6).
 */
function drainBody(request: IncomingMessage, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    request.once('end', end).once('close', end).resume();
  });
}

/** Logs requests that failed by no fault of the client; an outage that affects all requests is logged once. */
function createFailureLog(logger: Logger, clock: Clock): LogFailure {
  const outages = new OutageLog();
  return (call, error) => {
    const outage = OUTAGES.has(error.code);
    const unlogged = outage ? outages.record(`${call?.site.id} ${error.code}`, clock()) : 0;
    if (unlogged === null) return;
    const { code, cause: err } = error;
    const facts = { event: 'api-failed', code, site: call?.site.id, route: call?.route, request: call?.requestId, err };
    // Any client can keep WordPress busy with invented sessions, so this is no fault of the installation.
    const level = code === 'wordpress_busy' ? 'warn' : 'error';
    logger[level](unlogged > 0 ? { ...facts, unlogged } : facts, outage ? OUTAGE : 'A call of the API failed.');
  };
}

type LogFailure = (call: ApiRequest | undefined, error: ApiError) => void;

const OUTAGES: ReadonlySet<ErrorCode> = new Set([
  'wordpress_unreachable',
  'wordpress_busy',
  'connector_missing',
  'connector_redirected',
  'connector_outdated',
  'connector_other_secret',
]);
const OUTAGE = 'A call of the API failed; further ones that fail like this one are not logged.';
