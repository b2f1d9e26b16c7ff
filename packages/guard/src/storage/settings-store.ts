import type { SiteId } from '../site.js';
import { addAuditRows } from './audit-store.js';
import type { Database } from './database.js';
import { StorageError } from './storage-error.js';

/** Anything that JSON can hold. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

export interface StoredSetting {
  readonly value: JsonValue;
  /** Starts at 1 and grows with each change; a setting that was never stored counts as 0. */
  readonly version: number;
}

/** Who made a change, for the audit row. */
export interface Actor {
  /** WordPress user id, or null for the command line and guard itself. */
  readonly id: number | null;
  readonly login: string;
  readonly address: string | null;
}

export interface SettingChange {
  readonly name: string;
  /** The value in force until now; a default counts. Kept in the audit row. */
  readonly before: JsonValue;
  readonly after: JsonValue;
  /** Version that the change was decided on. */
  readonly expectedVersion: number;
}

/** Somebody else changed the same setting first; read again and decide again. Nothing was stored. */
export class SettingsConflict extends Error {
  constructor(readonly setting: string) {
    super(`The setting ${setting} was changed by somebody else at the same time.`);
    this.name = 'SettingsConflict';
  }
}

/** Where settings live. Every method may throw StorageError. */
export interface SettingsStore {
  /** All settings of a site that were ever stored, by name. */
  read(site: SiteId): Promise<ReadonlyMap<string, StoredSetting>>;
  /** The same of many sites in one go; a site without any is left out. */
  readAll(sites: Iterable<SiteId>): Promise<ReadonlyMap<SiteId, ReadonlyMap<string, StoredSetting>>>;
  /**
   * Stores changes, their versions and their audit rows in one transaction: all or nothing. Once it resolves, a crash
   * of the process loses none of it.
   *
   * @param at milliseconds since the Unix epoch
   * @returns the site's new version for the change feed
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
export function sqlSettingsStore(db: Database): SettingsStore {
  return {
    async read(site) {
      const rows = await db
        .selectFrom('settings')
        .select(['name', 'value', 'version'])
        .where('site', '=', site)
        .execute();
      return new Map(rows.map((row) => [row.name, { value: parseStored(row.name, row.value), version: row.version }]));
    },

    async readAll(sites) {
      const wanted = new Set(sites);
      const found = new Map<SiteId, Map<string, StoredSetting>>();
      for (const row of await db.selectFrom('settings').select(['site', 'name', 'value', 'version']).execute()) {
        // A site that is not served any more must not keep the others from being served.
        if (!wanted.has(row.site)) continue;
        const setting = { value: parseStored(row.name, row.value), version: row.version };
        const known = found.get(row.site);
        if (known === undefined) found.set(row.site, new Map([[row.name, setting]]));
        else known.set(row.name, setting);
      }
      return found;
    },

    write({ site, changes, actor, at }) {
      return db.transaction().execute(async (transaction) => {
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
  db: Database,
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

/** Gives the site the next number of the sequence that all sites share. */
export async function nextSiteVersion(db: Database, site: SiteId): Promise<number> {
  const { highest } = await db
    .selectFrom('site_versions')
    .select((expression) => expression.fn.max('version').as('highest'))
    .executeTakeFirstOrThrow();
  const version = Number(highest ?? 0) + 1;
  await db
    .insertInto('site_versions')
    .values({ site, version })
    .onConflict((conflict) => conflict.column('site').doUpdateSet({ version }))
    .execute();
  return version;
}

/** A stored value that can't be read must never pass for "not set": the default could be the weaker one. */
/** A value as the database holds it. Throws StorageError. */
export function parseStored(name: string, value: string): JsonValue {
  try {
    return JSON.parse(value) as JsonValue;
  } catch (cause) {
    throw new StorageError('corrupt', `The stored value of ${name} is not JSON.`, { cause });
  }
}
