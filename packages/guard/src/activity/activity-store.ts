import type { AttackGoal } from '@security-optimizer/contract/activity/attackers';
import type { LogDropdown } from '@security-optimizer/contract/activity/log-address';
import type { VisitPreset } from '@security-optimizer/contract/activity/schemas';
import type { Range } from '../lib/address-set.js';
import type { SiteId } from '../site.js';
import type { PackedVisits } from './packed-visits.js';

/**
 * The storage interface of the Activity Log, implemented in `store/`. Times are Unix seconds unless a name ends in
 * `Ms`. Every method that returns a promise may throw StorageError.
 */

/** A batch of visits of one site for the writer thread. */
export interface VisitBatch {
  readonly site: SiteId;
  readonly visits: PackedVisits;
  /** Number of visits that were dropped since the last batch. */
  readonly dropped: number;
}

/** An inclusive range of addresses as 16-byte keys in hexadecimal (IPv4 as ::ffff:a.b.c.d). */
export interface KeyRange {
  readonly low: string;
  readonly high: string;
}

export interface VisitFilter {
  /** `from` and `to`: Unix seconds, inclusive; null = unbounded. */
  readonly from: number | null;
  readonly to: number | null;
  /** Visitor type as displayed, for example `Human`. */
  readonly type: string | null;
  /** HTTP status. */
  readonly code: number | null;
  /** Ranges of addresses that do not overlap; an empty list matches nothing, null matches all addresses. */
  readonly addresses: readonly KeyRange[] | null;
  readonly preset?: VisitPreset | null;
  readonly goal?: AttackGoal | null;
  readonly search?: TextSearch | null;
}

/** A search text that is not an address. */
export interface TextSearch {
  /** Part of a path, or a login. */
  readonly text: string;
  /** The whole path, without the query; null for a part of it. */
  readonly path: string | null;
  /** Number of the reference that the text may be; null when it is no reference. */
  readonly reference: number | null;
}

export interface EventFilter {
  readonly from: number | null;
  readonly to: number | null;
  /** Visitor id of a user. */
  readonly user?: number | null;
  /** Id of an activity kind of the catalogue. */
  readonly activity?: string | null;
  /** See `VisitFilter`. */
  readonly addresses?: VisitFilter['addresses'];
  readonly search?: TextSearch | null;
}

export interface Window<Filter> {
  readonly site: SiteId;
  readonly filter: Filter;
  /** Id of the newest row of the list (its anchor); null = the newest row now. */
  readonly anchor: number | null;
  /** Only rows before this id; null = from the anchor on. */
  readonly before: number | null;
  /** Rows to skip first (for a page that was not reached from its predecessor). */
  readonly skip: number;
  readonly limit: number;
}

/** Rows of a page, and where the search stopped. */
export interface FoundRows<Row> {
  readonly rows: readonly Row[];
  /** Id before which to continue when a text search stopped before the page was full; null otherwise. */
  readonly stoppedAt: number | null;
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
  /** Goal of the request, or null. */
  readonly goal: AttackGoal | null;
  /** Wrong passwords in each request of the row. */
  readonly failedLogins: number;
  /** Login that they were sent for; empty when there was none. */
  readonly tried: string;
  /** Hits of the row's own address. */
  readonly count: number;
  /** Refused visits that were folded into the row during a flood, see `fold-visits`. */
  readonly more: number;
  /**
   * Prefix length of the network of the folded visits, 0 for any; null if they have the row's address and are counted
   * in `count`.
   */
  readonly moreBits: number | null;
}

/** A visit with all its details. Texts are empty where nothing is known. */
export interface VisitDetails extends VisitRow {
  readonly method: string;
  readonly agent: string;
  readonly referer: string;
  /** Scheme and host. */
  readonly origin: string;
  /** Number of its reference; 0 when it has none. */
  readonly reference: number;
  /** Rows of its visitor. */
  readonly visitorRows: number;
}

