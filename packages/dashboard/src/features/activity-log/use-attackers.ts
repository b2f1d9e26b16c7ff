import { type Attacker, type Attackers, attackersSchema } from '@security-optimizer/contract/activity/attackers';
import { activityAttackers } from '@security-optimizer/contract/activity/endpoints';
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import * as z from 'zod/mini';
import { type ApiCall, type ApiClient, SILENT, toCall } from '../../api/client.js';
import { ApiError } from '../../api/envelope.js';
import { useSite } from '../../api/site-context.js';
import { tolerant } from '../../api/tolerant-schemas.js';
import type { FindBlock } from './blocks.js';
import { ATTACKERS_KEY } from './use-blocking.js';

/** Days of the panel, including today. */
export const ATTACK_DAYS = 7;

export interface AttackersPart {
  /** Undefined while they load. */
  readonly attackers: Attackers | undefined;
  /** When they were loaded, milliseconds since 1970. */
  readonly loadedAt: number;
  /** Error of the last attempt. */
  readonly failure: ApiError | null;
  /** Whether the server lacks the endpoint. */
  readonly missing: boolean;
  readonly retrying: boolean;
  readonly retry: () => void;
}

const schema = tolerant(attackersSchema);

/** @param all up to 100 rows instead of 5 */
export function toAttackersCall(all: boolean, signal?: AbortSignal): ApiCall {
  return toCall(activityAttackers, all ? { all: 1 } : {}, signal && { signal });
}

export function attackersQuery(all: boolean, api: ApiClient) {
  return queryOptions({
    queryKey: [ATTACKERS_KEY, all],
    queryFn: async ({ signal }) => {
      const call = toAttackersCall(all, signal);
      const { data } = z.safeParse(schema, (await api.call<unknown>(call, SILENT)).data);
      if (data === undefined) throw new ApiError('refused');
      return data;
    },
    staleTime: 60_000,
    // The panel is drawn after the request; it shows a failure with a retry button.
    retryOnMount: false,
  });
}

/** Attackers of the last seven days. The panel shows failures. @param all up to 100 rows instead of 5 */
export function useAttackers(all = false): AttackersPart {
  const { api } = useSite();
  const query = useQuery({ ...attackersQuery(all, api), placeholderData: keepPreviousData });
  const missing = query.data === undefined && query.error?.status === 404;
  return {
    attackers: query.data,
    loadedAt: query.dataUpdatedAt,
    failure: query.data === undefined && !missing ? query.error : null,
    missing,
    retrying: query.isFetching,
    retry: () => void query.refetch(),
  };
}

/** Adds the current blocks to the rows. */
export function withBlocks(part: AttackersPart, findBlock: FindBlock): readonly Attacker[] {
  const entries = part.attackers?.entries ?? [];
  return entries.map((row) => ({ ...row, block: findBlock(row.address, row.block, part.loadedAt) }));
}
