import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { databaseUrl } from '../config/config-file.js';
import { describeDatabase, isPostgresUrl } from '../config/database-url.js';
import { CONFIG_FILE, getDatabaseUrl } from '../config/load-config.js';
import type { ConfigFile } from '../config/parse-config.js';
import { guideFile } from '../lib/guides.js';
import { silentLogger } from '../lib/logger.js';
import { openGuardDatabase } from '../migrations.js';
import {
  type CopiedTable,
  CopyError,
  copyDatabase,
  listFilledTables,
  listTableNames,
} from '../storage/copy-database.js';
import { tryLock } from '../storage/data-dir-lock.js';
import type { Database } from '../storage/database.js';
import { databaseFile } from '../storage/open-storage.js';
import { StorageError } from '../storage/storage-error.js';
import { type Command, CommandError, checked, readOptions, required, UsageError } from './command.js';
import { readExistingConfig, updateConfig } from './config-store.js';

const VARIABLE = 'SECURITY_OPTIMIZER_DATABASE';
const DEFAULT_SOURCE = 'sqlite:guard.sqlite';

export const migrateToPostgresCommand: Command = {
  name: 'migrate sqlite-to-postgres',
  summary: 'Copy the main database from its SQLite file to PostgreSQL.',
  help: `security-optimizer migrate sqlite-to-postgres --data-dir DIR [--to postgres://…] [--write-config]

  --data-dir DIR     guard's data folder; no guard may run on it
  --to URL           an empty PostgreSQL database. Default: the one in the variable ${VARIABLE}, else
                     \`database\` in guard.json. Other users of the machine can read a password in a command line: name a
                     file with it (\`?passwordfile=FILE\`), or use the variable
  --write-config     name the new database in guard.json afterwards

All tables are copied in one transaction, and each row is compared before it is committed. When the command fails or is
stopped, the new database stays empty. The SQLite file is not changed. The Activity Log stays in the data folder.`,
  async run(args) {
    const values = readOptions(args, {
      'data-dir': { type: 'string' },
      to: { type: 'string' },
      'write-config': { type: 'boolean', default: false },
    });
    const dataDir = resolve(required('data-dir', values['data-dir']));
    const config = await readExistingConfig(dataDir);
    const target = readTarget(values.to, config);
    const lock = tryLock(join(dataDir, 'guard.lock'), 0);
    if (lock === null) throw new CommandError('Guard runs on this data folder. Stop it first; nothing was changed.');
    try {
      await moveRows(dataDir, readSource(config), target);
      const written = values['write-config'];
      if (written) await writeTarget(dataDir, target);
      printNextSteps(readSource(config), target, getDatabaseUrl(written ? { database: target } : config));
    } finally {
      lock.close();
    }
    return 0;
  },
};

/** @throws UsageError when no PostgreSQL database is named */
function readTarget(named: string | undefined, config: ConfigFile): string {
  const url = named === undefined ? getDatabaseUrl(config) : checked('to', databaseUrl, named);
  if (isPostgresUrl(url)) return url;
  throw new UsageError(
    named === undefined
      ? `Name the PostgreSQL database: --to postgres://…, the variable ${VARIABLE}, or \`database\` in guard.json.`
      : '--to: name a PostgreSQL database, postgres://….',
  );
}

/** The SQLite database that guard uses, or used before another one was named. */
function readSource(config: ConfigFile): string {
  return [getDatabaseUrl(config), config.database].find((url) => !isPostgresUrl(url)) ?? DEFAULT_SOURCE;
}

/** @throws CommandError, StorageError. The target then has no row */
async function moveRows(dataDir: string, from: string, to: string): Promise<void> {
  const file = databaseFile(from, dataDir);
  if (!existsSync(file)) throw new CommandError(`${file} does not exist: there is nothing to copy.`);
  const logger = silentLogger();
  const source = await openGuardDatabase({ url: from, dataDir, logger });
  try {
    // Before its tables are created or brought up to date: a database that a guard uses must not change.
    const filled = await listFilledTables({ url: to, dataDir, logger }, await listTableNames(source));
    if (filled.length > 0) {
      throw new CommandError(
        `${describeDatabase(to)} has rows of guard already, in ${filled.join(', ')}. Name an empty database. Nothing was changed.`,
      );
    }
    const target = await openGuardDatabase({ url: to, dataDir, logger });
    try {
      await copy(source, target, describeDatabase(to));
    } finally {
      await target.destroy();
    }
  } finally {
    await source.destroy();
  }
}

/** Prints a line each time that so many more rows of a table were written. */
const PROGRESS_ROWS = 100_000;

async function copy(source: Database, target: Database, to: string): Promise<void> {
  let isVerified = false;
  const announced = new Map<string, number>();
  try {
    await copyDatabase(source, target, {
      onProgress(table, done, total) {
        if (done < (announced.get(table) ?? PROGRESS_ROWS)) return;
        announced.set(table, done + PROGRESS_ROWS);
        process.stderr.write(`${table}: ${done} of ${total} rows\n`);
      },
      onVerified(tables) {
        printTables(tables);
        isVerified = true;
      },
    });
  } catch (error) {
    if (isVerified) {
      throw new CommandError(
        `The connection was lost while the rows were committed (${describe(error)}). Run the command again: if they were committed, it finds them in ${to}; else it copies them.`,
      );
    }
    if (error instanceof CopyError || error instanceof StorageError) {
      throw new CommandError(`${describe(error)}\nNothing was copied: ${to} has no row of guard.`);
    }
    throw error;
  }
}

function describe(error: unknown): string {
  return error instanceof StorageError ? error.detail : (error as Error).message;
}

function printTables(tables: readonly CopiedTable[]): void {
  const width = Math.max(...tables.map(({ name }) => name.length), 'Table'.length);
  const lines = tables.map(({ name, rows }) => `${name.padEnd(width)}  ${String(rows).padStart(9)}`);
  process.stdout.write(`${'Table'.padEnd(width)}       Rows\n${lines.join('\n')}\n`);
  const replaced = tables.reduce((sum, { replacedTexts }) => sum + replacedTexts, 0);
  if (replaced > 0) {
    process.stdout.write(
      `Texts with a NUL character, which PostgreSQL can’t store and which is now U+FFFD: ${replaced}.\n`,
    );
  }
}

/** @throws CommandError, when the rows were copied but the file can't be written */
async function writeTarget(dataDir: string, database: string): Promise<void> {
  try {
    await updateConfig(dataDir, (config, write) => write({ ...config, database }));
  } catch (error) {
    throw new CommandError(
      `All rows are in ${describeDatabase(database)}, but ${CONFIG_FILE} could not be written (${(error as Error).message}). Set \`database\` in it before you start guard.`,
    );
  }
}

/** @param used the database that guard uses when it starts, as far as this command sees its environment */
function printNextSteps(from: string, to: string, used: string): void {
  const place = process.env[VARIABLE] ? VARIABLE : `\`database\` in ${CONFIG_FILE}`;
  const file = from.slice('sqlite:'.length);
  const steps = [
    ...(used === to ? [] : [`Set ${place} to ${describeDatabase(to)}, with its password or password file.`]),
    'Start guard, and check `security-optimizer status`.',
    `When all is well, delete ${file}, and ${file}-wal and ${file}-shm if they exist. Guard no longer uses them.`,
  ];
  process.stdout.write(
    `Each row was compared, and all are in ${describeDatabase(to)}. What remains (${guideFile('postgresql.md')}):\n${steps.map((step, at) => `  ${at + 1}. ${step}\n`).join('')}`,
  );
}
