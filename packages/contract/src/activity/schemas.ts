import * as z from 'zod/mini';
import { logRows } from '../settings/catalogue.js';
import { settingSchemas } from '../settings/options.js';
import { flag } from '../shapes.js';
import { currentBlock } from './blocks.js';

/** A choice of a filter. */
export const filterOption = z.object({ label: z.string(), value: z.union([z.string(), z.number()]) });

/** One field of a filter. `value` is the applied choice; a client sends a new choice as `selectedValue`. */
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

/** A group of the filter panel; `wp_name` names it in requests: `date`, or one of `logDropdowns`. */
const activityFilter = z.object({
  type: z.enum(['datepicker', 'dropdown']),
  groupTitle: z.optional(z.string()),
  wp_name: z.string(),
  children: z.array(filterChild),
});

const listed = {
  filters: z.array(activityFilter),
  page: z.int(),
  /** Number of pages. It grows while pages are loaded if the list is too long to be counted. */
  pages: z.int(),
  /** Extension: cursor of the next page; null on the last one. */
  cursor: z.nullable(z.string()),
  /** Extension: number of rows that match the filters; null if there are too many to count. */
  total: z.nullable(z.int()),
  /**
   * Extension: a search reads a limited number of rows. If it stops before the page is full, this is the time of the
   * oldest row that it read, Unix seconds; `cursor` continues the search there. Otherwise null.
   */
  searched_to: z.optional(z.nullable(z.int())),
};

const rowBase = {
  id: z.int(),
  /** `YYYY-MM-DD HH:MM` in the site's time zone. */
  ts: z.string(),
  /** Unix seconds. */
  ts_unix: z.int(),
  ip: z.string(),
  hostname: z.string(),
  response: z.string(),
  /** Id of the visitor to block: the address of an unknown visitor, the user of a registered one; 0 for none. */
  visitor_id: z.int(),
  block: flag,
  do_not_block: flag,
};

/** Type of a visitor that is neither a bot nor without a user agent. */
export const HUMAN = 'Human';

export const unknownRow = z.object({
  ...rowBase,
  /** `Human`, `Unknown`, or the name of a bot. */
  type: z.string(),
  page_visited: z.string(),
  /** Number of equal requests at that time. */
  count: z.int(),
  /**
   * During a flood a row may include other refused visits of the same second with the same rule, response and kind of
   * page: their number. Otherwise 0.
   */
  more: z.int(),
  /** Origin of those visits: an address, a network (`203.0.113.0/24`), or null for several networks. */
  more_from: z.nullable(z.string()),
  /** HTTP status. */
  code: z.int(),
  /** Name of the rule that refused the request, or null. */
  rule: z.nullable(z.string()),
  /**
   * The reason for the refusal as an English sentence; empty if it was not refused. The dashboard has its own texts.
   */
  reason: z.string(),
  /** One of `attackGoals` for a refused request, a failed login or a scan; otherwise null. */
  goal: z.optional(z.nullable(z.string())),
  /** 1 = the request contained a wrong password. */
  failed_login: flag,
  /** Login name of the request; may be empty. */
  tried: z.string(),
  /** Current block or lockout of the visitor. */
  current_block: z.nullable(currentBlock),
});

/** The parts of an event, from which a client builds a sentence in another language; see `eventSentence`. */
export const eventValues = z.object({
  kind: z.string(),
  object: z.string(),
  object_type: z.string(),
  before: z.nullable(z.string()),
  after: z.nullable(z.string()),
});

export const registeredRow = z.object({
  ...rowBase,
  user: z.string(),
  /** The event as an English sentence. */
  activity: z.string(),
  /** Id of the kind, for example `post.updated`; see the catalogue in event-kinds.ts. */
  actions: z.string(),
  /** The parts of the sentence, so that a client can translate it. */
  words: eventValues,
  origin: z.enum(['web', 'cli', 'cron', 'system']),
  /** 1 = the event's user is the caller. */
  you: flag,
  /** Visitor id of the address for `block-ip`; 0 without an address. */
  ip_visitor_id: z.int(),
  /** Current block or lockout of the address. */
  ip_block: z.nullable(currentBlock),
  /** 1 = blocking the address is refused. */
  ip_do_not_block: flag,
});

