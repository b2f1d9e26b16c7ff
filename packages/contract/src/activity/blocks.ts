import * as z from 'zod/mini';

/** Block that holds for an address, a network or a user at the time of the response. */
export const currentBlock = z.object({
  /** `lock`: by failed logins; `owner`: by a person; `cli`: by the command line. */
  by: z.enum(['lock', 'owner', 'cli']),
  /** Login of the person who blocked; empty for a lock and for the command line. */
  by_login: z.string(),
  /** End of the block, Unix seconds; null when it has no end. */
  until: z.nullable(z.int()),
  /** Note of the person who blocked; empty when there is none. */
  note: z.string(),
  /** Address or network that is blocked; it may be larger than the address asked about. */
  range: z.string(),
});
export type CurrentBlock = z.infer<typeof currentBlock>;

/** How long a block lasts, in seconds; 0 = until it is ended. */
export const blockDurations = [3600, 86_400, 604_800, 0] as const;
export type BlockDuration = (typeof blockDurations)[number];

export const MAX_NOTE = 200;
