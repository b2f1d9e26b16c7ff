import { type Kysely, sql } from 'kysely';
import type { AddressSet } from '../../lib/address-set.js';
import { TimedAddresses } from '../../lib/timed-addresses.js';
import { type Actor, addAuditRows, isCommandLine, type JsonValue } from '../../settings/audit-store.js';
import type { SiteId } from '../../site.js';
import { nextSiteVersion } from '../../storage/change-feed.js';
import { type Database, inTransaction, readAddressList, withTables } from '../../storage/database.js';
import { type BlocklistTables, RANGE_IDS } from './blocklist-tables.js';
import { blocklistQueries, type PreloadedBlocks } from './preload-blocklist.js';

/** A visitor whom the owner has blocked. */
export interface BlockedVisitor {
  /** Later blocks have greater ids. */
  readonly id: number;
  readonly kind: 'ip' | 'range' | 'user';
  /** One address, a range in the format of `parseRange`, or the id of a user. */
  readonly value: string;
  /** 0 when the Activity Log had no visitor for it when it was blocked. */
  readonly visitorId: number;
  /** Address, range or login, for display. */
  readonly name: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** When it ends, milliseconds since the Unix epoch; null: permanent. */
  readonly until: number | null;
  readonly note: string;
  /** Who blocked it: a person in the dashboard, or the command line. */
  readonly by: 'owner' | 'cli';
  /** Login of the person; empty for the command line, and where it is unknown. */
  readonly byLogin: string;
}

/** When a block ends, and the note of its author. */
export interface BlockTerms {
  /** Milliseconds since the Unix epoch; null: permanent. */
  readonly until: number | null;
  readonly note: string;
}

/** A block to store. `visitorId` null: it gets an id of its own, as for a range, which is no visitor. */
export interface NewBlock extends Pick<BlockedVisitor, 'kind' | 'value' | 'name'>, Partial<BlockTerms> {
  readonly visitorId: number | null;
}

