import { createHash } from 'node:crypto';
import { CompiledQuery, type Kysely, sql, type Transaction } from 'kysely';
import { type Database, withTables } from './database.js';
import { connectDatabase, type DatabaseOptions } from './open-storage.js';
import type { PostgresPool } from './postgres-pool.js';
import { StorageError } from './storage-error.js';

/** The databases differ, or the target can't store a row. The message names the table. Nothing was changed. */
export class CopyError extends Error {}

/** A table that was copied. */
export interface CopiedTable {
  readonly name: string;
  /** Number of its rows, the same in both databases. */
  readonly rows: number;
  /** Texts with NUL characters, which PostgreSQL stores as U+FFFD. */
  readonly replacedTexts: number;
}

export interface CopyOptions {
  /** Called after each page of a table. */
  onProgress(table: string, done: number, total: number): void;
  /** Called when all rows are equal in both databases, before the target is committed. */
  onVerified(tables: readonly CopiedTable[]): void;
}

/** A table as both databases have it. */
interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns of the primary key, in its order. */
  readonly key: readonly string[];
  /** The column that SQLite or PostgreSQL counts up, if any. */
  readonly identity: string | null;
}

interface Column {
  readonly table: string;
  readonly column: string;
}

/** Tables that the migrations of each database fill. */
const OF_MIGRATOR = ['kysely_migration', 'kysely_migration_lock'];

/** Rows of one page at most, and bytes that it takes in memory, approximately. */
const PAGE_ROWS = 1000;
const PAGE_BYTES = 4 * 1024 * 1024;
/** Maximum number of parameters of a statement of PostgreSQL. */
const MAX_PARAMETERS = 65_535;

/**
 * Copies every row of an SQLite database to an empty PostgreSQL database, reads the copies and compares them, in one
 * transaction of each: a process or connection that ends early leaves no row. Both databases have the tables of this
 * release, and nothing else writes to them: the transaction locks both.
 *
 * @throws CopyError, StorageError. The target is then unchanged
 */
export function copyDatabase(
  source: Database,
  target: Database,
  options: CopyOptions,
): Promise<readonly CopiedTable[]> {
  return withTables<unknown>(source)
    .transaction()
    .execute((from) =>
      withTables<unknown>(target)
        .transaction()
        .execute((to) => copyTables(from, to, options)),
    );
}

/** The names of all tables that `copyDatabase` copies. @param source an SQLite database */
export async function listTableNames(source: Database): Promise<readonly string[]> {
  const columns = await listSourceColumns(withTables<unknown>(source));
  return [...new Set(columns.map(({ table }) => table))];
}

/**
 * Lists those of the tables that have rows in a PostgreSQL database, whose tables may be of any version or missing.
 * Changes nothing.
 * @throws StorageError
 */
export async function listFilledTables(options: DatabaseOptions, names: readonly string[]): Promise<readonly string[]> {
  const connection = await connectDatabase(options);
  try {
    return await findFilled(names, async (text) => (await (connection as PostgresPool).execute(text, [])).rows);
  } finally {
    await connection.close();
  }
}

/** @param query runs one statement of PostgreSQL */
async function findFilled(
  names: readonly string[],
  query: (text: string) => Promise<Record<string, unknown>[]>,
): Promise<readonly string[]> {
  const filled: string[] = [];
  for (const { name, quoted } of await query(TARGET_TABLES)) {
    if (!names.includes(String(name))) continue;
    if ((await query(`select 1 from ${quoted} limit 1`)).length > 0) filled.push(String(name));
  }
  return filled;
}

/** The tables of the schema in which guard creates its own. */
const TARGET_TABLES = `
  select relname as name, quote_ident(relname) as quoted from pg_class
  where relkind in ('r', 'p') and relnamespace = to_regnamespace(current_schema()) order by relname`;

async function copyTables(
  from: Transaction<unknown>,
  to: Transaction<unknown>,
  { onProgress, onVerified }: CopyOptions,
): Promise<readonly CopiedTable[]> {
  const tables = await listTables(from, to);
  const names = sql.join(tables.map(({ name }) => sql.table(name)));
  await sql`lock table ${names} in exclusive mode`.execute(to);
  const run = async (text: string) => (await to.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text))).rows;
  const filled = await findFilled(
    tables.map(({ name }) => name),
    run,
  );
  if (filled.length > 0) throw new CopyError(`The target has rows in ${filled.join(', ')}.`);
  const copied: CopiedTable[] = [];
  for (const table of tables) {
    copied.push(await describeErrors(table.name, () => copyTable(from, to, table, onProgress)));
  }
  onVerified(copied);
  return copied;
}

/** @throws CopyError unless the target has the tables and columns of the source */
async function listTables(from: Kysely<unknown>, to: Kysely<unknown>): Promise<readonly Table[]> {
  const own = await listSourceColumns(from);
  const toNames = (list: readonly Column[]) => new Set(list.map(({ table, column }) => `${table}.${column}`));
  const [present, expected] = [toNames(own), toNames(await listTargetColumns(to))];
  const missing = [...present].filter((name) => !expected.has(name));
  if (missing.length > 0) throw new CopyError(`The target has no column ${missing.join(', ')}.`);
  return [...new Set(own.map(({ table }) => table))].map((name) => {
    const ofTable = own.filter(({ table }) => table === name);
    const key = ofTable.filter((column) => column.key > 0).sort((one, other) => one.key - other.key);
    if (key.length === 0) throw new CopyError(`The table ${name} has no primary key.`);
    return {
      ...{ name, key: key.map(({ column }) => column), columns: ofTable.map(({ column }) => column) },
      identity: ofTable.find(({ autoIncrement }) => autoIncrement === 1)?.column ?? null,
    };
  });
}

