import { createContext, useContext } from 'react';
import type { ApiClient } from '../api/client.js';
import { ApiError } from '../api/envelope.js';
import { failureMessage, SESSION_MESSAGE, sessionMessage, successMessage } from '../api/outcome-messages.js';
import type { RunRequest, TrackedRequest } from '../forms/tracked-requests.js';
import type { Toast, ToastStore } from '../ui/toast-store.js';

/**
 * Creates the function that runs the dashboard's requests: tracks their state, shows the toasts of the specification
 * (section 8), and calls the callbacks.
 */
export function createRunRequest(parts: {
  readonly client: Pick<ApiClient, 'call'>;
  readonly requests: RequestStore;
  readonly toasts: Pick<ToastStore, 'show' | 'closeKey'>;
  readonly loginUrl: string;
}): RunRequest {
  const { client, requests, toasts, loginUrl } = parts;

  function show(toast: Toast | null, key: string): void {
    if (toast !== null) toasts.show({ key, ...toast });
  }

  return async function runRequest<Data>(request: TrackedRequest<Data>): Promise<Data> {
    const { call, name = call.endpoint.name, successText } = request;
    requests.started(name);
    toasts.closeKey(name);
    try {
      const response = await client.call<Data>(call);
      requests.ended(name, 'succeeded');
      toasts.closeKey(SESSION_MESSAGE);
      const own = typeof successText === 'function' ? successText(response.data, response.message) : successText;
      show(request.successToast?.(response.data, response.message) ?? successMessage(own, response), name);
      request.onSuccess?.(response.data);
      return response.data;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      requests.ended(name, 'failed');
      if (error.kind === 'cancelled') throw error;
      show(error.kind === 'session_gone' ? sessionMessage(loginUrl) : failureMessage(error, request.errorText), name);
      request.onFailure?.(error);
      throw error;
    } finally {
      request.onComplete?.();
    }
  };
}

export type RequestState = 'idle' | 'started' | 'succeeded' | 'failed';

/** State of each request by its name (specification section 4). */
export interface RequestStore {
  subscribe(listener: () => void): () => void;
  state(name: string): RequestState;
  /** Whether any request, or any of the named ones, is running. */
  isRunning(names?: readonly string[]): boolean;
  started(name: string): void;
  ended(name: string, state: 'succeeded' | 'failed'): void;
}

export function createRequestStore(): RequestStore {
  const states = new Map<string, { state: RequestState; running: number }>();
  const listeners = new Set<() => void>();

  function set(name: string, state: RequestState, change: 1 | -1): void {
    const running = (states.get(name)?.running ?? 0) + change;
    // Requests with the same name may overlap.
    states.set(name, { state: running > 0 ? 'started' : state, running });
    for (const listener of listeners) listener();
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    state: (name) => states.get(name)?.state ?? 'idle',
    isRunning(names) {
      for (const [name, { running }] of states) {
        if (running > 0 && (names === undefined || names.includes(name))) return true;
      }
      return false;
    },
    started: (name) => set(name, 'started', 1),
    ended: (name, state) => set(name, state, -1),
  };
}

export const RequestStoreContext = createContext<RequestStore | null>(null);

export function useRequestStore(): RequestStore {
  const requests = useContext(RequestStoreContext);
  if (requests === null) throw new Error('useRequestStore needs a RequestStoreContext above it.');
  return requests;
}
