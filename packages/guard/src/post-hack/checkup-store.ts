import { CHECKS, type CheckName } from '@security-optimizer/contract/post-hack/checkup';
import { toEnglish } from '@security-optimizer/contract/server-message';
import type { Kysely, Migration } from 'kysely';
import { type Actor, addAuditRows } from '../settings/audit-store.js';
import type { SiteId } from '../site.js';
import { type Database, inTransaction, withTables } from '../storage/database.js';
import type { Migrations } from '../storage/migrations.js';
import { StorageError } from '../storage/storage-error.js';
import type { Findings } from './checkup.js';
import type { Finding } from './checkup-findings.js';

/** Checkups that are kept for each site: a year of weekly ones. */
const CHECKUPS_MAX = 60;

/** A finished checkup. Times are milliseconds. */
export interface StoredCheckup extends Findings {
  readonly id: string;
  readonly at: number;
}

export interface EarlierCheckup {
  readonly at: number;
  /** Number of findings that were not kept at that time. */
  readonly findings: number;
  readonly missing: readonly CheckName[];
}

/** A finding that a user has marked as known. */
export interface FindingMark {
  readonly key: string;
  readonly at: number;
  readonly by: string;
}

/** Results of checkups, and findings that owners keep. Every method may throw StorageError. */
export interface CheckupStore {
  /** @param slot its weekly time; null when an owner started it */
  save(site: SiteId, checkup: StoredCheckup, slot: number | null): Promise<void>;
  latest(site: SiteId): Promise<StoredCheckup | null>;
  /** Replaces the result of the latest checkup. Counts in the history remain. */
  update(site: SiteId, checkup: StoredCheckup): Promise<void>;
  /** Returns those before the latest, newest first. */
  earlier(site: SiteId, limit: number): Promise<{ readonly list: readonly EarlierCheckup[]; readonly more: number }>;
  /** Returns the latest weekly time whose checkup has run; null when there is none. */
  lastSlot(site: SiteId): Promise<number | null>;
  listMarks(site: SiteId): Promise<readonly FindingMark[]>;
  /** Marks a finding as known, or removes the mark, with an audit row. Repeating it changes nothing. */
  setMark(
    site: SiteId,
    finding: Finding,
    keep: boolean,
    by: { readonly actor: Actor; readonly at: number },
  ): Promise<void>;
}

/** Setting name of the audit rows for marks. */
const MARK_AUDIT = 'checkup_kept';

