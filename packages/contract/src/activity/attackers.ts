import * as z from 'zod/mini';
import { endpoint } from '../endpoint.js';
import { messages } from '../messages.js';
import { flag, toggleValue, wholeNumber } from '../shapes.js';
import { currentBlock } from './blocks.js';

/**
 * What an attacker is after, as the panel "Who is attacking" groups refused requests and failed logins. The order is
 * the order of precedence when a request fits several.
 */
export const attackGoals = ['passwords', 'holes', 'files', 'users', 'spam', 'overload'] as const;
export type AttackGoal = (typeof attackGoals)[number];
export const attackGoal = z.enum(attackGoals);

const attacker = z.object({
  /** An address, or the network (`198.51.100.0/24`, `2001:db8:77::/64`) when several of its addresses attack. */
  address: z.string(),
  /** Number of attacking addresses in it; 1 for an address. */
  addresses: z.int(),
  /** Host name of a single address; empty when it has none or it is not known yet. */
  hostname: z.string(),
  /** Visitor of a single address for `block-ip` and `get-visitor-status`; 0 for a network. */
  visitor_id: z.int(),
  /** Goal of most of its refused requests. */
  goal: attackGoal,
  /** Path that it asked for most, without the query. */
  target: z.string(),
  /** Refused requests and failed logins by day, oldest first; the last one is today. */
  days: z.array(z.int()),
  blocked: z.int(),
  /** Block or lock that holds now; null for none. */
  block: z.nullable(currentBlock),
  /** 1 = it must not be blocked, for example because it includes the caller's own address. */
  do_not_block: flag,
  /** 1 = it is, or includes, the address of the caller. */
  own: flag,
});
export type Attacker = z.infer<typeof attacker>;

/** Who attacked in the last seven days (today included, days of the site's time zone). */
export const attackersSchema = z.object({
  /** Unix seconds. */
  from: z.int(),
  /** Refused requests and failed logins; the rows never sum to more. */
  blocked: z.int(),
  /** How many of those are failed logins; the others were refused. */
  failed: z.int(),
  /** Number of addresses that they came from. */
  addresses: z.int(),
  /** Successful logins from those addresses since their first attack; null when it is not known. */
  logins: z.nullable(z.int()),
  /** How many of those came from addresses that did no more than a member who mistypes: a few wrong passwords. */
  mistyped: z.int(),
  /** Most active first. */
  entries: z.array(attacker),
  targets: z.array(z.object({ target: z.string(), blocked: z.int() })),
  goals: z.array(z.object({ goal: attackGoal, blocked: z.int() })),
});
export type Attackers = z.infer<typeof attackersSchema>;

export const activityAttackers = endpoint({
  name: 'activityAttackers',
  suffix: '/activity-attackers',
  methods: ['POST', 'GET'],
  summary:
    'Who attacked in the last seven days: addresses and networks with their goal, the most attacked paths and the ' +
    'goals. 5 rows, or up to 100 with `all` 1.',
  request: z.object({ all: z.nullish(toggleValue) }),
  response: attackersSchema,
});

const recentRequest = z.object({
  id: z.int(),
  ts_unix: z.int(),
  /** Path and query, secrets masked. */
  target: z.string(),
  code: z.int(),
  rule: z.nullable(z.string()),
  failed_login: flag,
});

/** Everything that is known of one request of the list of unknown visitors. Unknown values are null. */
export const requestDetailsSchema = z.object({
  id: z.int(),
  ts: z.string(),
  ts_unix: z.int(),
  method: z.nullable(z.string()),
  /** Full address as the visitor asked for it (`https://example.com/path?query`), values of secrets masked. */
  url: z.string(),
  code: z.int(),
  /** As in the row, for example `403 Blocked`. */
  response: z.string(),
  rule: z.nullable(z.string()),
  /** English sentence of what happened and why; the dashboard has its own for the rules that it knows. */
  reason: z.string(),
  failed_login: flag,
  /** Login that a failed login tried; empty when there was none. */
  tried: z.string(),
  goal: z.nullable(attackGoal),
  agent: z.nullable(z.string()),
  referer: z.nullable(z.string()),
  /** What a blocked visitor is told to quote, for example `001N-GDMM`. */
  reference: z.nullable(z.string()),
  count: z.int(),
  visitor: z.object({
    visitor_id: z.int(),
    ip: z.string(),
    hostname: z.string(),
    block: z.nullable(currentBlock),
    do_not_block: flag,
    /** Requests of it that are kept. */
    requests: z.int(),
  }),
  /** The requests of this visitor around this one, newest first, at most six, this one among them. */
  recent: z.array(recentRequest),
});
export type RequestDetails = z.infer<typeof requestDetailsSchema>;

export const activityRequest = endpoint({
  name: 'activityRequest',
  suffix: '/activity-request/{id}',
  methods: ['POST', 'GET'],
  summary: 'Everything that is known of one row of the list of unknown visitors.',
  request: z.object({ id: wholeNumber(0, Number.MAX_SAFE_INTEGER, messages.invalidFormat) }),
  response: requestDetailsSchema,
});