/** Site, author and time of a change. */
export interface BlockChange {
  readonly site: SiteId;
  readonly actor: Actor;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** The versions after a change: of the site, for the change feed, and of its blocks. */
export interface BlockVersions {
  readonly site: number;
  readonly blocks: number;
}

export interface Blocked {
  readonly visitorId: number;
  /** Null when nothing was changed, since it was blocked with the same end and note. */
  readonly versions: BlockVersions | null;
}

/** Stores blocks. Every method may throw StorageError. */
export interface BlocklistStore {
  /**
   * Stores a block with its audit row, all or nothing. It replaces the block of the same visitor.
   * @returns null when the actor has been blocked in the meantime: of two administrators who block each other, one
   * remains
   */
  block(change: BlockChange, block: NewBlock): Promise<Blocked | null>;
  /**
   * Deletes a block, with an audit row.
   * @returns null when there was none
   */
  unblock(change: BlockChange, who: Pick<BlockedVisitor, 'kind' | 'value'>): Promise<BlockVersions | null>;
  /**
   * Deletes blocks that have ended, of all sites, each with an audit row; at most `limit`.
   * @param now milliseconds since the Unix epoch
   * @returns their sites with the new versions
   */
  removeEnded(now: number, limit: number): Promise<readonly { readonly site: SiteId; readonly version: number }[]>;
  /** Returns when the next block of any site ends, milliseconds since the Unix epoch; null when none has an end. */
  nextEnd(): Promise<number | null>;
  /** Returns the block of a visitor, or null. */
  findByVisitorId(site: SiteId, visitorId: number): Promise<BlockedVisitor | null>;
  find(site: SiteId, kind: BlockedVisitor['kind'], value: string): Promise<BlockedVisitor | null>;
  /** Returns the blocks of that name: an address, a range or a login. */
  listByName(site: SiteId, name: string): Promise<readonly BlockedVisitor[]>;
  /** Returns the ranges that are blocked at a time, newest first. */
  listRanges(site: SiteId, now: number, limit: number): Promise<readonly BlockedVisitor[]>;
  /** Returns those of the given addresses that are blocked singly at a time. */
  findAddresses(site: SiteId, now: number, values: readonly string[]): Promise<readonly BlockedVisitor[]>;
  /**
   * Returns the blocks that were made up to `until` (milliseconds) and apply at `now` (default: `until`), newest first.
   */
  list(
    site: SiteId,
    page: { until: number; now?: number; skip: number; limit: number },
  ): Promise<readonly BlockedVisitor[]>;
  /** Counts the same blocks. */
  count(site: SiteId, until: number, now?: number): Promise<number>;
  /** Stores the visitor of an address, once it is known. */
  setVisitorId(site: SiteId, id: number, visitorId: number): Promise<void>;
  /** Returns the ids of blocked users, lowest first. */
  users(site: SiteId): Promise<readonly number[]>;
  /** The same for all sites, with one query. Sites without any are omitted. */
  allUsers(): Promise<ReadonlyMap<SiteId, readonly number[]>>;
  /**
   * Returns the addresses and ranges that are blocked permanently; there may be a million.
   * @param version of the blocks, current or from a moment ago
   */
  addresses(site: SiteId, version: number): Promise<AddressSet>;
  /** Returns the same without single IPv4 addresses. */
  ranges(site: SiteId): Promise<AddressSet>;
  /** Returns the addresses and ranges that are blocked until a time. */
  timed(site: SiteId): Promise<TimedAddresses>;
  /** Returns the version of the blocks; 0 when there never was one. */
  version(site: SiteId): Promise<number>;
  /** Returns the newest visitors of the Activity Log that are blocked. */
  visitorIds(site: SiteId, limit: number): Promise<readonly number[]>;
}

/** The actor of a block that ends by time. */
const TIME: Actor = { id: null, login: '', address: null };

/**
 * Stores blocks in SQL tables.
 * @param preloaded lists that were read before this store was created
 */
export function sqlBlocklistStore(database: Database, preloaded?: PreloadedBlocks): BlocklistStore {
  const db = withTables<BlocklistTables>(database);
  const selectBlocks = (site: SiteId) => db.selectFrom('blocked_visitors').where('site', '=', site);
  const one = async (query: ReturnType<typeof selectBlocks>) => {
    const row = await query.selectAll().executeTakeFirst();
    return row === undefined ? null : toBlockedVisitor(row);
  };

  return {
    block: (change, { kind, value, visitorId, name, until = null, note = '' }) =>
      inTransaction(db, change.site, async (transaction) => {
        const { site, actor, at } = change;
        if (await isBlockedUser(transaction, site, actor.id, at)) return null;
        const before = await transaction
          .selectFrom('blocked_visitors')
          .select(['id', 'visitor_id', 'until', 'note'])
          .where('site', '=', site)
          .where('kind', '=', kind)
          .where('value', '=', value)
          .executeTakeFirst();
        const by = { created_at: at, by_id: actor.id, by_login: actor.login, until, note };
        const details = { kind, value, name, ...(until === null ? {} : { until }), ...(note === '' ? {} : { note }) };
        if (before !== undefined) {
          const visitorId = Number(before.visitor_id);
          const end = before.until === null ? null : Number(before.until);
          if (end === until && before.note === note) return { visitorId, versions: null };
          await transaction.updateTable('blocked_visitors').set(by).where('id', '=', before.id).execute();
          return { visitorId, versions: await recordChange(transaction, change, 'block_visitor', null, details) };
        }
        const { id } = await transaction
          .insertInto('blocked_visitors')
          .values({ ...by, site, kind, value, name, visitor_id: visitorId ?? 0 })
          .returning('id')
          .executeTakeFirstOrThrow();
        if (visitorId === null) {
          await transaction
            .updateTable('blocked_visitors')
            .set({ visitor_id: RANGE_IDS + id })
            .where('id', '=', id)
            .execute();
        }
        const versions = await recordChange(transaction, change, 'block_visitor', null, details);
        return { visitorId: visitorId ?? RANGE_IDS + id, versions };
      }),

    unblock: (change, { kind, value }) =>
      inTransaction(db, change.site, async (transaction) => {
        const removed = await transaction
          .deleteFrom('blocked_visitors')
          .where('site', '=', change.site)
          .where('kind', '=', kind)
          .where('value', '=', value)
          .returning('name')
          .executeTakeFirst();
        if (removed === undefined) return null;
        return recordChange(transaction, change, 'unblock_visitor', { kind, value, name: removed.name }, null);
      }),

    async removeEnded(now, limit) {
      const ended = await db
        .selectFrom('blocked_visitors')
        .select(['site', 'id'])
        .where('until', 'is not', null)
        .where('until', '<=', now)
        .orderBy('until')
        .limit(limit)
        .execute();
      const sites = [...new Set(ended.map(({ site }) => site))];
      const versions: { site: SiteId; version: number }[] = [];
      for (const site of sites) {
        const ids = ended.filter((row) => row.site === site).map(({ id }) => id);
        const version = await inTransaction(db, site, (transaction) => removeBlocks(transaction, site, ids, now));
        if (version !== null) versions.push({ site, version });
      }
      return versions;
    },

    async nextEnd() {
      const row = await db
        .selectFrom('blocked_visitors')
        .select((from) => from.fn.min('until').as('until'))
        .where('until', 'is not', null)
        .executeTakeFirst();
      return row?.until == null ? null : Number(row.until);
    },

    findByVisitorId: (site, visitorId) => one(selectBlocks(site).where('visitor_id', '=', visitorId)),
    find: (site, kind, value) => one(selectBlocks(site).where('kind', '=', kind).where('value', '=', value)),

    async listByName(site, name) {
      return (await selectBlocks(site).where('name', '=', name).selectAll().execute()).map(toBlockedVisitor);
    },

    async listRanges(site, now, limit) {
      const rows = await selectBlocks(site)
        .where('kind', '=', 'range')
        .where(appliesAt(now))
        .selectAll()
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(toBlockedVisitor);
    },

    async findAddresses(site, now, values) {
      if (values.length === 0) return [];
      const rows = await selectBlocks(site)
        .where('kind', '=', 'ip')
        .where('value', 'in', values)
        .where(appliesAt(now))
        .selectAll()
        .execute();
      return rows.map(toBlockedVisitor);
    },

    async list(site, { until, now = until, skip, limit }) {
      const rows = await selectBlocks(site)
        .where('created_at', '<=', until)
        .where(appliesAt(now))
        .selectAll()
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .offset(skip)
        .limit(limit)
        .execute();
      return rows.map(toBlockedVisitor);
    },

    async count(site, until, now = until) {
      const counted = (query: ReturnType<typeof selectBlocks>) =>
        query.select((expression) => expression.fn.countAll().as('rows')).executeTakeFirstOrThrow();
      const created = selectBlocks(site).where('created_at', '<=', until);
      // A million rows are counted along an index that does not contain their ends; those that have ended are few.
      const [all, over] = await Promise.all([
        counted(created),
        counted(created.where('until', 'is not', null).where('until', '<=', now)),
      ]);
      return Number(all.rows) - Number(over.rows);
    },

    async setVisitorId(site, id, visitorId) {
      await db
        .updateTable('blocked_visitors')
        .set({ visitor_id: visitorId })
        .where('site', '=', site)
        .where('id', '=', id)
        .execute();
    },

    async users(site) {
      const rows = await selectBlocks(site).where('kind', '=', 'user').select('value').execute();
      return rows.map(({ value }) => Number(value)).sort((a, b) => a - b);
    },

    async allUsers() {
      const found = new Map<SiteId, number[]>();
      const query = db.selectFrom('blocked_visitors').select(['site', 'value']).where('kind', '=', 'user');
      for (const { site, value } of await query.execute()) found.set(site, [...(found.get(site) ?? []), Number(value)]);
      return new Map([...found].map(([site, ids]) => [site, ids.sort((a, b) => a - b)]));
    },
    async addresses(site, version) {
      const read = await preloaded?.take(site, version);
      return read ?? readAddressList(db, (kind) => blocklistQueries(kind, site, 'all'));
    },
    async timed(site) {
      const rows = await selectBlocks(site)
        .select(['value', 'until'])
        .where('until', 'is not', null)
        .where('kind', '!=', 'user')
        .execute();
      return TimedAddresses.from(rows.map(({ value, until }) => ({ value, until: Number(until) })));
    },

    ranges: (site) => readAddressList(db, (kind) => blocklistQueries(kind, site, 'ranges')),

    async version(site) {
      const row = await db.selectFrom('blocked_versions').select('version').where('site', '=', site).executeTakeFirst();
      return Number(row?.version ?? 0);
    },

    async visitorIds(site, limit) {
      const rows = await selectBlocks(site)
        .where('visitor_id', '>', 0)
        .where('visitor_id', '<', RANGE_IDS)
        .select('visitor_id')
        .orderBy('created_at', 'desc')
        .limit(limit)
        .execute();
      return rows.map((row) => Number(row.visitor_id));
    },
  };
}

/**
 * Returns the condition of a block that has not ended.
 * @param now milliseconds since the Unix epoch
 */
function appliesAt(now: number) {
  return sql<boolean>`(until is null or until > ${now})`;
}

/**
 * Deletes blocks of a site that have ended by `now`; one that was prolonged in the meantime stays.
 * @returns the site's new version, or null when there was none left
 */
async function removeBlocks(
  db: Kysely<BlocklistTables>,
  site: SiteId,
  ids: readonly number[],
  now: number,
): Promise<number | null> {
  const removed = await db
    .deleteFrom('blocked_visitors')
    .where('site', '=', site)
    .where('id', 'in', ids)
    .where('until', 'is not', null)
    .where('until', '<=', now)
    .returning(['kind', 'value', 'name', 'until'])
    .execute();
  let version: number | null = null;
  for (const { kind, value, name, until } of removed) {
    // The time of its end, which may be long ago if guard was not running.
    const change = { site, actor: TIME, at: Number(until) };
    version = (await recordChange(db, change, 'block_ended', { kind, value, name }, null)).site;
  }
  return version;
}

async function isBlockedUser(
  db: Kysely<BlocklistTables>,
  site: SiteId,
  user: number | null,
  now: number,
): Promise<boolean> {
  if (user === null) return false;
  const row = await db
    .selectFrom('blocked_visitors')
    .select('id')
    .where('site', '=', site)
    .where('kind', '=', 'user')
    .where('value', '=', String(user))
    .where(appliesAt(now))
    .executeTakeFirst();
  return row !== undefined;
}

async function recordChange(
  db: Kysely<BlocklistTables>,
  { site, actor, at }: BlockChange,
  name: string,
  before: JsonValue,
  after: JsonValue,
): Promise<BlockVersions> {
  await addAuditRows(db, site, { actor, at }, [{ name, before, after }]);
  const { version } = await db
    .insertInto('blocked_versions')
    .values({ site, version: 1 })
    .onConflict((conflict) =>
      conflict
        .column('site')
        .doUpdateSet((row) => ({ version: sql<number>`${row.ref('blocked_versions.version')} + 1` })),
    )
    .returning('version')
    .executeTakeFirstOrThrow();
  return { blocks: Number(version), site: await nextSiteVersion(db, site) };
}

interface BlockRow {
  readonly id: number;
  readonly kind: BlockedVisitor['kind'];
  readonly value: string;
  readonly visitor_id: number;
  readonly name: string;
  readonly created_at: number;
  readonly until: number | null;
  readonly note: string;
  readonly by_id: number | null;
  readonly by_login: string;
}

function toBlockedVisitor(row: BlockRow): BlockedVisitor {
  const { kind, value, name, note, until } = row;
  const cli = isCommandLine({ id: row.by_id, login: row.by_login });
  return {
    ...{ id: Number(row.id), kind, value, visitorId: Number(row.visitor_id), name, at: Number(row.created_at), note },
    until: until === null ? null : Number(until),
    by: cli ? 'cli' : 'owner',
    byLogin: cli ? '' : row.by_login,
  };
}
