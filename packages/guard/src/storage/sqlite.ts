import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { setBounded } from '../lib/collections.js';
import { StorageError, type StorageFault, toStorageFault } from './storage-error.js';

/** The interface of an SQLite library that guard uses: the part of `node:sqlite` that the add-on has as well. */
export interface SqliteDatabase {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

export interface SqliteStatement {
  all(...parameters: unknown[]): unknown[];
  get(...parameters: unknown[]): unknown;
  iterate(...parameters: unknown[]): IterableIterator<unknown>;
  run(...parameters: unknown[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
  /** The columns of its rows; empty if it returns no rows. */
  columns(): readonly unknown[];
}

interface SqliteLibrary {
  readonly DatabaseSync: new (file: string, options: { readonly readOnly: boolean }) => SqliteDatabase;
}

/** Name of the add-on, which is an optional dependency. */
const ADD_ON = '@photostructure/sqlite';

/** The libraries on this machine, by name. Both have the interface of `node:sqlite`; see docs/decisions/0001. */
export const sqliteLibraries = {
  /** Null before Node 22.16, since its module has no `StatementSync.columns`. */
  node(): SqliteLibrary | null {
    const emitWarning = process.emitWarning;
    // Suppresses the warning that the module is experimental, which would be written to the stream of guard's log.
    process.emitWarning = () => undefined;
    try {
      const library = process.getBuiltinModule('node:sqlite') as
        | (SqliteLibrary & { readonly StatementSync: { readonly prototype: object } })
        | undefined;
      return library !== undefined && 'columns' in library.StatementSync.prototype ? library : null;
    } finally {
      process.emitWarning = emitWarning;
    }
  },
  /** Null if it is not installed, or not available for this platform. */
  addOn(): SqliteLibrary | null {
    try {
      return createRequire(import.meta.url)(ADD_ON) as SqliteLibrary;
    } catch {
      return null;
    }
  },
};

let chosen: SqliteLibrary | undefined;

/** The only SQLite library of this process. Two libraries in one process don't see each other's locks (fcntl). */
function chosenLibrary(): SqliteLibrary {
  chosen ??= chooseLibrary();
  return chosen;
}

/** @throws StorageError whose message names what to install */
export function chooseLibrary({ node, addOn }: typeof sqliteLibraries = sqliteLibraries): SqliteLibrary {
  const library = node() ?? addOn();
  if (library !== null) return library;
  throw new StorageError(
    'cannot_open',
    `Node ${process.versions.node} has no SQLite that guard can use; run guard with Node 22.16 or newer, or install the package ${ADD_ON}`,
  );
}

export interface SqliteOptions {
  /** How long a statement waits for a lock of another process, milliseconds. */
  readonly busyTimeoutMs: number;
  readonly readOnly?: boolean;
  /**
   * For a short read: opens a file that no process has open as immutable, without creating `-wal` and `-shm` files.
   * Concurrent changes may be missed.
   */
  readonly immutableAtRest?: boolean;
}

/** Opens a database file, with `node:sqlite` if Node has it. Throws the library's errors; see `toSqliteFault`. */
export function openSqlite(
  file: string,
  { busyTimeoutMs, readOnly = false, immutableAtRest }: SqliteOptions,
  { DatabaseSync } = chosenLibrary(),
): SqliteDatabase {
  const isAtRest = immutableAtRest === true && !existsSync(`${file}-wal`);
  const database = new DatabaseSync(isAtRest ? `${pathToFileURL(file).href}?immutable=1` : file, { readOnly });
  database.exec(`pragma busy_timeout = ${busyTimeoutMs}`);
  return database;
}

/** Size of the cache of prepared statements. Guard has fewer different statements than this. */
const MAX_STATEMENTS = 200;

export type Prepare = (sql: string) => SqliteStatement;

/** Creates a cache of prepared statements by their texts. */
export function cachePrepared(database: SqliteDatabase): Prepare {
  const statements = new Map<string, SqliteStatement>();
  return (sql) => {
    const known = statements.get(sql);
    if (known) return known;
    const fresh = database.prepare(sql);
    setBounded(statements, sql, fresh, MAX_STATEMENTS);
    return fresh;
  };
}

/** Parts of SQLite's messages, for errors without a result code. */
const faultByText: readonly (readonly [string, StorageFault])[] = [
  ['locked', 'locked'],
  ['disk is full', 'full'],
  ['readonly', 'read_only'],
  ['malformed', 'corrupt'],
  ['not a database', 'corrupt'],
  ['disk I/O', 'input_output'],
  ['unable to open', 'cannot_open'],
];

/** Maps an error of an SQLite library to a fault. */
export function toSqliteFault(error: unknown): { fault: StorageFault; message: string } {
  if (error instanceof StorageError) return { fault: error.fault, message: error.detail };
  const { message, errcode } = error as { message?: string; errcode?: number };
  const text = message ?? String(error);
  const byCode = toStorageFault(errcode);
  const fault = byCode === 'other' ? faultByText.find(([part]) => text.includes(part))?.[1] : byCode;
  return { fault: fault ?? 'other', message: text };
}
