import { z } from 'zod';
import { flag } from './login.js';

/** A choice of a filter. */
export const filterOption = z.object({ label: z.string(), value: z.union([z.string(), z.number()]) });

/** One field of a filter. `value` is what is applied now; a client sends its choice as `selectedValue`. */
const filterChild = z.object({
  id: z.string(),
  label: z.string(),
  value: z.union([z.string(), z.number(), z.null()]),
  selectedValue: z.union([z.string(), z.number(), z.null()]),
  options: z.array(filterOption),
  optionLabel: z.literal('label'),
  optionValue: z.literal('value'),
  searchable: z.boolean(),
  placeholder: z.string(),
});

/** A group of the filter panel; `wp_name` names it in requests: `date`, `type`, `code`, `ip`, `user` or `activity`. */
const activityFilter = z.object({
  type: z.enum(['datepicker', 'dropdown']),
  groupTitle: z.string().optional(),
  wp_name: z.string(),
  children: z.array(filterChild),
});

const listed = {
  filters: z.array(activityFilter),
  page: z.number().int(),
  /** Grows while the list is read when it was too long to be counted. */
  pages: z.number().int(),
  /** Our own: where the next page begins; null on the last one. Send it back to go on exactly there. */
  cursor: z.string().nullable(),
  /** Our own: rows that the filters match, or null when they were too many to be counted. */
  total: z.number().int().nullable(),
};

const rowBase = {
  id: z.number().int(),
  /** `YYYY-MM-DD HH:MM` in the site's time zone. */
  ts: z.string(),
  /** Unix seconds. */
  ts_unix: z.number().int(),
  ip: z.string(),
  hostname: z.string(),
  response: z.string(),
  /** Visitor to be blocked: the address of an unknown visitor, the user of a registered one; 0 for nobody. */
  visitor_id: z.number().int(),
  block: flag,
  do_not_block: flag,
};

const unknownRow = z.object({
  ...rowBase,
  /** `Human`, `Unknown`, or the name of a bot. */
  type: z.string(),
  page_visited: z.string(),
  /** How often the same was asked for in that moment. */
  count: z.number().int(),
  /**
   * Refused visits of the same second that were folded into this row in a flood: the same rule, response and kind of
   * page. 0 when there are none.
   */
  more: z.number().int(),
  /** Where those came from: an address, a network (`203.0.113.0/24`), or null for anywhere. */
  more_from: z.string().nullable(),
  /** HTTP status. */
  code: z.number().int(),
  /** Name of the rule that refused it, or null. */
  rule: z.string().nullable(),
});

const registeredRow = z.object({
  ...rowBase,
  user: z.string(),
  /** What was done, in words. */
  activity: z.string(),
  /** Id of the kind, for example `post.updated`; see the catalogue in activity-kinds.ts. */
  actions: z.string(),
  /** What the words are made of, so that a client can make them in another language. */
  words: z.object({
    kind: z.string(),
    object: z.string(),
    object_type: z.string(),
    before: z.string().nullable(),
    after: z.string().nullable(),
  }),
  origin: z.enum(['web', 'cli', 'cron', 'system']),
  /** It was the caller. */
  you: flag,
});

export const blockedRow = z.object({
  id: z.string(),
  /** When it was blocked. */
  ts: z.string(),
  ts_unix: z.number().int(),
  /** The end of a lock by failed log-ins, as `ts`; null for a block. */
  until: z.string().nullable(),
  /** A user's name or an address or range. */
  user: z.string(),
  /** 0 for a lock by failed log-ins. */
  visitor_id: z.number().int(),
  type: z.enum(['ip', 'user']),
  hostname: z.string(),
});

export const unknownList = z.object({ entries: z.array(unknownRow), ...listed });
export const registeredList = z.object({ entries: z.array(registeredRow), ...listed });
export const blockedList = z.object({ entries: z.array(blockedRow), ...listed });

const lifetimeOption = z.object({ value: z.number().int(), label: z.string(), selected: flag });

/** Options of the page Activity Log. */
export const activityOptionsSchema = z.object({
  disable_activity_log: flag,
  log_lifetime: z.array(lifetimeOption),
  /** Our own switch: the last octet of IPv4 and the last 80 bits of IPv6 are not stored. */
  anonymize_addresses: flag,
  /** Visits of the kept days that were not recorded, because they came faster than they could be written. */
  dropped: z.number().int(),
});

export type UnknownRow = z.infer<typeof unknownRow>;
export type RegisteredRow = z.infer<typeof registeredRow>;
export type BlockedRow = z.infer<typeof blockedRow>;
export type ActivityFilter = z.infer<typeof activityFilter>;
export type ActivityOptions = z.infer<typeof activityOptionsSchema>;