/** Stores results in SQL tables. Only the latest one of a site is complete; for the others there are counts. */
export function sqlCheckupStore(database: Database): CheckupStore {
  const db = withTables<CheckupTables>(database);
  return {
    async save(site, { id, at, ...findings }, slot) {
      await inTransaction(db, site, async (transaction) => {
        const marks = await transaction.selectFrom('checkup_kept').select('key').where('site', '=', site).execute();
        const known = new Set(marks.map(({ key }) => key));
        const missing = findings.checks.filter(({ ran }) => ran === 0).map(({ check }) => check);
        const found = findings.findings.filter(({ key }) => !known.has(key)).length;
        await transaction
          .updateTable('checkups')
          .set({ result: null })
          .where('site', '=', site)
          .where('result', 'is not', null)
          .execute();
        await transaction
          .insertInto('checkups')
          .values({ id, site, at, slot, found, missing: missing.join(','), result: JSON.stringify(findings) })
          .execute();
        const newest = transaction
          .selectFrom('checkups')
          .select('id')
          .where('site', '=', site)
          .orderBy('at', 'desc')
          .limit(CHECKUPS_MAX);
        await transaction.deleteFrom('checkups').where('site', '=', site).where('id', 'not in', newest).execute();
      });
    },

    async latest(site) {
      const row = await db
        .selectFrom('checkups')
        .select(['id', 'at', 'result'])
        .where('site', '=', site)
        .where('result', 'is not', null)
        .executeTakeFirst();
      return row === undefined ? null : { ...parseFindings(row.id, row.result ?? ''), id: row.id, at: Number(row.at) };
    },

    async update(site, { id, at: _at, ...findings }) {
      await db
        .updateTable('checkups')
        .set({ result: JSON.stringify(findings) })
        .where('site', '=', site)
        .where('id', '=', id)
        .where('result', 'is not', null)
        .execute();
    },

    async earlier(site, limit) {
      const before = db.selectFrom('checkups').where('site', '=', site).where('result', 'is', null);
      const [rows, { count }] = await Promise.all([
        before.select(['at', 'found', 'missing']).orderBy('at', 'desc').limit(limit).execute(),
        before.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
      ]);
      const list = rows.map(({ at, found, missing }) => ({
        at: Number(at),
        findings: Number(found),
        missing: CHECKS.filter((check) => missing.split(',').includes(check)),
      }));
      return { list, more: Number(count) - list.length };
    },

    async lastSlot(site) {
      const row = await db
        .selectFrom('checkups')
        .select(({ fn }) => fn.max('slot').as('slot'))
        .where('site', '=', site)
        .executeTakeFirst();
      return row?.slot == null ? null : Number(row.slot);
    },

    async listMarks(site) {
      const rows = await db
        .selectFrom('checkup_kept')
        .select(['key', 'at', 'login'])
        .where('site', '=', site)
        .orderBy('at', 'desc')
        .execute();
      return rows.map(({ key, at, login }) => ({ key, at: Number(at), by: login }));
    },

    async setMark(site, { key, title }, keep, by) {
      await inTransaction(db, site, async (transaction) => {
        const changed = keep
          ? (
              await transaction
                .insertInto('checkup_kept')
                .values({ site, key, at: by.at, login: by.actor.login })
                .onConflict((conflict) => conflict.columns(['site', 'key']).doNothing())
                .executeTakeFirstOrThrow()
            ).numInsertedOrUpdatedRows
          : (
              await transaction
                .deleteFrom('checkup_kept')
                .where('site', '=', site)
                .where('key', '=', key)
                .executeTakeFirstOrThrow()
            ).numDeletedRows;
        if (changed === 0n) return;
        // The audit trail is read by people: the English title names the finding.
        const name = { key, title: toEnglish(title) };
        const entry = keep ? { before: null, after: name } : { before: name, after: null };
        await addAuditRows(transaction as unknown as Database, site, by, [{ name: MARK_AUDIT, ...entry }]);
      });
    },
  };
}

function parseFindings(id: string, json: string): Findings {
  try {
    const stored = JSON.parse(json) as Findings;
    // Results of earlier versions do not say what can be removed.
    return {
      ...stored,
      findings: stored.findings.map((finding) => ({ ...finding, removal: finding.removal ?? null })),
    };
  } catch (cause) {
    throw new StorageError('corrupt', `The stored checkup ${id} is not JSON.`, { cause });
  }
}

export interface CheckupTables {
  checkups: {
    id: string;
    site: string;
    at: number;
    /** Its weekly time, or null. */
    slot: number | null;
    found: number;
    /** Checks that did not run, separated by commas. */
    missing: string;
    /** Findings as JSON; null for all but the latest of a site. */
    result: string | null;
  };
  checkup_kept: { site: string; key: string; at: number; login: string };
}

const checkupsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('checkups')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('slot', 'bigint')
      .addColumn('found', 'integer', (column) => column.notNull())
      .addColumn('missing', 'text', (column) => column.notNull())
      .addColumn('result', 'text')
      .execute();
    await db.schema.createIndex('checkups_by_time').on('checkups').columns(['site', 'at']).execute();
    await db.schema
      .createTable('checkup_kept')
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('login', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('checkup_kept_key', ['site', 'key'])
      .execute();
  },
};

export const checkupMigrations: Migrations = {
  '034_checkups': checkupsMigration,
};