/** Refused requests, wrong passwords and scans of several days, from the counters of each day. */
export interface AttackFacts {
  readonly totals: readonly AttackTotal[];
  readonly attackers: readonly AttackerDay[];
  readonly targets: readonly TopEntry[];
  /** Estimated number of different addresses. */
  readonly estimatedAddresses: number;
}

export interface AttackTotal {
  readonly goal: AttackGoal;
  readonly refused: number;
  /** Wrong passwords in requests that were not refused. */
  readonly failed: number;
  /** Scans that were not refused. */
  readonly scanned: number;
}

/** The most frequent target, if one has the majority (Boyer and Moore's vote), and its lead. */
export type LeadingTarget = readonly [target: string, lead: number];

/** One attacker on one day. */
export interface AttackerDay {
  readonly day: string;
  readonly who: 'address' | 'network';
  readonly value: string;
  /** Hits that certainly belong to this attacker. */
  readonly hits: number;
  /** Whether the counter belonged to another attacker before. */
  readonly isReplaced: boolean;
  /** By the index in `attackGoals`. */
  readonly goals: readonly number[];
  /** Those of them that are only scans. */
  readonly scans: number;
  /** By the same index. */
  readonly targets: readonly (LeadingTarget | null | undefined)[];
  readonly since: number;
}

export interface EventRow {
  readonly id: number;
  readonly at: number;
  readonly address: string;
  readonly hostname: string | null;
  /** Visitor id of the user; 0 if no user was signed in. */
  readonly visitorId: number;
  /** Visitor id of the address; 0 without an address. */
  readonly addressVisitorId: number;
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
  /** Matching rows up to the anchor; `exact` is false if counting stopped at a limit. */
  readonly rows: number;
  readonly exact: boolean;
}

/** An event to store. Storing is idempotent by `uid`. */
export interface NewEvent {
  readonly uid: string;
  readonly at: number;
  readonly kind: string;
  readonly user: { readonly id: number; readonly login: string } | null;
  /** The program that caused it, displayed in place of a user when nobody was signed in. */
  readonly program?: string;
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
  /** Name of the search engine that DNS verified, or null. */
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

/** What retention keeps. */
export interface RetainedActivity {
  /** Earlier rows are deleted; Unix seconds. */
  readonly before: number;
  /** Maximum number of visits, and of events, of the site; the oldest are deleted. */
  readonly maxRows: number;
  /** Visitors that are kept even if no row refers to them. */
  readonly blocked: readonly number[];
}

export interface ActivityStore {
  /**
   * Sends batches to the writer thread; resolves when all are committed. Never waits for readers. Visits that cannot be
   * written do not make it fail: they are counted once as dropped visits of their site.
   */
  write(batches: readonly VisitBatch[]): Promise<void>;
  listVisits(window: Window<VisitFilter>): Promise<readonly VisitRow[]>;
  /** Finds visits by the text or reference of the filter, in bounded steps. */
  searchVisits(window: Window<VisitFilter>): Promise<FoundRows<VisitRow>>;
  /** Returns a visit with all its details, or null. */
  visit(site: SiteId, id: number): Promise<VisitDetails | null>;
  /** Lists visits of the visitor around one of them, newest first. */
  visitsAround(
    site: SiteId,
    visit: { readonly id: number; readonly visitorId: number },
    limit: number,
  ): Promise<readonly VisitRow[]>;
  countVisits(site: SiteId, filter: VisitFilter, anchor: number | null): Promise<Counted>;
  /** Counts rows newer than `since`, up to `limit`. */
  newVisits(site: SiteId, filter: VisitFilter, since: number, limit: number): Promise<number>;
  newestVisit(site: SiteId): Promise<number>;

  /** Stores the events that are not stored yet; resolves when they are on disk. */
  writeEvents(site: SiteId, events: readonly NewEvent[]): Promise<void>;
  listEvents(window: Window<EventFilter>): Promise<readonly EventRow[]>;
  searchEvents(window: Window<EventFilter>): Promise<FoundRows<EventRow>>;
  countEvents(site: SiteId, filter: EventFilter, anchor: number | null): Promise<Counted>;
  newEvents(site: SiteId, filter: EventFilter, since: number, limit: number): Promise<number>;
  newestEvent(site: SiteId): Promise<number>;

