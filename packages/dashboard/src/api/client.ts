import { API_NAMESPACE, type Endpoint, PROVIDER_NAMESPACE } from '@security-optimizer/contract/endpoint';
import type { EndpointName } from '@security-optimizer/contract/endpoints';
import type { RequestOf } from '@security-optimizer/contract/requests';
import { ApiError, type ApiResponse, parseEnvelope } from './envelope.js';
import type { OutcomeMessage } from './outcome-messages.js';

export interface ApiClient {
  /**
   * Sends a request. If the nonce has expired, renews it and repeats the request once.
   *
   * @param tracking what to tell the owner; without it nobody is told, as for polls, searches and repeated fetches
   * @throws ApiError
   */
  call<Data>(call: ApiCall, tracking?: Tracking<Data>): Promise<ApiResponse<Data>>;
  /** URL of a download for a link, with the current nonce in its query. */
  link(download: { readonly suffix: string }, query: Query): string;
}

/** What is told about a request whose start and end are tracked (specification sections 4 and 8). */
export interface Tracking<Data = unknown> {
  /** Name of the request. Default: the one of the endpoint. */
  readonly name?: string;
  /** Only the state is tracked; the place of the request shows its outcome. */
  readonly silent?: true;
  /** Success text; may depend on the response's data and message. */
  readonly successText?: string | ((data: Data, message: string) => string);
  /** The message of success. Default, and for null: one with `successText` and the server's message. */
  readonly successMessage?: (data: Data, message: string) => OutcomeMessage | null;
  /** Error text; takes precedence over all texts of the server. */
  readonly errorText?: string;
}

/** A request with the usual messages. */
export const TRACKED = {} as const;
/** A request whose place shows its outcome. */
export const SILENT = { silent: true } as const;

/** Is told about tracked requests, before the caller gets the outcome. */
export interface RequestEvents {
  started(name: string): void;
  succeeded<Data>(name: string, response: ApiResponse<Data>, tracking: Tracking<Data>): void;
  /** Also called for cancelled requests. */
  failed(name: string, error: ApiError, tracking: Pick<Tracking, 'silent' | 'errorText'>): void;
}

/** The REST client of one wp-admin page. */
export function createApiClient(
  transport: Transport,
  nonce: { readonly first: string; readonly url: string },
  events: RequestEvents,
): ApiClient {
  const nonces = createNonceStore(nonce.first, new URL(nonce.url, transport.address).href, transport.fetch);

  async function sendWithNonce<Data>(call: ApiCall): Promise<ApiResponse<Data>> {
    const used = nonces.current();
    try {
      return await send<Data>(call, used, transport);
    } catch (error) {
      if (!isStaleNonce(error)) throw error;
      const renewal = await nonces.renew(used);
      if (renewal === 'renewed') return send<Data>(call, nonces.current(), transport);
      throw new ApiError(renewal === 'gone' ? 'session_gone' : 'no_response', { cause: error });
    }
  }

  return {
    link: ({ suffix }, query) =>
      restUrl(
        transport.restBase,
        `${API_NAMESPACE}${suffix}`,
        { ...query, _wpnonce: nonces.current() },
        transport.address,
      ),
    async call<Data>(call: ApiCall, tracking?: Tracking<Data>) {
      if (tracking === undefined) return sendWithNonce<Data>(call);
      const name = tracking.name ?? call.endpoint.name;
      events.started(name);
      const response = await sendWithNonce<Data>(call).catch((error: ApiError) => {
        events.failed(name, error, tracking);
        throw error;
      });
      events.succeeded(name, response, tracking);
      return response;
    },
  };
}

function isStaleNonce(error: unknown): boolean {
  return error instanceof ApiError && error.status === 403 && error.code === 'rest_cookie_invalid_nonce';
}

export type Fetch = typeof globalThis.fetch;

/** An endpoint and what is sent to it. `toCall` makes it and checks the types. */
export interface ApiCall {
  readonly endpoint: Pick<Endpoint, 'name' | 'suffix' | 'namespace' | 'methods'>;
  readonly request: object;
  /** Timeout in milliseconds. */
  readonly timeout?: number;
  /** Cancels the request; it then fails as `cancelled`, without a message. */
  readonly signal?: AbortSignal;
}

/** A call of an endpoint. @param request its body; a field `id` becomes part of the path */
export function toCall<Name extends EndpointName>(
  endpoint: Endpoint<Name>,
  request: RequestOf<Name>,
  options: Pick<ApiCall, 'timeout' | 'signal'> = {},
): ApiCall {
  return { endpoint, request, ...options };
}

export interface Transport {
  readonly restBase: string;
  /** URL of the page, the base of relative URLs. */
  readonly address: string;
  readonly fetch: Fetch;
  /** Responses to requests that were sent before the client ran. */
  readonly preloaded?: PreloadedResponses | undefined;
}

/** A response before it is parsed. */
export interface RawResponse {
  readonly status: number;
  readonly body: string;
}

