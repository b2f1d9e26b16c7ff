import type { AddressSet } from '../lib/address-set.js';
import type { SiteId } from '../site.js';
import type { Actor } from '../storage/settings-store.js';

/** Someone whom the owner has blocked. */
export interface BlockedVisitor {
  /** Grows with time. */
  readonly id: number;
  readonly kind: 'ip' | 'range' | 'user';
  /** One address, a range as `parseRange` reads it, or the id of a user. */
  readonly value: string;
  /** 0 when it was blocked before it had one. */
  readonly visitorId: number;
  /** Address, range or login, for people. */
  readonly name: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** A block on its way in. `visitorId` null: it gets an id of its own, as a range that no visitor is. */
export interface NewBlock extends Pick<BlockedVisitor, 'kind' | 'value' | 'name'> {
  readonly visitorId: number | null;
}

/** What a change needs to be told. */
export interface BlockChange {
  readonly site: SiteId;
  readonly actor: Actor;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** The versions that a change brought about: of the site, for the change feed, and of its blocks. */
export interface BlockVersions {
  readonly site: number;
  readonly blocks: number;
}

export interface Blocked {
  readonly visitorId: number;
  /** Null when it was blocked already: nothing was changed. */
  readonly versions: BlockVersions | null;
}

/** Where blocks live. Every method may throw StorageError. */
export interface BlockedVisitorsStore {
  /**
   * Stores a block with its audit row, all or nothing.
   * @returns null when the actor is a blocked user by now: of two administrators who block each other, one stays
   */
  block(change: BlockChange, block: NewBlock): Promise<Blocked | null>;
  /** Ends a block, with its audit row. @returns null when there was none */
  unblock(change: BlockChange, who: Pick<BlockedVisitor, 'kind' | 'value'>): Promise<BlockVersions | null>;
  /** The block of a visitor, or null. */
  ofVisitor(site: SiteId, visitorId: number): Promise<BlockedVisitor | null>;
  find(site: SiteId, kind: BlockedVisitor['kind'], value: string): Promise<BlockedVisitor | null>;
  /** Blocks of that name: an address, a range or a login. */
  named(site: SiteId, name: string): Promise<readonly BlockedVisitor[]>;
  /** Blocks up to `until` (milliseconds), newest first. */
  list(site: SiteId, page: { until: number; skip: number; limit: number }): Promise<readonly BlockedVisitor[]>;
  count(site: SiteId, until: number): Promise<number>;
  /** Notes which visitor an address is, once that is known. */
  setVisitorId(site: SiteId, id: number, visitorId: number): Promise<void>;
  /** Ids of users who are blocked, lowest first. */
  users(site: SiteId): Promise<readonly number[]>;
  /** Addresses and ranges, of which there may be a million. @param version that the blocks have, or had a moment ago */
  addresses(site: SiteId, version: number): Promise<AddressSet>;
  /** The same without single IPv4 addresses. */
  ranges(site: SiteId): Promise<AddressSet>;
  /** 0 when nothing was ever blocked. */
  version(site: SiteId): Promise<number>;
  /** Newest visitors of the Activity Log that are blocked. */
  visitorIds(site: SiteId, most: number): Promise<readonly number[]>;
}
