import type { Kysely } from 'kysely';
import type { SiteId } from '../site.js';
import { nextSiteVersion } from '../storage/change-feed.js';
import { type Database, inTransaction, MAX_NAMED_SITES, withTables } from '../storage/database.js';
import type { Migrations } from '../storage/migrations.js';
import { StorageError } from '../storage/storage-error.js';
import { type Actor, type AuditTables, addAuditRows, type JsonValue } from './audit-store.js';

/** The values of all settings that were ever changed. A setting without a row has its default. */
export interface SettingsTables {
  settings: {
    site: string;
    name: string;
    /** JSON. */
    value: string;
    /** Starts at 1 and is incremented by each change. */
    version: number;
    /** Milliseconds since the Unix epoch. */
    updated_at: number;
  };
}

/** The first migration. It also creates tables of other features, because it was released that way. */
export const settingsMigrations: Migrations = {
  '001_settings': {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema
        .createTable('settings')
        .addColumn('site', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('value', 'text', (column) => column.notNull())
        .addColumn('version', 'integer', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('settings_key', ['site', 'name'])
        .execute();
      await db.schema
        .createTable('audit')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('site', 'text', (column) => column.notNull())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addColumn('actor_id', 'bigint')
        .addColumn('actor_login', 'text', (column) => column.notNull())
        .addColumn('address', 'text')
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('before', 'text', (column) => column.notNull())
        .addColumn('after', 'text', (column) => column.notNull())
        .execute();
      await db.schema.createIndex('audit_by_time').on('audit').columns(['site', 'at']).execute();
      await db.schema
        .createTable('blocked_addresses')
        .addColumn('site', 'text', (column) => column.notNull())
        .addColumn('address', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('blocked_addresses_key', ['site', 'address'])
        .execute();
      await db.schema
        .createTable('site_versions')
        .addColumn('site', 'text', (column) => column.primaryKey())
        .addColumn('version', 'bigint', (column) => column.notNull().unique())
        .execute();
      await db.schema
        .createTable('site_facts')
        .addColumn('site', 'text', (column) => column.primaryKey())
        .addColumn('facts', 'text', (column) => column.notNull())
        .addColumn('key_restored_at', 'bigint')
        .execute();
    },
  },
};

export interface StoredSetting {
  /** Undefined when the stored text is no JSON: `toSiteSettings` refuses it. */
  readonly value: JsonValue | undefined;
  /** Starts at 1 and is incremented by each change; 0 for a setting that was never stored. */
  readonly version: number;
}

export interface SettingChange {
  readonly name: string;
  /** The current value, possibly a default; for the audit row. */
  readonly before: JsonValue;
  readonly after: JsonValue;
  /** The version that the change is based on. */
  readonly expectedVersion: number;
}

/** Another change of the same setting was stored first, and nothing was stored. Read the settings and decide again. */
export class SettingsConflict extends Error {
  constructor(readonly setting: string) {
    super(`The setting ${setting} was changed by somebody else at the same time.`);
    this.name = 'SettingsConflict';
  }
}

/**
 * Stores settings.
 * @throws StorageError from every method
 */
export interface SettingsStore {
  /** All stored settings of a site, by name. */
  read(site: SiteId): Promise<ReadonlyMap<string, StoredSetting>>;
  /** The stored settings of many sites, with one query. Sites without any are omitted. */
  readAll(sites: Iterable<SiteId>): Promise<ReadonlyMap<SiteId, ReadonlyMap<string, StoredSetting>>>;
  /**
   * Stores changes, their versions and their audit rows in one transaction. Once it resolves, a crash of the process
   * loses none of them.
   *
   * @param at milliseconds since the Unix epoch
   * @returns the site's new version, for the change feed
   * @throws SettingsConflict
   */
  write(change: {
    readonly site: SiteId;
    readonly changes: readonly SettingChange[];
    readonly actor: Actor;
    readonly at: number;
  }): Promise<number>;
}

/** Settings in SQL tables. */
export function createSettingsStore(database: Database): SettingsStore {
  const db = withTables<SettingsTables>(database);
  return {
    async read(site) {
      const rows = await db
        .selectFrom('settings')
        .select(['name', 'value', 'version'])
        .where('site', '=', site)
        .execute();
      return new Map(rows.map(({ name, value, version }) => [name, { value: parseTolerantly(value), version }]));
    },

    async readAll(sites) {
      const wanted = new Set(sites);
      const found = new Map<SiteId, Map<string, StoredSetting>>();
      const query = db.selectFrom('settings').select(['site', 'name', 'value', 'version']);
      const rows = wanted.size > MAX_NAMED_SITES ? query : query.where('site', 'in', [...wanted]);
      for (const { site, name, value, version } of wanted.size === 0 ? [] : await rows.execute()) {
        if (!wanted.has(site)) continue;
        const setting = { value: parseTolerantly(value), version };
        const known = found.get(site);
        if (known === undefined) found.set(site, new Map([[name, setting]]));
        else known.set(name, setting);
      }
      return found;
    },

    write({ site, changes, actor, at }) {
      return inTransaction(db, site, async (transaction) => {
        for (const { name, after, expectedVersion } of changes) {
          await writeSetting(transaction, { site, name, value: after, expectedVersion, at });
        }
        await addAuditRows(transaction, site, { actor, at }, changes);
        return nextSiteVersion(transaction, site);
      });
    },
  };
}

async function writeSetting(
  db: Kysely<SettingsTables>,
  setting: { site: SiteId; name: string; value: JsonValue; expectedVersion: number; at: number },
): Promise<void> {
  const { site, name, expectedVersion, at } = setting;
  const value = JSON.stringify(setting.value);
  const [result] =
    expectedVersion === 0
      ? await db
          .insertInto('settings')
          .values({ site, name, value, version: 1, updated_at: at })
          .onConflict((conflict) => conflict.columns(['site', 'name']).doNothing())
          .execute()
          .then((results) => results.map((row) => row.numInsertedOrUpdatedRows))
      : await db
          .updateTable('settings')
          .set({ value, version: expectedVersion + 1, updated_at: at })
          .where('site', '=', site)
          .where('name', '=', name)
          .where('version', '=', expectedVersion)
          .execute()
          .then((results) => results.map((row) => row.numUpdatedRows));
  if (result !== 1n) throw new SettingsConflict(name);
}

function parseTolerantly(value: string): JsonValue | undefined {
  try {
    return JSON.parse(value) as JsonValue;
  } catch {
    return undefined;
  }
}

/**
 * Parses a stored value. An invalid value must never count as "not set": the default could be weaker.
 * @throws StorageError
 */
export function parseStored(name: string, value: string): JsonValue {
  try {
    return JSON.parse(value) as JsonValue;
  } catch (cause) {
    throw new StorageError('corrupt', `The stored value of ${name} is not JSON.`, { cause });
  }
}

/**
 * Lists every value, current and former, of a setting of a site.
 * @throws StorageError
 */
export type SettingHistory = (site: SiteId, name: string) => Promise<readonly JsonValue[]>;

/** Reads the former values from the audit table, whose rows are never deleted. */
export function createSettingHistory(database: Database): SettingHistory {
  const db = withTables<SettingsTables & AuditTables>(database);
  return async (site, name) => {
    const [present, changes] = await Promise.all([
      db.selectFrom('settings').select('value').where('site', '=', site).where('name', '=', name).execute(),
      db.selectFrom('audit').select(['before', 'after']).where('site', '=', site).where('name', '=', name).execute(),
    ]);
    const texts = [...present.map(({ value }) => value), ...changes.flatMap(({ before, after }) => [before, after])];
    return [...new Set(texts)].map((text) => parseStored(name, text));
  };
}
