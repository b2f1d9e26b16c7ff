import type { QueryClient } from '@tanstack/react-query';
import type { ApiCall, PreloadedResponses, RawResponse } from './client.js';

/** A request that the loader script sent before this bundle ran (app/loader-script.js). */
export interface PreloadedRequest {
  readonly suffix: string;
  readonly body: string;
  readonly nonce: string;
  readonly response: Promise<RawResponse>;
  readonly hasArrived: boolean;
}

/** Requests of the loader script, in `window.securityOptimizerPreloaded`. */
export interface Preloaded {
  readonly page: string;
  readonly requests: readonly PreloadedRequest[];
}

/** A query for the data that a page shows first, and its request. */
export interface InitialQuery {
  readonly call: ApiCall;
  /** Fills the cache. Does not throw. */
  readonly prefetch: (queries: QueryClient) => Promise<void>;
}

/** @param preloaded requests of the loader script; undefined if it sent none */
export function createPreloadedResponses(preloaded: Preloaded | undefined): PreloadedResponses {
  const remaining = new Set(preloaded?.requests ?? []);

  function find({ suffix, namespace, method, query, body = {} }: ApiCall): PreloadedRequest | undefined {
    if (namespace !== undefined || method !== undefined || query !== undefined) return undefined;
    const text = JSON.stringify(body);
    return Array.from(remaining).find((request) => request.suffix === suffix && request.body === text);
  }

  return {
    hasArrived: (call) => find(call)?.hasArrived === true,
    take(call, nonce, signal) {
      const request = find(call);
      if (request === undefined) return null;
      remaining.delete(request);
      // The nonce was renewed since then; the response to the old one may be an error.
      if (request.nonce !== nonce) return null;
      return new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('The request was cancelled.')));
        request.response.then(resolve, reject);
      });
    },
  };
}