  /** Lists options of a filter that contain the text, most frequent first, at most `limit`. */
  options(
    site: SiteId,
    filter: LogDropdown,
    search: string,
    limit: number,
  ): Promise<readonly { readonly label: string; readonly value: string }[]>;

  /** Returns the visitor of an address or user, creating it if it is new. */
  getAddressVisitor(site: SiteId, address: string): Promise<Visitor>;
  getUserVisitor(site: SiteId, user: { readonly id: number; readonly login: string }): Promise<Visitor>;
  visitor(site: SiteId, id: number): Promise<Visitor | null>;
  /** Returns the search engine that DNS verified for a visitor in this range, or null. */
  verifiedBotIn(site: SiteId, range: Range): Promise<string | null>;
  /** Counts the addresses of a range that have a visitor, up to `limit`. */
  countVisitorsIn(site: SiteId, range: Range, limit: number): Promise<number>;
  setHostname(site: SiteId, visitorId: number, hostname: string | null, verifiedBot: string | null): Promise<void>;

  /**
   * Returns hits per hour, for hours that begin in [from, to), oldest first; hours without hits are omitted. Kept for
   * 35 days. A refused visit counts as blocked only.
   */
  traffic(site: SiteId, from: number, to: number): Promise<readonly TrafficHour[]>;
  /**
   * Returns wrong passwords per hour, for the same hours; hours without any are omitted. This is the only count of
   * failed logins: each password that was compared and wrong, whether the account exists or not.
   */
  failedLogins(
    site: SiteId,
    from: number,
    to: number,
  ): Promise<readonly { readonly hour: number; readonly count: number }[]>;
  /** Returns the number of addresses that sent wrong passwords on the days from `fromDay` to `toDay`, inclusive. */
  failedLoginAddresses(site: SiteId, fromDay: string, toDay: string): Promise<number>;
  /** Returns the attackers on the days from `fromDay` to `toDay`, inclusive. */
  attacks(site: SiteId, fromDay: string, toDay: string): Promise<AttackFacts>;
  /**
   * Counts logins of addresses since a time of each, by address. Addresses without logins are omitted.
   * @param attackers addresses and Unix seconds
   */
  readAttackedLogins(
    site: SiteId,
    attackers: readonly { readonly address: string; readonly since: number }[],
  ): Promise<ReadonlyMap<string, number>>;
  /** Returns visitors by address. Addresses without a visitor are omitted. */
  readVisitors(site: SiteId, addresses: readonly string[]): Promise<ReadonlyMap<string, Visitor>>;
  /**
   * Returns hits of an address for each hour from that of `from` to the last one that begins before `to`, oldest first.
   */
  visitorHours(site: SiteId, visitorId: number, from: number, to: number): Promise<readonly number[]>;
  /**
   * Lists the most frequent values of `address`, `page`, `failed-login` (addresses by wrong passwords) or
   * `attacked-page` (targets of attacks, see `attackTarget`). Days are `YYYY-MM-DD` in the site's time zone.
   */
  top(
    site: SiteId,
    what: 'address' | 'page' | 'failed-login' | 'attacked-page',
    fromDay: string,
    toDay: string,
    limit: number,
  ): Promise<readonly TopEntry[]>;
  /** Counts events by kind in the hours that begin in [from, to), most frequent first. Kept for 35 days. */
  eventKinds(
    site: SiteId,
    from: number,
    to: number,
  ): Promise<readonly { readonly kind: string; readonly count: number }[]>;
  /** Counts visits that were not recorded in the hours of [from, to); by default those of the last 35 days. */
  droppedVisits(site: SiteId, from?: number, to?: number): Promise<number>;

  /**
   * Deletes some expired rows, which takes some milliseconds of the writer thread.
   * @returns whether there is more to delete
   */
  retain(site: SiteId, keep: RetainedActivity): Promise<boolean>;
  close(): Promise<void>;
}
