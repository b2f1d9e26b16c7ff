import type { QueryClient } from '@tanstack/react-query';
import { type ApiCall, type PreloadedResponses, type RawResponse, toPathAndBody } from './client.js';

/** A request that the bootstrap script sent before this bundle ran (app/bootstrap.js). */
export interface PreloadedRequest {
  readonly suffix: string;
  readonly body: string;
  readonly nonce: string;
  readonly response: Promise<RawResponse>;
  readonly hasArrived: boolean;
}

/** Requests of the bootstrap script, in `window.securityOptimizerPreloaded`. */
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

/** @param preloaded requests of the bootstrap script; undefined if it sent none */
export function createPreloadedResponses(preloaded: Preloaded | undefined): PreloadedResponses {
  const remaining = new Set(preloaded?.requests ?? []);

  function find(call: ApiCall): PreloadedRequest | undefined {
    const { namespace, methods } = call.endpoint;
    if (namespace !== undefined || methods[0] !== 'POST') return undefined;
    const { path, body } = toPathAndBody(call);
    return Array.from(remaining).find((request) => request.suffix === path && request.body === body);
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
