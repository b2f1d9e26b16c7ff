import { API_NAMESPACE } from '@security-optimizer/contract/paths';
import { ApiFailure } from './api-failure.js';
import { createNonceKeeper } from './nonce.js';
import type { Answer } from './read-answer.js';
import { type Query, restUrl } from './rest-url.js';
import { type ApiCall, send, type Transport } from './send.js';

export interface Api {
  /**
   * Sends a call. When the nonce has grown old, gets a new one and repeats the call once.
   *
   * @throws ApiFailure
   */
  call<Data>(call: ApiCall): Promise<Answer<Data>>;
  /** Address of a call that a link can follow: with the nonce of the moment in its query. */
  link(suffix: string, query: Query): string;
}

/** The client of the REST API for one open wp-admin page. */
export function createApi(transport: Transport, nonce: { readonly first: string; readonly url: string }): Api {
  const nonces = createNonceKeeper(nonce.first, new URL(nonce.url, transport.address).href, transport.fetch);

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
