import { useEffect, useState } from 'react';
import { ignoreFailure } from '../../../options/use-changes.js';
import { useServices } from '../../../services.js';
import { type Applied, filterBody } from './applied.js';

/** Time between two questions, milliseconds. */
const POLL_MS = 15_000;

/**
 * How many rows a list has gained since it was read. Asks only while the page is on the screen, and without a word
 * when that fails.
 *
 * @param since id of the newest row that is shown, 0 for an empty list, null while there is no list
 */
export function useNews(list: 'unknown' | 'registered', applied: Applied, since: number | null): number {
  const { api } = useServices();
  const [news, setNews] = useState<{
    readonly since: number | null;
    readonly applied: Applied;
    readonly count: number;
  }>({ since, applied, count: 0 });

  useEffect(() => {
    if (since === null) return;
    const abort = new AbortController();
    async function ask(): Promise<void> {
      if (document.visibilityState === 'hidden') return;
      const body = { list, since, ...filterBody(applied) };
      const answer = await api
        .call<{ count?: unknown } | null>({ suffix: '/activity-new', body, signal: abort.signal })
        .catch(ignoreFailure);
      const count = answer?.data?.count;
      if (typeof count === 'number' && !abort.signal.aborted) setNews({ since, applied, count });
    }
    const timer = setInterval(() => void ask(), POLL_MS);
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }, [api, list, applied, since]);

  return news.since === since && news.applied === applied ? news.count : 0;
}
