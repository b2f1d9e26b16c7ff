import { describe, expect, it } from 'vitest';
import { createQueryClient, type Query, type QueryKey } from './query-client.js';

const settled = () => new Promise<void>((resolve) => setTimeout(resolve));

/** A query whose answers the test gives. */
function pendingQuery(queryKey: QueryKey, settings: Partial<Query<string>> = {}) {
  const calls: { answer: (data: string) => Promise<void>; fail: (error: Error) => Promise<void> }[] = [];
  const queryFn = () =>
    new Promise<string>((resolve, reject) => {
      calls.push({
        answer(data) {
          resolve(data);
          return settled();
        },
        fail(error) {
          reject(error);
          return settled();
        },
      });
    });
  return { query: { queryKey, queryFn, ...settings }, calls };
}

/** A query that listens to the signal; its calls never end. */
function abortableQuery(queryKey: QueryKey) {
  const signals: AbortSignal[] = [];
  const query: Query<string> = {
    queryKey,
    queryFn: ({ signal }) => {
      signals.push(signal);
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cancelled'))));
    },
  };
  return { query, signals };
}

const shownBy = (query: Query<unknown> | null) => ({ changed: () => undefined, query: () => query });

describe('a query', () => {
  it('is fetched once however many ask at the same time', async () => {
    const client = createQueryClient();
    const { query, calls } = pendingQuery(['one']);
    const both = Promise.all([client.prefetchQuery(query), client.prefetchQuery(query)]);
    expect(client.state(['one'])).toEqual({ data: undefined, error: null, isFetching: true });
    await calls[0]?.answer('known');
    await both;
    expect(calls).toHaveLength(1);
    expect(client.state(['one'])).toEqual({ data: 'known', error: null, isFetching: false });
  });

  it('is not fetched again while its data are fresh', async () => {
    let time = 1000;
    const client = createQueryClient(() => time);
    const { query, calls } = pendingQuery(['one'], { staleTime: 60_000 });
    void client.prefetchQuery(query);
    await calls[0]?.answer('known');
    time += 59_999;
    void client.prefetchQuery(query);
    expect(calls).toHaveLength(1);
    time += 1;
    void client.prefetchQuery(query);
    expect(calls).toHaveLength(2);
  });

  it('keeps its data when a later attempt fails', async () => {
    const client = createQueryClient();
    const { query, calls } = pendingQuery(['one']);
    void client.prefetchQuery(query);
    await calls[0]?.answer('known');
    void client.refetch(query);
    const failure = new Error('no answer');
    await calls[1]?.fail(failure);
    expect(client.state(['one'])).toEqual({ data: 'known', error: failure, isFetching: false });
  });

  it('forgets its failure when it is tried again', async () => {
    const client = createQueryClient();
    const { query, calls } = pendingQuery(['one']);
    void client.prefetchQuery(query);
    await calls[0]?.fail(new Error('no answer'));
    void client.refetch(query);
    expect(client.state(['one'])).toEqual({ data: undefined, error: null, isFetching: true });
  });

  it('is tried again by the next part that wants it, unless it says otherwise', async () => {
    const client = createQueryClient();
    for (const [settings, expected] of [
      [{}, 2],
      [{ retryOnMount: false }, 1],
    ] as const) {
      const { query, calls } = pendingQuery(['retry', expected], settings);
      void client.prefetchQuery(query);
      await calls[0]?.fail(new Error('no answer'));
      void client.prefetchQuery(query);
      expect(calls).toHaveLength(expected);
    }
  });

  it('does not show an answer that a newer call has overtaken', async () => {
    const client = createQueryClient();
    const { query, calls } = pendingQuery(['one']);
    client.setQueryData(['one'], 'first');
    void client.refetch(query);
    void client.refetch(query);
    await calls[1]?.answer('newer');
    await calls[0]?.answer('older');
    expect(client.getQueryData(['one'])).toBe('newer');
  });
});

describe('stored data', () => {
  it('tell those who show them, and nobody else', () => {
    const client = createQueryClient();
    const told: string[] = [];
    const end = client.observe(['one'], { changed: () => told.push('one'), query: () => null });
    client.observe(['two'], { changed: () => told.push('two'), query: () => null });
    client.setQueryData(['one'], 'known');
    end();
    client.setQueryData(['one'], 'newer');
    expect(told).toEqual(['one']);
  });

  it('can be made from what is there, and stay when the function answers nothing', () => {
    const client = createQueryClient();
    client.setQueryData<number>(['one'], (old) => (old ?? 0) + 1);
    client.setQueryData<number>(['one'], (old) => (old ?? 0) + 1);
    client.setQueryData<number>(['one'], () => undefined);
    expect(client.getQueryData(['one'])).toBe(2);
  });
});

describe('invalidating', () => {
  it('fetches what is shown at once, and the rest when it is shown next', async () => {
    const client = createQueryClient();
    const shown = pendingQuery(['traffic', 1], { staleTime: Number.POSITIVE_INFINITY });
    const hidden = pendingQuery(['traffic', 2], { staleTime: Number.POSITIVE_INFINITY });
    const other = pendingQuery(['other'], { staleTime: Number.POSITIVE_INFINITY });
    for (const { query } of [shown, hidden, other]) client.setQueryData(query.queryKey, 'known');
    client.observe(shown.query.queryKey, shownBy(shown.query));
    void client.invalidateQueries({ queryKey: ['traffic'] });
    expect([shown.calls.length, hidden.calls.length]).toEqual([1, 0]);
    for (const { query } of [hidden, other]) void client.prefetchQuery(query);
    expect([hidden.calls.length, other.calls.length]).toEqual([1, 0]);
  });

  it('take no answer of a call that was sent before', async () => {
    const client = createQueryClient();
    const shown = pendingQuery(['one']);
    client.observe(['one'], shownBy(shown.query));
    void client.prefetchQuery(shown.query);
    void client.invalidateQueries({ queryKey: ['one'] });
    expect(shown.calls.length).toBe(2);
    await shown.calls[1]?.answer('new');
    await shown.calls[0]?.answer('old');
    expect(client.getQueryData(['one'])).toBe('new');
  });

  it('fetches nothing for a part that only shows', async () => {
    const client = createQueryClient();
    client.setQueryData(['one'], 'known');
    client.observe(['one'], shownBy(null));
    await client.invalidateQueries({ queryKey: ['one'] });
    expect(client.state(['one'])).toEqual({ data: 'known', error: null, isFetching: false });
  });
});

describe('a call that nobody waits for any more', () => {
  it('is aborted when it listens to the signal, and leaves no failure', async () => {
    const client = createQueryClient();
    const { query, signals } = abortableQuery(['one']);
    const end = client.observe(['one'], shownBy(query));
    void client.prefetchQuery(query);
    end();
    await settled();
    expect(signals[0]?.aborted).toBe(true);
    expect(client.state(['one'])).toEqual({ data: undefined, error: null, isFetching: false });
  });

  it('goes on while another part waits', async () => {
    const client = createQueryClient();
    const { query, signals } = abortableQuery(['one']);
    const end = client.observe(['one'], shownBy(query));
    client.observe(['one'], shownBy(query));
    void client.prefetchQuery(query);
    end();
    expect(signals[0]?.aborted).toBe(false);
  });

  it('is kept for later when it does not listen', async () => {
    const client = createQueryClient();
    const { query, calls } = pendingQuery(['one']);
    const end = client.observe(['one'], shownBy(query));
    void client.prefetchQuery(query);
    end();
    await calls[0]?.answer('known');
    expect(client.getQueryData(['one'])).toBe('known');
  });
});
