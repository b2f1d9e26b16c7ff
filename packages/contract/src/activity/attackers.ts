import * as z from 'zod/mini';
import { flag } from '../shapes.js';
import { currentBlock } from './blocks.js';

/**
 * Goals of attackers, by which the panel "Who is attacking" groups attempts: refused requests, failed logins, and scans
 * (requests for what does not exist and nothing links to, or for the list of users). A request that matches several
 * goals counts for the first of them.
 */
export const attackGoals = ['passwords', 'holes', 'files', 'users', 'spam', 'overload'] as const;
export type AttackGoal = (typeof attackGoals)[number];
const attackGoal = z.enum(attackGoals);

const attacker = z.object({
  /** An address, or a network (`198.51.100.0/24`, `2001:db8:77::/64`) if several of its addresses attack. */
  address: z.string(),
  /** Number of attacking addresses in the network; 1 for an address. */
  addresses: z.int(),
  /** Host name of a single address; empty if it has none or is not resolved yet. */
  hostname: z.string(),
  /** Visitor id of a single address for `block-ip` and `get-visitor-status`; 0 for a network. */
  visitor_id: z.int(),
  /** The most frequent goal of its attempts. */
  goal: attackGoal,
  /** The path that it requested most often for that goal, or the folder in which it tried one file after another. */
  target: z.string(),
  /** Attempts by day, oldest first; the last one is today. */
  days: z.array(z.int()),
  attempts: z.int(),
  /** The current block or lockout; null for none. */
  block: z.nullable(currentBlock),
  /** Number of a network's addresses that are blocked or locked out; 0 for a single address. */
  blocked_addresses: z.int(),
  /** 1 = blocking it is refused, for example because it includes the caller's address. */
  do_not_block: flag,
  /** 1 = it is, or includes, the address of the caller. */
  own: flag,
});
export type Attacker = z.infer<typeof attacker>;

/** Attackers of the last seven days, including today; days are in the site's time zone. */
export const attackersSchema = z.object({
  /** Unix seconds. */
  from: z.int(),
  /** At least the sum of the rows. */
  attempts: z.int(),
  /** The scans among them that no rule refused. */
  scanned: z.int(),
  /** The failed logins among them, the addresses that sent those, and the addresses that were locked out. */
  failed: z.int(),
  failed_addresses: z.int(),
  locked: z.int(),
  /** Number of addresses that attack. One with fewer than five scans and nothing else does not count. */
  addresses: z.int(),
  /** Successful logins from those addresses since their first attack; null if unknown. */
  logins: z.nullable(z.int()),
  /** Those from addresses with a few wrong passwords and no other attack, as of a user who mistypes. */
  mistyped: z.int(),
  /** Most active first. */
  entries: z.array(attacker),
  targets: z.array(z.object({ target: z.string(), attempts: z.int() })),
  goals: z.array(z.object({ goal: attackGoal, attempts: z.int() })),
});
export type Attackers = z.infer<typeof attackersSchema>;

const recentRequest = z.object({
  id: z.int(),
  ts_unix: z.int(),
  /** Path and query; secrets are masked. */
  target: z.string(),
  code: z.int(),
  rule: z.nullable(z.string()),
  failed_login: flag,
});

/** All details of a request in the list of unknown visitors. Unknown values are null. */
export const requestDetailsSchema = z.object({
  id: z.int(),
  ts: z.string(),
  ts_unix: z.int(),
  method: z.nullable(z.string()),
  /** The requested URL (`https://example.com/path?query`); values of secrets are masked. */
  url: z.string(),
  code: z.int(),
  /** As in the row, for example `403 Blocked`. */
  response: z.string(),
  rule: z.nullable(z.string()),
  /** What happened and why, as an English sentence. The dashboard has its own texts for the rules that it knows. */
  reason: z.string(),
  failed_login: flag,
  /** The login name of a failed login; empty for any other request. */
  tried: z.string(),
  goal: z.nullable(attackGoal),
  agent: z.nullable(z.string()),
  referer: z.nullable(z.string()),
  /** The reference that the blocked page shows to the visitor, for example `001N-GDMM`. */
  reference: z.nullable(z.string()),
  count: z.int(),
  visitor: z.object({
    visitor_id: z.int(),
    ip: z.string(),
    hostname: z.string(),
    block: z.nullable(currentBlock),
    do_not_block: flag,
    /** Number of its requests in the log. */
    requests: z.int(),
  }),
  /** Requests of this visitor around this one, newest first: at most six, including this one. */
  recent: z.array(recentRequest),
});
export type RequestDetails = z.infer<typeof requestDetailsSchema>;
