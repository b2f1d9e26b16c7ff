import { createContext, useContext } from 'react';
import type { RequestEvents } from '../api/client.js';
import {
  failureMessage,
  type OutcomeMessage,
  SESSION_MESSAGE,
  sessionMessage,
  successMessage,
} from '../api/outcome-messages.js';
import type { ToastStore } from '../ui/toast-store.js';

/**
 * Creates the listener to tracked requests: it keeps their state, and shows the toasts of the specification (section
 * 8). A cancelled request shows none.
 */
export function createRequestEvents(parts: {
  readonly requests: RequestStore;
  readonly toasts: Pick<ToastStore, 'show' | 'closeKey'>;
  readonly loginUrl: string;
}): RequestEvents {
  const { requests, toasts, loginUrl } = parts;

  function show(message: OutcomeMessage | null, key: string): void {
    if (message !== null) toasts.show({ key, ...message });
  }

  return {
    started(name) {
      requests.started(name);
      toasts.closeKey(name);
    },
    succeeded(name, response, { silent, successText, successMessage: own }) {
      requests.ended(name, 'succeeded');
      if (silent) return;
      toasts.closeKey(SESSION_MESSAGE);
      const { data, message } = response;
      const text = typeof successText === 'function' ? successText(data, message) : successText;
      show(own?.(data, message) ?? successMessage(text, response), name);
    },
    failed(name, error, { silent, errorText }) {
      requests.ended(name, 'failed');
      if (silent || error.kind === 'cancelled') return;
      show(error.kind === 'session_gone' ? sessionMessage(loginUrl) : failureMessage(error, errorText), name);
    },
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
