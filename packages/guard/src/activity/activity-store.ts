import type { Range } from '../lib/address-set.js';
import type { SiteId } from '../site.js';
import type { PackedVisits } from './packed-visits.js';

/**
 * What the Activity Log needs from storage. Times are Unix seconds unless a name ends in `Ms`. Every method that
 * returns a promise may throw StorageError. Implemented in storage/activity/.
 */

/** A batch of visits for the writing thread. */
export interface VisitBatch {
  readonly site: SiteId;
  readonly visits: PackedVisits;
  /** Visits that did not fit since the last batch. */
  readonly dropped: number;
}

export interface VisitFilter {
  /** Unix seconds, both inside; null = open. */
  readonly from: number | null;
  readonly to: number | null;
  /** Visitor type as shown, for example `Human`. */
  readonly type: string | null;
  /** HTTP status. */
  readonly code: number | null;
  /** An address, or an inclusive stretch of addresses as 16-byte keys in hexadecimal (IPv4 as ::ffff:a.b.c.d). */
  readonly addresses: { readonly low: string; readonly high: string } | null;
}

export interface EventFilter {
  readonly from: number | null;
  readonly to: number | null;
  /** Visitor id of a user. */
  readonly user: number | null;
  /** Id of a kind of the catalogue. */
  readonly activity: string | null;
}

export interface Window<Filter> {
  readonly site: SiteId;
  readonly filter: Filter;
  /** Newest row of the list (its anchor); null = the newest there is now. */
  readonly anchor: number | null;
  /** Rows before this id; null = from the anchor on. */
  readonly before: number | null;
  /** Rows to skip first (for a page that was not reached by its predecessor). */
  readonly skip: number;
  readonly limit: number;
}

export interface VisitRow {
  readonly id: number;
  readonly at: number;
  readonly address: string;
  readonly hostname: string | null;
  readonly visitorId: number;
  readonly type: string;
  readonly target: string;
  readonly status: number;
  readonly rule: string | null;
  /** Hits of the row's own address. */
  readonly count: number;
  /** Refused visits that were folded into the row in a flood, see `fold-visits`. */
  readonly more: number;
  /** Bits of the network that those came from, 0 for anywhere; null when they are of the row's own address, in `count`. */
  readonly moreBits: number | null;
}

export interface EventRow {
  readonly id: number;
  readonly at: number;
  readonly address: string;
  readonly hostname: string | null;
  /** Visitor id of the user; 0 when nobody was signed in. */
  readonly visitorId: number;
  readonly userId: number;
  readonly login: string;
  readonly kind: string;
  readonly object: string;
  readonly objectType: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly origin: 'web' | 'cli' | 'cron' | 'system';
}

export interface Counted {
  /** Rows that match up to the anchor; `exact` is false when counting stopped at a bound. */
  readonly rows: number;
  readonly exact: boolean;
}

/** An event on its way in. `uid` makes storing it twice harmless. */
export interface NewEvent {
  readonly uid: string;
  readonly at: number;
  readonly kind: string;
  readonly user: { readonly id: number; readonly login: string } | null;
  readonly address: string;
  readonly origin: EventRow['origin'];
  readonly object: string;
  readonly objectType: string;
  readonly before: string | null;
  readonly after: string | null;
}

export interface Visitor {
  readonly id: number;
  readonly kind: 'ip' | 'user';
  /** Address, or login as last seen. */
  readonly name: string;
  /** WordPress user id, for a user. */
  readonly userId: number | null;
  readonly hostname: string | null;
  /** Name of the search engine that DNS proved it to be, or null. */
  readonly verifiedBot: string | null;
  readonly firstSeen: number;
  readonly lastSeen: number;
}

export interface TrafficHour {
  /** Unix seconds, start of the hour (UTC). */
  readonly hour: number;
  readonly humans: number;
  readonly bots: number;
  readonly blocked: number;
}

export interface TopEntry {
  readonly value: string;
  readonly count: number;
}

