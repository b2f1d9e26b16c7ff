import * as z from 'zod/mini';

/** The current block of an address, a network or a user. */
export const currentBlock = z.object({
  /** `lock`: failed logins; `owner`: a person; `cli`: the command line. */
  by: z.enum(['lock', 'owner', 'cli']),
  /** Login name of the person; empty for a lockout and for the command line. */
  by_login: z.string(),
  /** End of the block, Unix seconds; null if it has no end. */
  until: z.nullable(z.int()),
  /** Note of the person; may be empty. */
  note: z.string(),
  /** The blocked address or network; a network may contain the requested address. */
  range: z.string(),
});
export type CurrentBlock = z.infer<typeof currentBlock>;

/** Durations of a block in seconds; 0 = until it is removed. */
export const blockDurations = [3600, 86_400, 604_800, 0] as const;
export type BlockDuration = (typeof blockDurations)[number];

export const MAX_NOTE = 200;
/** Maximum number of visitors in one request to block. */
export const MAX_BLOCKED_AT_ONCE = 100;
