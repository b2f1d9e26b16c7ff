import { type Kysely, type Migration, Migrator, sql } from 'kysely';

/** Steps from an empty database to the current tables, by name. A released step is never edited or renamed. */
export type Migrations = Readonly<Record<string, Migration>>;

/** Migrates a database to the current tables. Throws the error of a failing step, which is rolled back. */
export async function migrate(db: Kysely<unknown>, migrations: Migrations): Promise<void> {
  if (await hasPresentTables(db, migrations)) return;
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...migrations }) },
  }).migrateToLatest();
  if (error) throw error;
}

/** Reports whether exactly these steps have run. It needs one query; the migrator needs ten. */
export async function hasPresentTables(db: Kysely<unknown>, migrations: Migrations): Promise<boolean> {
  try {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
    return rows.length === Object.keys(migrations).length && rows.every(({ name }) => Object.hasOwn(migrations, name));
  } catch {
    return false;
  }
}