/** What clearing up leaves in place. */
export interface RetainedActivity {
  /** Rows of earlier times go; Unix seconds. */
  readonly before: number;
  /** Most visits of the site, and most events; the oldest go. */
  readonly maxRows: number;
  /** Visitors that stay although nothing of them is left. */
  readonly blocked: readonly number[];
}

export interface ActivityStore {
  /**
   * Hands a batch to the writing thread, and resolves when it is committed. Never waits for readers, and never fails
   * for the visits' sake: what cannot be written is counted among the site's dropped visits, here, once.
   */
  write(batch: VisitBatch): Promise<void>;
  listVisits(window: Window<VisitFilter>): Promise<readonly VisitRow[]>;
  countVisits(site: SiteId, filter: VisitFilter, anchor: number | null): Promise<Counted>;
  /** Rows newer than `since`, counted to `most`. */
  newVisits(site: SiteId, filter: VisitFilter, since: number, most: number): Promise<number>;
  newestVisit(site: SiteId): Promise<number>;

  /** Stores what is new among the events; resolves when it is on disk. */
  writeEvents(site: SiteId, events: readonly NewEvent[]): Promise<void>;
  listEvents(window: Window<EventFilter>): Promise<readonly EventRow[]>;
  countEvents(site: SiteId, filter: EventFilter, anchor: number | null): Promise<Counted>;
  newEvents(site: SiteId, filter: EventFilter, since: number, most: number): Promise<number>;
  newestEvent(site: SiteId): Promise<number>;

  /** Choices of a filter that hold the text, most frequent first, at most `most`. */
  options(
    site: SiteId,
    filter: 'type' | 'code' | 'ip' | 'user' | 'activity',
    search: string,
    most: number,
  ): Promise<readonly { readonly label: string; readonly value: string }[]>;

  /** The visitor for an address or user, made when it is new. */
  visitorOfAddress(site: SiteId, address: string): Promise<Visitor>;
  visitorOfUser(site: SiteId, user: { readonly id: number; readonly login: string }): Promise<Visitor>;
  visitor(site: SiteId, id: number): Promise<Visitor | null>;
  /** The search engine that DNS proved a visitor of these addresses to be; null when there is none. */
  verifiedBotIn(site: SiteId, range: Range): Promise<string | null>;
  setHostname(site: SiteId, visitorId: number, hostname: string | null, verifiedBot: string | null): Promise<void>;

  /**
   * Hits per hour that were counted, for hours that begin from (inside) to (outside), oldest first; hours without hits
   * are left out. Kept 35 days. A refused visit counts as blocked only.
   */
  traffic(site: SiteId, from: number, to: number): Promise<readonly TrafficHour[]>;
  /** Log-ins that were refused before a password was looked at, in the same hours. They are among the blocked visits. */
  refusedLogins(site: SiteId, from: number, to: number): Promise<number>;
  /** Hits of an address in each hour from the one of `from` to the last that begins before `to`, oldest first. */
  visitorHours(site: SiteId, visitorId: number, from: number, to: number): Promise<readonly number[]>;
  /** `what`: `address`, `page` or `failed-login` (addresses by refused or failed log-ins). Days are `YYYY-MM-DD`, those of the site's time zone. */
  top(
    site: SiteId,
    what: 'address' | 'page' | 'failed-login',
    fromDay: string,
    toDay: string,
    most: number,
  ): Promise<readonly TopEntry[]>;
  /** Events per kind in the hours that begin from (inside) to (outside), most frequent first. Kept 35 days. */
  eventKinds(
    site: SiteId,
    from: number,
    to: number,
  ): Promise<readonly { readonly kind: string; readonly count: number }[]>;
  /** Visits that were not recorded in the hours from `from` to `to` (outside); of the last 35 days without them. */
  droppedVisits(site: SiteId, from?: number, to?: number): Promise<number>;

  /** One small step of clearing up, some milliseconds of the writing thread. @returns whether there is more to do */
  retain(site: SiteId, keep: RetainedActivity): Promise<boolean>;
  close(): Promise<void>;
}
