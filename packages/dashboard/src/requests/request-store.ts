export type RequestState = 'idle' | 'started' | 'succeeded' | 'failed';

/** Life cycle of every request by its name: started, then succeeded or failed (specification section 4). */
export interface RequestStore {
  subscribe(listener: () => void): () => void;
  state(name: string): RequestState;
  /** Whether any request, or any of the named ones, has started and not ended. */
  isRunning(names?: readonly string[]): boolean;
  started(name: string): void;
  ended(name: string, state: 'succeeded' | 'failed'): void;
}

export function createRequestStore(): RequestStore {
  const states = new Map<string, { state: RequestState; running: number }>();
  const listeners = new Set<() => void>();

  function set(name: string, state: RequestState, change: 1 | -1): void {
    const running = (states.get(name)?.running ?? 0) + change;
    // The same name may run twice at a time; it is over when the last one has ended.
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
