import { API_NAMESPACE } from '@security-optimizer/contract/endpoint';
import { messages } from '@security-optimizer/contract/messages';
import * as z from 'zod/mini';
import { translateTexts } from '../i18n/server-message.js';

/** Status of a response whose body is not JSON (specification section 8). */
const STATUS_NOT_JSON = 555;

export interface Api {
  /**
   * Sends a request. If the nonce has expired, renews it and repeats the request once.
   *
   * @throws ApiFailure
   */
  call<Data>(call: ApiCall): Promise<ApiResponse<Data>>;
  /** URL of a GET request for a link, with the current nonce in its query. */
  link(suffix: string, query: Query): string;
}

/** The REST client of one wp-admin page. */
export function createApi(transport: Transport, nonce: { readonly first: string; readonly url: string }): Api {
  const nonces = createNonceStore(nonce.first, new URL(nonce.url, transport.address).href, transport.fetch);

  return {
    link: (suffix, query) =>
      restUrl(
        transport.restBase,
        `${API_NAMESPACE}${suffix}`,
        { ...query, _wpnonce: nonces.current() },
        transport.address,
      ),
    async call<Data>(call: ApiCall) {
      const used = nonces.current();
      try {
        return await send<Data>(call, used, transport);
      } catch (error) {
        if (!isStaleNonce(error)) throw error;
        const renewal = await nonces.renew(used);
        if (renewal === 'renewed') return send<Data>(call, nonces.current(), transport);
        throw new ApiFailure(renewal === 'gone' ? 'session_gone' : 'no_response', { cause: error });
      }
    },
  };
}

function isStaleNonce(error: unknown): boolean {
  return error instanceof ApiFailure && error.status === 403 && error.code === 'rest_cookie_invalid_nonce';
}

export type Fetch = typeof globalThis.fetch;

