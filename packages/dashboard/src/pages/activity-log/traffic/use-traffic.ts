import { useQuery } from '../../../data/use-query.js';
import { useServices } from '../../../services.js';
import { readTraffic, type Traffic } from './read-traffic.js';

export interface TrafficPeriod {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** Begins the keys of all sums, so that they can be asked for again together. */
export const TRAFFIC_KEY = 'traffic';

/**
 * Sums of visits of a period, the kept days without one. An extra: without a word when they cannot be read.
 *
 * @param period Unix seconds; the end is outside
 * @returns undefined while they are on their way, null when they are not known
 */
export function useTraffic({ from, to }: TrafficPeriod): Traffic | null | undefined {
  const { api } = useServices();
  const { data, isError } = useQuery({
    queryKey: [TRAFFIC_KEY, from ?? null, to ?? null],
    queryFn: async ({ signal }) => {
      const answer = await api.call<unknown>({ suffix: '/activity-traffic', body: { from, to }, signal });
      return readTraffic(answer.data);
    },
    staleTime: 60_000,
    // The chart of the last period stays until that of the new one is there.
    keepPrevious: true,
  });
  return isError ? null : data;
}
