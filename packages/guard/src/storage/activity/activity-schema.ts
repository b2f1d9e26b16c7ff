import type { Generated } from 'kysely';

/**
 * Tables of `activity.sqlite` as Kysely sees them; docs/activity-log.md says what they are for. A site is a small
 * number here, since it stands in every row and index. Seconds are Unix seconds; ids of rows are made by row-id.ts.
 */
export interface ActivitySchema {
  activity_sites: ActivitySitesTable;
  visitors: VisitorsTable;
  visit_kinds: VisitKindsTable;
  visits: VisitsTable;
  visit_sums: VisitSumsTable;
  visit_stretches: VisitStretchesTable;
  visit_hours: VisitHoursTable;
  top_visits: TopVisitsTable;
  events: EventsTable;
  event_hours: EventHoursTable;
}

interface ActivitySitesTable {
  id: Generated<number>;
  site: string;
}

interface VisitorsTable {
  /** Never used again after the row is gone. */
  id: Generated<number>;
  site: number;
  kind: 'ip' | 'user';
  /** 16 bytes of an address (IPv4 as ::ffff:a.b.c.d), or 8 bytes of a user's number, most significant first. */
  key: Uint8Array;
  /** Address as it is shown, or login as last seen. */
  name: string;
  hostname: string | null;
  verified_bot: string | null;
  first_seen: number;
  last_seen: number;
  /** Rows of `visits` and of `events` that name this visitor. */
  visits: number;
  events: number;
}

/** Every type, status and rule that were ever seen together. */
interface VisitKindsTable {
  id: number;
  type: string;
  status: number;
  /** '' when no rule refused it. */
  rule: string;
}

interface VisitsTable {
  site: number;
  id: number;
  kind: number;
  visitor: number;
  /** Hits of the visitor. */
  count: number;
  target: string;
  /** Refused visits that were folded into the row, those of its visitor included. */
  more: number;
  /** Bits of the network that those came from, 0 for anywhere; null when they are the visitor's, in `count`. */
  more_bits: number | null;
}

/** Rows that there are, of each kind. */
interface VisitSumsTable {
  site: number;
  /** 0 for all kinds together. */
  kind: number;
  rows: number;
}

/**
 * Rows that there are, counted over stretches of ids: a stretch lasts from `start` to the next one and holds a few
 * thousand rows, so that any number of rows can be skipped or counted by reading some of these and one stretch.
 */
interface VisitStretchesTable {
  site: number;
  /** 0 for all kinds together. */
  kind: number;
  start: number;
  rows: number;
}

/** Hits that were counted, whether their rows are still there or not. */
interface VisitHoursTable {
  site: number;
  /** Unix seconds. */
  hour: number;
  /** 0 for visits that could not be recorded. */
  kind: number;
  hits: number;
}

export type TopWhat = 'address' | 'page' | 'failed-login';

/** The most frequent values of a day: bounded counters that take over the smallest one when a new value comes. */
interface TopVisitsTable {
  site: number;
  /** `YYYY-MM-DD` in the time zone of the site. */
  day: string;
  what: TopWhat;
  value: string;
  hits: number;
  /** How much of `hits` may belong to values that were there before. */
  excess: number;
}

interface EventsTable {
  site: number;
  id: number;
  uid: string;
  kind: string;
  /** The user's visitor; 0 when nobody was signed in. */
  visitor: number;
  user_id: number;
  login: string;
  address: string;
  /** The address's visitor; 0 without an address. */
  address_visitor: number;
  object: string;
  object_type: string;
  before: string | null;
  after: string | null;
  origin: 'web' | 'cli' | 'cron' | 'system';
}

interface EventHoursTable {
  site: number;
  hour: number;
  kind: string;
  count: number;
}
