import { type Stats, statSync } from 'node:fs';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { PackedAddresses } from '../lib/address-set.js';
import { createVisitorListReader } from '../lib/carried-address.js';
import { makePrivate } from '../lib/files.js';
import { collectStartGarbage, lowerPriority } from '../lib/process-tuning.js';
import {
  cachePrepared,
  openSqlite,
  type Prepare,
  type SqliteDatabase,
  type SqliteStatement,
  toSqliteFault,
} from './sqlite.js';
import type {
  AddressListCall,
  StatementCall,
  StatementResult,
  WorkerReply,
  WorkerRequest,
  WorkerSettings,
} from './storage-thread.js';

/** Page cache of a read-only connection: queries of a long log read the same pages again. */
const READ_CACHE_KIB = 16_384;
/** Lists have a lower priority than requests, but a higher one than retention. */
const READ_NICE = 5;

function open(settings: WorkerSettings): SqliteDatabase {
  const { file, readOnly = false } = settings;
  if (!readOnly) makePrivate(file);
  const database = openSqlite(file, settings);
  // FULL: each commit is on the disk before it is acknowledged, so a setting survives a crash and a power cut. Secure
  // delete: a row that is moved or deleted leaves no copy that `privacy erase` could not find.
  const forWriting = ['journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON', 'secure_delete = ON'];
  const forReading = [`cache_size = -${READ_CACHE_KIB}`];
  for (const pragma of [...(readOnly ? forReading : forWriting), 'trusted_schema = OFF']) {
    database.exec(`PRAGMA ${pragma}`);
  }
  return database;
}

function run(statement: SqliteStatement, parameters: readonly unknown[]): StatementResult {
  if (statement.columns().length > 0) {
    const rows = statement.all(...parameters) as Record<string, unknown>[];
    return { rows, changes: 0, lastInsertRowid: 0 };
  }
  const { changes, lastInsertRowid } = statement.run(...parameters);
  return { rows: [], changes: Number(changes), lastInsertRowid };
}

/**
 * Throws if the file was deleted or replaced. SQLite would continue to write to the open file, and all changes would be
 * lost when the process ends.
 */
function checkNotReplaced(file: string, opened: Stats): void {
  const now = statSync(file, { throwIfNoEntry: false });
  if (now?.ino === opened.ino && now.dev === opened.dev) return;
  throw new Error(`unable to open: ${file} was deleted or replaced while guard runs; start guard again`);
}

/** Runs the thread that owns the SQLite connection, so that the thread that proxies requests never reads from disk. */
function serve(port: NonNullable<typeof parentPort>, settings: WorkerSettings): void {
  const reply = (message: WorkerReply<StatementResult>) => port.postMessage(message);
  const fail = (id: number, error: unknown) => reply({ kind: 'failed', id, ...toSqliteFault(error) });
  if (settings.readOnly === true) lowerPriority(READ_NICE);
  collectStartGarbage();
  let database: SqliteDatabase;
  try {
    database = open(settings);
  } catch (error) {
    reply({ kind: 'not_opened', ...toSqliteFault(error) });
    port.close();
    return;
  }
  const prepare = cachePrepared(database);
  const opened = statSync(settings.file);
  port.on('message', (request: WorkerRequest<StatementCall | AddressListCall> | 'close' | 'crash') => {
    if (request === 'crash') throw new Error('The storage worker was told to fail.');
    if (request === 'close') {
      database.close();
      port.close();
      return;
    }
    const { id, call } = request;
    if ('addressLists' in call) {
      readAddresses(prepare, call)
        .then((result) => {
          const buffers = Object.values(result).map(({ buffer }) => buffer as ArrayBuffer);
          port.postMessage({ kind: 'done', id, result } satisfies WorkerReply<PackedAddresses>, buffers);
        })
        .catch((error: unknown) => fail(id, error));
      return;
    }
    try {
      if (call.sql === 'begin immediate') checkNotReplaced(settings.file, opened);
      reply({ kind: 'done', id, result: run(prepare(call.sql), call.parameters) });
    } catch (error) {
      fail(id, error);
    }
  });
  reply({ kind: 'ready' });
}

/** Rows that one query joins into a text: reading them as objects would take ten times as long. */
const ROWS_PER_QUERY = 20_000;

/**
 * Reads up to a million addresses and ranges, packed for transfer to another thread. Other calls are handled between
 * two queries.
 */
async function readAddresses(prepare: Prepare, { addressLists }: AddressListCall): Promise<PackedAddresses> {
  const read = createVisitorListReader();
  for (const { sql, parameters } of addressLists) {
    for (let after = ''; ; ) {
      const row = prepare(sql).get(...parameters, after, ROWS_PER_QUERY) as {
        last: string | null;
        lines: string | null;
      };
      if (row.last === null || row.lines === null) break;
      read.addText(row.lines);
      after = row.last;
      await yieldToEventLoop();
    }
  }
  return read.pack();
}

if (parentPort) serve(parentPort, workerData as WorkerSettings);