interface SourceColumn extends Column {
  /** Its place in the primary key, from 1; 0 for other columns. */
  readonly key: number;
  readonly autoIncrement: number;
}

/** The columns of all tables of an SQLite database, without those of the migrator. */
async function listSourceColumns(from: Kysely<unknown>): Promise<readonly SourceColumn[]> {
  const { rows } = await sql<SourceColumn>`
    select tables.name as "table", columns.name as "column", columns.pk as "key",
      tables.sql like '%autoincrement%' and columns.pk = 1 as "autoIncrement"
    from sqlite_master tables, pragma_table_info(tables.name) columns
    where tables.type = 'table' and tables.name not like 'sqlite!_%' escape '!'
    order by tables.name, columns.cid`.execute(from);
  return rows.filter(({ table }) => !OF_MIGRATOR.includes(table));
}

/** The columns of all tables in the schema in which guard creates its own. */
async function listTargetColumns(to: Kysely<unknown>): Promise<readonly Column[]> {
  const { rows } = await sql<Column>`
    select relname as "table", attname as "column"
    from pg_class join pg_attribute on attrelid = pg_class.oid
    where relkind in ('r', 'p') and relnamespace = to_regnamespace(current_schema()) and attnum > 0 and not attisdropped
    order by relname, attnum`.execute(to);
  return rows;
}

async function copyTable(
  from: Kysely<unknown>,
  to: Kysely<unknown>,
  table: Table,
  onProgress: CopyOptions['onProgress'],
): Promise<CopiedTable> {
  const { total, widest } = await measure(from, table);
  const fitting = Math.floor(PAGE_BYTES / Math.max(widest, 1));
  const limit = Math.max(1, Math.min(PAGE_ROWS, fitting, Math.floor(MAX_PARAMETERS / table.columns.length)));
  const [written, read] = [createDigest(table.columns), createDigest(table.columns)];
  for await (const rows of pages(from, table, limit)) {
    written.add(rows);
    await withTables<Record<string, Record<string, unknown>>>(to).insertInto(table.name).values(rows).execute();
    onProgress(table.name, written.rows, total);
  }
  for await (const rows of pages(to, table, limit)) read.add(rows);
  if (read.rows !== written.rows) {
    throw new CopyError(`${written.rows} rows were written, but the target has ${read.rows}.`);
  }
  if (read.sum !== written.sum) throw new CopyError('the rows of the target differ from those that were written.');
  if (table.identity !== null) await continueIdentity(from, to, table.name, table.identity);
  return { name: table.name, rows: written.rows, replacedTexts: written.replacedTexts };
}

/** The number of rows, and the bytes of the largest one. */
async function measure(from: Kysely<unknown>, { name, columns }: Table): Promise<{ total: number; widest: number }> {
  const sizes = columns.map((column) => sql`coalesce(length(cast(${sql.ref(column)} as blob)), 0)`);
  const { rows } = await sql<{ total: number; widest: number | null }>`
    select count(*) as total, max(${sql.join(sizes, sql` + `)}) as widest from ${sql.table(name)}`.execute(from);
  return { total: rows[0]?.total ?? 0, widest: rows[0]?.widest ?? 0 };
}

/** Reads a table by its primary key, in pages, so that a million rows don't fill the memory. */
async function* pages(
  db: Kysely<unknown>,
  { name, columns, key }: Table,
  limit: number,
): AsyncIterableIterator<Record<string, unknown>[]> {
  const toList = (names: readonly string[]) => sql.join(names.map((column) => sql.ref(column)));
  for (let last: Record<string, unknown> | undefined; ; ) {
    const after = last;
    const rest = after && sql`where (${toList(key)}) > (${sql.join(key.map((column) => after[column]))})`;
    const { rows } = await sql<Record<string, unknown>>`
      select ${toList(columns)} from ${sql.table(name)} ${rest ?? sql``} order by ${toList(key)} limit ${limit}`.execute(
      db,
    );
    if (rows.length > 0) yield rows;
    if (rows.length < limit) return;
    last = rows.at(-1);
  }
}

/** Numbers that SQLite has given to deleted rows are not given again either. */
async function continueIdentity(
  from: Kysely<unknown>,
  to: Kysely<unknown>,
  table: string,
  column: string,
): Promise<void> {
  const { rows } = await sql<{ seq: number }>`select seq from sqlite_sequence where name = ${table}`.execute(from);
  const highest = rows[0]?.seq ?? 0;
  if (highest > 0) await sql`select setval(pg_get_serial_sequence(${table}, ${column}), ${highest})`.execute(to);
}

/** Sums of hashes, so that the order in which a database returns the rows does not matter. */
function createDigest(columns: readonly string[]) {
  const digest = {
    rows: 0,
    sum: 0n,
    replacedTexts: 0,
    add(rows: readonly Record<string, unknown>[]): void {
      for (const row of rows) {
        const values = columns.map((column) => {
          const value = row[column];
          if (typeof value === 'string' && value.includes('\0')) {
            digest.replacedTexts++;
            return value.replaceAll('\0', '\uFFFD');
          }
          return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value;
        });
        digest.rows++;
        digest.sum += BigInt(`0x${createHash('sha256').update(JSON.stringify(values)).digest('hex')}`);
      }
    },
  };
  return digest;
}

/** Adds the table's name to errors. */
async function describeErrors<Result>(table: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CopyError) throw new CopyError(`${table}: ${error.message}`);
    if (error instanceof StorageError) throw new CopyError(`${table}: ${error.detail}`, { cause: error });
    throw error;
  }
}