export interface ApiCall {
  /** Path below the namespace, for example `/xss-protection`. */
  readonly suffix: string;
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Namespace below the REST root; the default is the plugin's own. */
  readonly namespace?: string;
  readonly query?: Query;
  /** Sent as JSON, except with GET and DELETE. */
  readonly body?: unknown;
  /** Timeout in milliseconds. */
  readonly timeout?: number;
  /** Cancels the request; it then fails as `cancelled`, without a message. */
  readonly signal?: AbortSignal;
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
 * @throws ApiFailure
 */
export async function send<Data>(call: ApiCall, nonce: string, transport: Transport): Promise<ApiResponse<Data>> {
  const abort = new AbortController();
  const stop = (): void => abort.abort();
  const timer = setTimeout(stop, call.timeout ?? DEFAULT_TIMEOUT_MS);
  call.signal?.addEventListener('abort', stop);
  if (call.signal?.aborted) stop();
  try {
    const preloaded = transport.preloaded?.take(call, nonce, abort.signal);
    const { status, body } = await (preloaded ?? request(call, nonce, transport, abort.signal));
    return parseResponse<Data>(body, status);
  } catch (error) {
    if (call.signal?.aborted) throw new ApiFailure('cancelled', { cause: error });
    if (error instanceof ApiFailure) throw error;
    throw new ApiFailure('no_response', { cause: error });
  } finally {
    clearTimeout(timer);
    call.signal?.removeEventListener('abort', stop);
  }
}

/** The loader script sends preloaded requests in the same format. */
async function request(call: ApiCall, nonce: string, transport: Transport, signal: AbortSignal): Promise<RawResponse> {
  const method = call.method ?? 'POST';
  const hasBody = method !== 'GET' && method !== 'DELETE';
  const route = `${call.namespace ?? API_NAMESPACE}${call.suffix}`;
  const url = restUrl(transport.restBase, route, call.query ?? {}, transport.address);
  const response = await transport.fetch(url, {
    method,
    credentials: 'include',
    signal,
    headers: {
      Accept: 'application/json',
      'X-WP-Nonce': nonce,
      ...(hasBody ? { 'Content-Type': 'application/json' } : {}),
    },
    ...(hasBody ? { body: JSON.stringify(call.body ?? {}) } : {}),
  });
  return { status: response.status, body: await response.text() };
}

/** `gone`: the WordPress session has ended. `unknown`: the request failed. */
export type Renewal = 'renewed' | 'gone' | 'unknown';

export interface NonceStore {
  current(): string;
  /** Replaces `stale` by a new nonce. Concurrent callers share one request. */
  renew(stale: string): Promise<Renewal>;
}

/** A WordPress nonce has ten letters and digits; plugins may make longer ones. '0' and '-1' mean no session. */
const NONCE = /^[A-Za-z0-9]{8,64}$/;

/** Holds the nonce of the WordPress session and renews it on demand. */
export function createNonceStore(first: string, nonceUrl: string, fetch: Fetch): NonceStore {
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

export interface ApiResponse<Data> {
  readonly data: Data;
  readonly message: string;
  readonly notification: ServerNotification;
}

/**
 * Parses a response body (specification sections 7 and 8). A request succeeded only if the body's field `status` is the
 * number 200.
 *
 * @param httpStatus used when the body has no status
 * @throws ApiFailure
 */
export function parseResponse<Data>(body: string, httpStatus: number): ApiResponse<Data> {
  const parsed = z.safeParse(bodySchema, parseJson(body)).data ?? EMPTY_BODY;
  const { message } = parsed;
  const notification = withoutEmpty(parsed.metadata.notification);
  if (parsed.status === 200) return { data: parsed.data as Data, message, notification };
  throw new ApiFailure('refused', {
    status: getStatus(parsed, httpStatus),
    message,
    code: parsed.code,
    fields: parsed.fields,
    notification,
  });
}

const text = z.catch(z.string(), '');
const notifications = z.object({ success: text, error: text });
const NO_NOTIFICATIONS = { success: '', error: '' };

/** Any JSON body: errors of WordPress have this shape too, and other plugins may respond as well. */
const bodySchema = z.object({
  status: z.optional(z.unknown()),
  data: z.optional(z.unknown()),
  message: text,
  code: text,
  fields: z.catch(z.record(z.string(), text), {}),
  metadata: z.catch(z.object({ notification: z.catch(notifications, NO_NOTIFICATIONS) }), {
    notification: NO_NOTIFICATIONS,
  }),
});
const EMPTY_BODY: z.output<typeof bodySchema> = z.parse(bodySchema, {});

function parseJson(body: string): unknown {
  try {
    const parsed: unknown = JSON.parse(body);
    translateTexts(parsed);
    return parsed;
  } catch (cause) {
    throw new ApiFailure('not_json', { status: STATUS_NOT_JSON, message: messages.notJson, cause });
  }
}

/** Errors of WordPress have the status inside `data`. */
function getStatus({ status, data }: z.output<typeof bodySchema>, httpStatus: number): number {
  const inner = z.safeParse(z.object({ status: z.optional(z.unknown()) }), data).data?.status;
  const read = Number(status ?? inner);
  return Number.isInteger(read) ? read : httpStatus;
}

function withoutEmpty({ success, error }: z.output<typeof notifications>): ServerNotification {
  return { ...(success === '' ? {} : { success }), ...(error === '' ? {} : { error }) };
}

/** Texts that the server may send to replace the request's own texts. */
export interface ServerNotification {
  readonly success?: string;
  readonly error?: string;
}

/**
 * - `no_response`: no complete response in time; the change may have been made
 * - `not_json`: the response is not JSON (status 555)
 * - `refused`: the server responded with a status other than 200
 * - `session_gone`: the WordPress session has ended
 * - `cancelled`: the caller cancelled the request
 */
export type FailureKind = 'no_response' | 'not_json' | 'refused' | 'session_gone' | 'cancelled';

/** A failed request. `message` is the server's text or ''. */
export class ApiFailure extends Error {
  readonly kind: FailureKind;
  readonly status: number;
  readonly code: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly notification: ServerNotification;

  constructor(
    kind: FailureKind,
    details: {
      status?: number;
      message?: string;
      code?: string;
      fields?: Readonly<Record<string, string>>;
      notification?: ServerNotification;
      cause?: unknown;
    } = {},
  ) {
    super(details.message ?? '', { cause: details.cause });
    this.name = 'ApiFailure';
    this.kind = kind;
    this.status = details.status ?? 0;
    this.code = details.code ?? '';
    this.fields = details.fields ?? {};
    this.notification = details.notification ?? {};
  }
}
