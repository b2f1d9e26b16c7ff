import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { Kysely } from 'kysely';
import { onTestFinished } from 'vitest';
import { type Logger, silentLogger } from '../../src/lib/logger.js';
import { type AllTables, openGuardDatabase } from '../../src/migrations.js';
import { runAsAdministrator, toCreateDatabase, toSocketUrl } from './postgres-server.js';

/** The database with the tables of all features. */
export type TestDatabase = Kysely<AllTables>;

/**
 * Folder of the socket of the PostgreSQL server that this run's tests use instead of SQLite
 * (`vitest.postgres.config.ts`).
 */
const folder = process.env.TEST_DATABASE;

/** The usual name of an SQLite database in its data folder. */
const FILE = 'guard.sqlite';

/** Whether the databases of data folders are in PostgreSQL in this run. */
export const onPostgres = folder !== undefined;

/** Opens the database of a data folder. Close it with `destroy()`. */
export async function openTestDatabase(
  dataDir: string,
  options: { readonly logger?: Logger; readonly file?: string; readonly busyTimeoutMs?: number } = {},
): Promise<TestDatabase> {
  const { logger = silentLogger(), file, ...rest } = options;
  return openGuardDatabase({ url: await prepareDatabase(dataDir, file), dataDir, logger, ...rest });
}

/**
 * Adds the database of a data folder to an object for `guard.json`: nothing for SQLite, since the data folder contains
 * it by default.
 */
export async function withDatabase<Written extends object>(dataDir: string, written: Written): Promise<Written> {
  return onPostgres ? { ...written, database: await prepareDatabase(dataDir) } : written;
}

/**
 * The URL of the database of a data folder.
 * @param file its name in the data folder, for SQLite
 */
export async function prepareDatabase(dataDir: string, file = FILE): Promise<string> {
  if (folder === undefined) return `sqlite:${file}`;
  const name = toDatabaseName(dataDir, file);
  const known = prepared.get(name) ?? copyTemplate(folder, name);
  prepared.set(name, known);
  await known;
  return toSocketUrl(folder, name);
}

/**
 * The URL of the database of a data folder, which then has no tables: for a test of migrations. In SQLite it must not
 * exist yet.
 */
export async function prepareEmptyDatabase(dataDir: string): Promise<string> {
  const url = await prepareDatabase(dataDir);
  if (folder !== undefined) {
    const name = toDatabaseName(dataDir);
    await runAsAdministrator({ folder }, `drop database ${name}`);
    await runAsAdministrator({ folder }, toCreateDatabase(name));
  }
  return url;
}

function toDatabaseName(dataDir: string, file = FILE): string {
  return `test_${createHash('sha256').update(resolve(dataDir, file)).digest('hex').slice(0, 32)}`;
}

/** Databases that this process has created, by name. */
const prepared = new Map<string, Promise<void>>();
let template: Promise<void> | undefined;
const TEMPLATE = 'guard_template';

/** Creates a database with guard's tables, dropped after the test. */
async function copyTemplate(folder: string, name: string): Promise<void> {
  template ??= createTemplate(folder);
  await template;
  await runAsAdministrator({ folder }, toCreateDatabase(name, TEMPLATE));
  try {
    onTestFinished(async () => {
      prepared.delete(name);
      await runAsAdministrator({ folder }, `drop database if exists ${name} with (force)`);
    });
  } catch {
    // Created before the tests of a file; it disappears with the server.
  }
}

/** Creates the database with guard's tables that all others are copied from, unless another process has done it. */
async function createTemplate(folder: string): Promise<void> {
  const unfinished = `${TEMPLATE}_${process.pid}`;
  await runAsAdministrator({ folder }, toCreateDatabase(unfinished));
  const url = toSocketUrl(folder, unfinished);
  await (await openGuardDatabase({ url, dataDir: '/', logger: silentLogger() })).destroy();
  try {
    await runAsAdministrator({ folder }, `alter database ${unfinished} rename to ${TEMPLATE}`);
  } catch (error) {
    if ((error as { code?: string }).code !== DUPLICATE_DATABASE) throw error;
  }
}

const DUPLICATE_DATABASE = '42P04';
