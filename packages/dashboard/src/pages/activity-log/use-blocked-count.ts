import { useQuery } from '../../data/use-query.js';
import { useServices } from '../../services.js';
import { readBlockedRow, readList } from './list/read-list.js';

export const BLOCKED_COUNT_KEY = ['blocked-count'];

/** How many are blocked now, for the counter on the tab; undefined while that is not known. */
export function useBlockedCount(): number | undefined {
  const { api } = useServices();
  const { data } = useQuery({
    queryKey: BLOCKED_COUNT_KEY,
    queryFn: async () => {
      const answer = await api.call<unknown>({ suffix: '/blocked-users', body: { limitedView: 1 } });
      return readList(answer.data, readBlockedRow)?.total ?? null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data ?? undefined;
}