export interface PreloadedResponses {
  /** Whether the response to a request has arrived. */
  hasArrived(call: ApiCall): boolean;
  /** Takes the response to a request, or null if none was preloaded. Each response is taken only once. */
  take(call: ApiCall, nonce: string, signal: AbortSignal): Promise<RawResponse> | null;
}

/** Longer than guard's timeout for WordPress, so that guard's error message arrives first. */
const DEFAULT_TIMEOUT_MS = 90_000;

/**
 * Sends one request, without a retry.
 *
 * @throws ApiError
 */
async function send<Data>(call: ApiCall, nonce: string, transport: Transport): Promise<ApiResponse<Data>> {
  const abort = new AbortController();
  const stop = (): void => abort.abort();
  const timer = setTimeout(stop, call.timeout ?? DEFAULT_TIMEOUT_MS);
  call.signal?.addEventListener('abort', stop);
  if (call.signal?.aborted) stop();
  try {
    const preloaded = transport.preloaded?.take(call, nonce, abort.signal);
    const { status, body } = await (preloaded ?? fetchResponse(call, nonce, transport, abort.signal));
    return parseEnvelope<Data>(body, status);
  } catch (error) {
    if (call.signal?.aborted) throw new ApiError('cancelled', { cause: error });
    if (error instanceof ApiError) throw error;
    throw new ApiError('no_response', { cause: error });
  } finally {
    clearTimeout(timer);
    call.signal?.removeEventListener('abort', stop);
  }
}

/** Path and body of a call, as they are sent. */
export function toPathAndBody({ endpoint, request }: ApiCall): { readonly path: string; readonly body: string } {
  const { id, ...others } = request as { readonly id?: unknown };
  const hasId = endpoint.suffix.endsWith('{id}');
  return {
    path: hasId ? endpoint.suffix.replace('{id}', () => encodeURIComponent(String(id))) : endpoint.suffix,
    body: JSON.stringify(hasId ? others : request),
  };
}

/** The bootstrap script sends preloaded requests in the same format. */
async function fetchResponse(
  call: ApiCall,
  nonce: string,
  transport: Transport,
  signal: AbortSignal,
): Promise<RawResponse> {
  const { namespace, methods } = call.endpoint;
  const { path, body } = toPathAndBody(call);
  const [method = 'POST'] = methods;
  const hasBody = method !== 'GET';
  const route = (namespace === 'provider' ? PROVIDER_NAMESPACE : API_NAMESPACE) + path;
  const response = await transport.fetch(restUrl(transport.restBase, route, {}, transport.address), {
    method,
    credentials: 'include',
    signal,
    headers: {
      Accept: 'application/json',
      'X-WP-Nonce': nonce,
      ...(hasBody ? { 'Content-Type': 'application/json' } : {}),
    },
    ...(hasBody ? { body } : {}),
  });
  return { status: response.status, body: await response.text() };
}

/** `gone`: the WordPress session has ended. `unknown`: the request failed. */
type Renewal = 'renewed' | 'gone' | 'unknown';

interface NonceStore {
  current(): string;
  /** Replaces `stale` by a new nonce. Concurrent callers share one request. */
  renew(stale: string): Promise<Renewal>;
}

/** A WordPress nonce has ten letters and digits; plugins may make longer ones. '0' and '-1' mean no session. */
const NONCE = /^[A-Za-z0-9]{8,64}$/;

/** Holds the nonce of the WordPress session and renews it on demand. */
function createNonceStore(first: string, nonceUrl: string, fetch: Fetch): NonceStore {
  let nonce = first;
  let running: Promise<Renewal> | null = null;

  async function ask(): Promise<Renewal> {
    try {
      const response = await fetch(nonceUrl, { credentials: 'include', headers: { Accept: 'text/plain' } });
      if (response.status >= 500) return 'unknown';
      const text = (await response.text()).trim();
      if (!response.ok || !NONCE.test(text)) return 'gone';
      nonce = text;
      return 'renewed';
    } catch {
      return 'unknown';
    } finally {
      running = null;
    }
  }

  return {
    current: () => nonce,
    renew(stale) {
      if (stale !== nonce) return Promise.resolve('renewed');
      running ??= ask();
      return running;
    },
  };
}

/** Query parameters; undefined values are skipped. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/**
 * URL of a route below the REST root. The root is a path (`https://x/wp-json/`) or, with plain permalinks, a query
 * (`https://x/index.php?rest_route=/`). Slashes of the route are not encoded.
 *
 * @param root REST root, absolute or relative to `base`
 * @param route namespace and suffix, for example `security-optimizer/v1/fetch-options`
 * @param base URL of the page
 */
export function restUrl(root: string, route: string, query: Query, base: string): string {
  const url = new URL(root, base);
  const path = route.replace(/^\/+/, '');
  const inQuery = /([?&]rest_route=)([^&]*)/;
  if (inQuery.test(url.search)) {
    url.search = url.search.replace(inQuery, (_all, name: string, value: string) => {
      return `${name}${value.replace(/(?:\/|%2F)+$/i, '')}/${path}`;
    });
  } else {
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`;
  }
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    const pair = `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`;
    url.search = url.search === '' ? `?${pair}` : `${url.search}&${pair}`;
  }
  return url.href;
}