export const blockedRow = z.object({
  id: z.string(),
  /** Time of the block. */
  ts: z.string(),
  ts_unix: z.int(),
  /** End of a block or of a lockout after failed logins, in the format of `ts`; null if it has no end. */
  until: z.nullable(z.string()),
  /** The same time in Unix seconds. */
  until_unix: z.nullable(z.int()),
  by: currentBlock.shape.by,
  by_login: currentBlock.shape.by_login,
  note: currentBlock.shape.note,
  /** A user's name, an address or a range. */
  user: z.string(),
  /** 0 for a lockout after failed logins. */
  visitor_id: z.int(),
  type: z.enum(['ip', 'user']),
  hostname: z.string(),
});

/** Presets of the list of unknown visitors: the values of `preset` in a list request. */
export const visitPresets = ['all', 'blocked', 'failed-logins', 'scanners', 'not-found', 'humans', 'bots'] as const;
export type VisitPreset = (typeof visitPresets)[number];

export const unknownList = z.object({ entries: z.array(unknownRow), ...listed });
export const registeredList = z.object({ entries: z.array(registeredRow), ...listed });
export const blockedList = z.object({ entries: z.array(blockedRow), ...listed });

const trafficBar = z.object({
  /** Start of the bar, Unix seconds; it ends at the start of the next one. */
  from: z.int(),
  to: z.int(),
  humans: z.int(),
  bots: z.int(),
  blocked: z.int(),
});

/** Visits of a period by day or hour, and their totals. */
export const trafficSchema = z.object({
  bars: z.array(trafficBar),
  step: z.enum(['day', 'hour']),
  humans: z.int(),
  bots: z.int(),
  blocked: z.int(),
});

export const visitorStatusSchema = z.object({
  block: flag,
  type: z.enum(['ip', 'user']),
  /** Address, network or login. */
  name: z.string(),
  /** The /64 network that is blocked with an IPv6 address; empty if only the visitor is blocked. */
  network: z.string(),
  hostname: z.string(),
  do_not_block: flag,
  /** Why blocking the visitor is refused; empty if it is allowed. */
  reason: z.string(),
  /** For an address: visits of the last 24 hours. */
  visits_today: z.nullable(z.int()),
  /** For an address: visits of each of the last 12 hours, oldest first. */
  visits_hours: z.nullable(z.array(z.int())),
  first_seen: z.nullable(z.int()),
  last_seen: z.nullable(z.int()),
  /** Current block or lockout. For a lockout alone `block` is 0. */
  current: z.nullable(currentBlock),
  /** For an address: its network (/24 of IPv4, /64 of IPv6) and the effect of blocking it; null for a user. */
  network_cost: z.nullable(
    z.object({
      range: z.string(),
      /** Number of other visitors of the log in it, up to 1,000. */
      visitors: z.int(),
      /** 1 = it includes the address of the caller, so blocking it is refused. */
      own: flag,
    }),
  ),
  /** Roles of a user. */
  roles: z.nullable(z.array(z.string())),
});

const recipient = z.object({ id: z.int(), email: z.string() });

/** Recipients of the weekly report. */
export const recipientsSchema = z.object({
  entries: z.array(recipient),
  max_emails: z.int(),
});

/** Number of entries that a shorter retention deletes. `exact` 0: there are more events than were counted. */
export const lifetimePreviewSchema = z.object({ visits: z.int(), events: z.int(), exact: flag });

/** A retention that was shortened within the last minute: until it is over, no entry is deleted. */
const lifetimeUndo = z.object({
  /** The days before the change, which Undo stores again. */
  days: z.int(),
  /** Seconds until entries that are older may be deleted. */
  seconds: z.int(),
  /** 1 = there are entries that are older; 0 = nothing will be deleted now. */
  deletes: flag,
});

/** Options of the page Activity Log. */
export const activityOptionsSchema = z.object({
  ...settingSchemas(logRows),
  /**
   * Number of visits within the retention that were not recorded, because they could not be written fast enough.
   */
  dropped: z.int(),
  /** Null when nothing can be undone: also after a restart of guard, which then waits a whole minute again. */
  log_lifetime_undo: z.nullable(lifetimeUndo),
});

export type UnknownRow = z.infer<typeof unknownRow>;
export type RegisteredRow = z.infer<typeof registeredRow>;
export type BlockedRow = z.infer<typeof blockedRow>;
export type ActivityFilter = z.infer<typeof activityFilter>;
export type TrafficBar = z.infer<typeof trafficBar>;
export type Traffic = z.infer<typeof trafficSchema>;
export type VisitorStatus = z.infer<typeof visitorStatusSchema>;
export type Recipient = z.infer<typeof recipient>;
export type Recipients = z.infer<typeof recipientsSchema>;
export type LifetimeUndo = z.infer<typeof lifetimeUndo>;
export type ActivityOptions = z.infer<typeof activityOptionsSchema>;
