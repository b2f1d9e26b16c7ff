/** Names a query. Equal lists of plain values name the same data. */
export type QueryKey = readonly (string | number | boolean | null)[];

export interface Query<Data> {
  readonly queryKey: QueryKey;
  /** Fetches the data. One that takes the signal is aborted when nobody waits for it any more. */
  readonly queryFn: (context: { readonly signal: AbortSignal }) => Promise<Data>;
  /** Milliseconds for which fetched data need not be asked for again by the next part that shows them. 0 by default. */
  readonly staleTime?: number;
  /** Whether a failure is tried again by the next part that wants the data. It is by default. */
  readonly retryOnMount?: boolean;
}

export interface QueryState<Data> {
  /** Undefined until it is known. Stays while it is fetched again, and when that fails. */
  readonly data: Data | undefined;
  /** Why the last attempt failed. */
  readonly error: unknown;
  readonly isFetching: boolean;
}

/** A part of the page that shows the data of a query. */
export interface Observer {
  readonly changed: () => void;
  /** How to fetch the data again, or null when this part does not want that. */
  readonly query: () => Query<unknown> | null;
}

/** What was fetched, by key, for as long as the page is open. */
export interface QueryClient {
  state<Data>(key: QueryKey): QueryState<Data>;
  getQueryData<Data>(key: QueryKey): Data | undefined;
  /** Stores known data. A function gets what is there; when it answers undefined, all stays as it is. */
  setQueryData<Data>(key: QueryKey, value: Data | ((old: Data | undefined) => Data | undefined)): void;
  /** Fetches unless fresh data are there or on their way. Failures are stored, not thrown. */
  prefetchQuery<Data>(query: Query<Data>): Promise<void>;
  /** Fetches even when data are there; a call for data that would be old by now is given up. Does not throw. */
  refetch<Data>(query: Query<Data>): Promise<void>;
  /** Fetches all again whose key begins so: at once what is shown, the others when they are shown next. */
  invalidateQueries(wanted: { readonly queryKey: QueryKey }): Promise<void>;
  /** @returns a function that ends it */
  observe(key: QueryKey, observer: Observer): () => void;
}

interface Run {
  readonly controller: AbortController;
  /** What stood there before. */
  readonly before: QueryState<unknown>;
  /** Whether the call listens to the signal. */
  abortable: boolean;
  end: Promise<void>;
}

interface Entry {
  readonly key: QueryKey;
  state: QueryState<unknown>;
  /** Milliseconds since 1970; -Infinity when it must be fetched again. */
  updatedAt: number;
  run: Run | null;
  readonly observers: Set<Observer>;
}

const NOTHING: QueryState<never> = { data: undefined, error: null, isFetching: false };

/** @param now milliseconds since 1970 */
export function createQueryClient(now: () => number = Date.now): QueryClient {
  const entries = new Map<string, Entry>();

  function entryOf(key: QueryKey): Entry {
    const name = JSON.stringify(key);
    let entry = entries.get(name);
    if (entry === undefined) {
      entry = { key, state: NOTHING, updatedAt: Number.NEGATIVE_INFINITY, run: null, observers: new Set() };
      entries.set(name, entry);
    }
    return entry;
  }

  function change(entry: Entry, state: QueryState<unknown>): void {
    entry.state = state;
    for (const { changed } of Array.from(entry.observers)) changed();
  }

  function start(entry: Entry, { queryFn }: Query<unknown>): Promise<void> {
    const controller = new AbortController();
    const run: Run = { controller, before: entry.state, abortable: false, end: Promise.resolve() };
    const context = {
      get signal() {
        run.abortable = true;
        return controller.signal;
      },
    };
    /** Whether nothing else took the place of this call. */
    function finish(): boolean {
      if (entry.run !== run) return false;
      entry.run = null;
      return true;
    }
    entry.run = run;
    const { data, error } = entry.state;
    change(entry, { data, error: data === undefined ? null : error, isFetching: true });
    run.end = queryFn(context).then(
      (fetched) => {
        if (!finish()) return;
        entry.updatedAt = now();
        change(entry, { data: fetched, error: null, isFetching: false });
      },
      (failure: unknown) => {
        if (finish()) change(entry, { data: entry.state.data, error: failure, isFetching: false });
      },
    );
    return run.end;
  }

  function refetch(entry: Entry, query: Query<unknown>): Promise<void> {
    if (entry.run === null) return start(entry, query);
    if (entry.state.data === undefined) return entry.run.end;
    entry.run.controller.abort();
    return start(entry, query);
  }

  /** Nobody waits for the answer any more. */
  function giveUp(entry: Entry): void {
    const { run } = entry;
    if (run === null || !run.abortable) return;
    entry.run = null;
    entry.state = { ...run.before, data: entry.state.data };
    run.controller.abort();
  }

  return {
    state: <Data>(key: QueryKey) => entryOf(key).state as QueryState<Data>,
    getQueryData: <Data>(key: QueryKey) => entryOf(key).state.data as Data | undefined,
    setQueryData<Data>(key: QueryKey, value: Data | ((old: Data | undefined) => Data | undefined)) {
      const entry = entryOf(key);
      const old = entry.state.data as Data | undefined;
      const data = typeof value === 'function' ? (value as (old: Data | undefined) => Data | undefined)(old) : value;
      if (data === undefined) return;
      entry.updatedAt = now();
      change(entry, { data, error: null, isFetching: entry.state.isFetching });
    },
    prefetchQuery(query) {
      const entry = entryOf(query.queryKey);
      if (entry.run !== null) return entry.run.end;
      const { data, error } = entry.state;
      const isFresh = data !== undefined && now() - entry.updatedAt < (query.staleTime ?? 0);
      const isFinal = data === undefined && error !== null && query.retryOnMount === false;
      return isFresh || isFinal ? Promise.resolve() : start(entry, query);
    },
    refetch: (query) => refetch(entryOf(query.queryKey), query),
    async invalidateQueries({ queryKey }) {
      const begun = Array.from(entries.values())
        .filter(({ key }) => queryKey.every((part, index) => key[index] === part))
        .map((entry) => {
          entry.updatedAt = Number.NEGATIVE_INFINITY;
          const query = Array.from(entry.observers, (observer) => observer.query()).find((one) => one !== null);
          if (query == null) return undefined;
          // Also when it is the first one that is on its way: it may say what was true before.
          entry.run?.controller.abort();
          return start(entry, query);
        });
      await Promise.all(begun);
    },
    observe(key, observer) {
      const entry = entryOf(key);
      entry.observers.add(observer);
      return () => {
        entry.observers.delete(observer);
        if (entry.observers.size === 0) giveUp(entry);
      };
    },
  };
}
