import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiFailure } from '../../../api/api-failure.js';
import { ignoreFailure } from '../../../options/use-changes.js';
import { useServices } from '../../../services.js';
import { type Applied, filterBody } from './applied.js';
import type { LogRows } from './read-list.js';

/** A list of the log, as the contract has it. */
export interface ListSource<Row> {
  /** Name of the request. */
  readonly name: string;
  readonly suffix: string;
  readonly read: (data: unknown) => LogRows<Row> | null;
}

/** What is being fetched: the first page of another choice, the first page again, or the next one. */
export type Fetching = 'first' | 'again' | 'more' | null;

export interface LogList<Row> {
  /** Null until the first answer. While another choice is fetched it is still that of the one before. */
  readonly rows: LogRows<Row> | null;
  /** The rows are those of the present choice. */
  readonly isCurrent: boolean;
  readonly fetching: Fetching;
  /** Why there is nothing to show, or why the next page did not come. */
  readonly failure: ApiFailure | null;
  /** Id of the first row that the last "Load More" added. */
  readonly firstAdded: string | null;
  /** Fetches the first page again; the rows stay on the screen meanwhile. */
  readonly reload: () => void;
  /** Fetches the first page anew after it did not come. */
  readonly retry: () => void;
  readonly loadMore: () => void;
}

interface State<Row> extends Pick<LogList<Row>, 'rows' | 'fetching' | 'failure' | 'firstAdded'> {
  /** The choice that the rows belong to. */
  readonly of: Applied | null;
}

/**
 * The rows of a list by what it is filtered by. One request runs at a time: a newer one cancels the older one, so
 * that a slow answer never takes the place of a newer one; so does leaving the list.
 */
export function useLogList<Row extends { readonly id: string | number }>(
  source: ListSource<Row>,
  applied: Applied,
): LogList<Row> {
  const { run } = useServices();
  const [state, setState] = useState<State<Row>>({
    rows: null,
    of: null,
    fetching: 'first',
    failure: null,
    firstAdded: null,
  });
  const latest = useRef({ state, applied });
  latest.current = { state, applied };
  const running = useRef<AbortController | null>(null);

  const load = useCallback(
    async (kind: 'first' | 'again' | 'more') => {
      running.current?.abort();
      const abort = new AbortController();
      running.current = abort;
      const { applied: wanted, state: now } = latest.current;
      const before = now.rows;
      setState((last) => ({ ...last, fetching: kind, failure: null }));
      try {
        const page = kind === 'more' && before !== null ? before.page + 1 : 1;
        const cursor = kind === 'more' ? before?.cursor : null;
        const body = { page, ...filterBody(wanted), ...(cursor ? { cursor } : {}) };
        const data = await run<unknown>({
          name: source.name,
          call: { suffix: source.suffix, body, signal: abort.signal },
        });
        if (abort.signal.aborted) return;
        const answer = source.read(data);
        if (answer === null) throw new ApiFailure('refused');
        const rows = kind === 'more' && before !== null ? withAdded(before, answer) : answer;
        const firstAdded = kind === 'more' ? rows.entries[before?.entries.length ?? 0]?.id : undefined;
        setState({
          rows,
          of: wanted,
          fetching: null,
          failure: null,
          firstAdded: firstAdded === undefined ? null : String(firstAdded),
        });
      } catch (error) {
        ignoreFailure(error);
        if (abort.signal.aborted) return;
        // Rows that are shown and could not be read again stay; the request's own message has said so.
        const failure = kind === 'again' && latest.current.state.of === wanted ? null : (error as ApiFailure);
        setState((last) => ({ ...last, fetching: null, failure }));
      }
    },
    [run, source],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: another choice asks for its own first page
  useEffect(() => {
    void load('first');
    return () => running.current?.abort();
  }, [load, applied]);

  const { of, ...rest } = state;
  return {
    ...rest,
    isCurrent: of === applied,
    reload: () => void load('again'),
    retry: () => void load('first'),
    loadMore: () => void load('more'),
  };
}

/** The rows of both pages; one that came twice stays where it was. */
function withAdded<Row extends { readonly id: string | number }>(
  before: LogRows<Row>,
  answer: LogRows<Row>,
): LogRows<Row> {
  const known = new Set(before.entries.map(({ id }) => id));
  return { ...answer, entries: [...before.entries, ...answer.entries.filter(({ id }) => !known.has(id))] };
}
