import { type Traffic, trafficSchema } from '@security-optimizer/contract/activity/schemas';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import * as z from 'zod/mini';
import { useServices } from '../../api/services.js';
import { tolerant } from '../../api/tolerant.js';

export interface TrafficPeriod {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** Prefix of the query keys of all periods. */
export const TRAFFIC_KEY = 'traffic';

/**
 * Traffic of a period. Default: the whole log. Failures are not reported.
 *
 * @param period Unix seconds, end exclusive
 * @returns undefined while loading, null if unknown
 */
export function useTraffic({ from, to }: TrafficPeriod): Traffic | null | undefined {
  const { api } = useServices();
  const { data, isError } = useQuery({
    queryKey: [TRAFFIC_KEY, from ?? null, to ?? null],
    queryFn: async ({ signal }) => {
      const response = await api.call<unknown>({ suffix: '/activity-traffic', body: { from, to }, signal });
      return readTraffic(response.data);
    },
    staleTime: 60_000,
    // Keep the previous chart while a new period loads.
    placeholderData: keepPreviousData,
  });
  return isError ? null : data;
}

const schema = tolerant(trafficSchema, { step: 'day' });

/** @returns null for an invalid response, or if there were no visits */
function readTraffic(data: unknown): Traffic | null {
  const { data: read } = z.safeParse(schema, data);
  if (read === undefined) return null;
  const sum = (name: 'humans' | 'bots' | 'blocked'): number => read.bars.reduce((all, bar) => all + bar[name], 0);
  const totals = { humans: sum('humans'), bots: sum('bots'), blocked: sum('blocked') };
  return totals.humans + totals.bots + totals.blocked === 0 ? null : { ...read, ...totals };
}
