import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import type { AllTables } from '../../src/migrations.js';
import { openSqlite } from '../../src/storage/sqlite.js';
import { onPostgres, prepareDatabase, type TestDatabase } from './database.js';

/**
 * Lets every statement of a kind fail that changes rows of a table.
 * @returns a function that ends that
 */
export async function refuseChanges(
  db: TestDatabase,
  kind: 'insert' | 'update',
  table: keyof AllTables,
): Promise<() => Promise<void>> {
  const run = async (text: string) => void (await sql.raw(text).execute(db));
  if (onPostgres) {
    await run(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no room'; end $$`,
    );
    await run(`create trigger fault before ${kind} on ${table} for each row execute function refuse()`);
  } else {
    await run(`create trigger fault before ${kind} on ${table} begin select raise(abort, 'no room'); end`);
  }
  return () => run(onPostgres ? `drop trigger fault on ${table}` : 'drop trigger fault');
}

/**
 * Locks a table for all other writers; in SQLite the whole database.
 * @returns a function that ends that
 */
export async function lockTable(dataDir: string, table: keyof AllTables): Promise<() => Promise<void>> {
  if (!onPostgres) {
    const database = openSqlite(join(dataDir, 'guard.sqlite'), { busyTimeoutMs: 5000 });
    onTestFinished(() => database.close());
    database.exec('begin immediate');
    return async () => database.exec('rollback');
  }
  const client = new pg.Client({ connectionString: await prepareDatabase(dataDir) });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('begin');
  await client.query(`lock table ${table} in exclusive mode`);
  return async () => void (await client.query('rollback'));
}
