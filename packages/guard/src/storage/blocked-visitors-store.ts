import { sql } from 'kysely';
import type { BlockChange, BlockedVisitor, BlockedVisitorsStore, BlockVersions } from '../activity/blocked-visitors.js';
import type { SiteId } from '../site.js';
import { addAuditRows } from './audit-store.js';
import { RANGE_IDS } from './blocked-visitors-table.js';
import { type Database, withThread } from './database.js';
import type { EarlyBlocks } from './early-blocks.js';
import { type JsonValue, nextSiteVersion } from './settings-store.js';

/** Blocks in SQL tables. @param early lists that were read before this store was made */
export function sqlBlockedVisitorsStore(db: Database, early?: EarlyBlocks): BlockedVisitorsStore {
  const rowsOf = (site: SiteId) => db.selectFrom('blocked_visitors').where('site', '=', site);
  const one = async (query: ReturnType<typeof rowsOf>) => {
    const row = await query.selectAll().executeTakeFirst();
    return row === undefined ? null : blockOf(row);
  };

  return {
    block: (change, { kind, value, visitorId, name }) =>
      db.transaction().execute(async (transaction) => {
        const { site, actor, at } = change;
        if (await isBlockedUser(transaction, site, actor.id)) return null;
        const before = await transaction
          .selectFrom('blocked_visitors')
          .select(['id', 'visitor_id'])
          .where('site', '=', site)
          .where('kind', '=', kind)
          .where('value', '=', value)
          .executeTakeFirst();
        if (before !== undefined) return { visitorId: Number(before.visitor_id), versions: null };
        const { insertId } = await transaction
          .insertInto('blocked_visitors')
          .values({
            ...{ site, kind, value, name, created_at: at },
            ...{ visitor_id: visitorId ?? 0, by_id: actor.id, by_login: actor.login },
          })
          .executeTakeFirstOrThrow();
        const id = Number(insertId);
        if (visitorId === null) {
          await transaction
            .updateTable('blocked_visitors')
            .set({ visitor_id: RANGE_IDS + id })
            .where('id', '=', id)
            .execute();
        }
        const versions = await noteChange(transaction, change, 'block_visitor', null, { kind, value, name });
        return { visitorId: visitorId ?? RANGE_IDS + id, versions };
      }),

    unblock: (change, { kind, value }) =>
      db.transaction().execute(async (transaction) => {
        const gone = await transaction
          .deleteFrom('blocked_visitors')
          .where('site', '=', change.site)
          .where('kind', '=', kind)
          .where('value', '=', value)
          .returning('name')
          .executeTakeFirst();
        if (gone === undefined) return null;
        return noteChange(transaction, change, 'unblock_visitor', { kind, value, name: gone.name }, null);
      }),

    ofVisitor: (site, visitorId) => one(rowsOf(site).where('visitor_id', '=', visitorId)),
    find: (site, kind, value) => one(rowsOf(site).where('kind', '=', kind).where('value', '=', value)),

    async named(site, name) {
      return (await rowsOf(site).where('name', '=', name).selectAll().execute()).map(blockOf);
    },

    async list(site, { until, skip, limit }) {
      const rows = await rowsOf(site)
        .where('created_at', '<=', until)
        .selectAll()
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .offset(skip)
        .limit(limit)
        .execute();
      return rows.map(blockOf);
    },

    async count(site, until) {
      const { rows } = await rowsOf(site)
        .where('created_at', '<=', until)
        .select((expression) => expression.fn.countAll().as('rows'))
        .executeTakeFirstOrThrow();
      return Number(rows);
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
      const rows = await rowsOf(site).where('kind', '=', 'user').select('value').execute();
      return rows.map(({ value }) => Number(value)).sort((a, b) => a - b);
    },

    async addresses(site, version) {
      const read = await early?.take(site, version);
      return read ?? withThread(db, (thread) => thread.blockedAddresses(site, 'all'));
    },
    ranges: (site) => withThread(db, (thread) => thread.blockedAddresses(site, 'ranges')),

    async version(site) {
      const row = await db.selectFrom('blocked_versions').select('version').where('site', '=', site).executeTakeFirst();
      return Number(row?.version ?? 0);
    },

    async visitorIds(site, most) {
      const rows = await rowsOf(site)
        .where('visitor_id', '>', 0)
        .where('visitor_id', '<', RANGE_IDS)
        .select('visitor_id')
        .orderBy('created_at', 'desc')
        .limit(most)
        .execute();
      return rows.map((row) => Number(row.visitor_id));
    },
  };
}

async function isBlockedUser(db: Database, site: SiteId, user: number | null): Promise<boolean> {
  if (user === null) return false;
  const row = await db
    .selectFrom('blocked_visitors')
    .select('id')
    .where('site', '=', site)
    .where('kind', '=', 'user')
    .where('value', '=', String(user))
    .executeTakeFirst();
  return row !== undefined;
}

async function noteChange(
  db: Database,
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
}

function blockOf({ id, kind, value, visitor_id, name, created_at }: BlockRow): BlockedVisitor {
  return { id: Number(id), kind, value, visitorId: Number(visitor_id), name, at: Number(created_at) };
}
