import { API_NAMESPACE } from '@security-optimizer/contract/paths';
import type { EarlyAnswers, RawAnswer } from '../early/early-answers.js';
import { ApiFailure } from './api-failure.js';
import { type Answer, readAnswer } from './read-answer.js';
import { type Query, restUrl } from './rest-url.js';

export type Fetch = typeof globalThis.fetch;

export interface ApiCall {
  /** Path below the namespace, for example `/xss-protection`. */
  readonly suffix: string;
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Namespace on the REST root; the plugin's own unless said otherwise. */
  readonly namespace?: string;
  readonly query?: Query;
  /** Sent as JSON, except with GET and DELETE. */
  readonly body?: unknown;
  /** Milliseconds until the call counts as unanswered. */
  readonly timeout?: number;
  /** Ends the call early; it then fails as cancelled, and nobody is told. */
  readonly signal?: AbortSignal;
}

export interface Transport {
  readonly restBase: string;
  /** Address of the page that is open; relative addresses start from it. */
  readonly address: string;
  readonly fetch: Fetch;
  /** Answers of calls that were sent before the client ran. */
  readonly early?: EarlyAnswers | undefined;
}

/** Longer than guard waits for WordPress, so that guard's own explanation comes first. */
const DEFAULT_TIMEOUT_MS = 90_000;

/**
 * Sends one call once.
 *
 * @throws ApiFailure
 */
export async function send<Data>(call: ApiCall, nonce: string, transport: Transport): Promise<Answer<Data>> {
  const abort = new AbortController();
  const stop = (): void => abort.abort();
  const timer = setTimeout(stop, call.timeout ?? DEFAULT_TIMEOUT_MS);
  call.signal?.addEventListener('abort', stop);
  if (call.signal?.aborted) stop();
  try {
    const early = transport.early?.take(call, nonce, abort.signal);
    const { status, body } = await (early ?? ask(call, nonce, transport, abort.signal));
    return readAnswer<Data>(body, status);
  } catch (error) {
    if (call.signal?.aborted) throw new ApiFailure('cancelled', { cause: error });
    if (error instanceof ApiFailure) throw error;
    throw new ApiFailure('no_response', { cause: error });
  } finally {
    clearTimeout(timer);
    call.signal?.removeEventListener('abort', stop);
  }
}

/** The loader sends early calls in the same form. */
async function ask(call: ApiCall, nonce: string, transport: Transport, signal: AbortSignal): Promise<RawAnswer> {
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
