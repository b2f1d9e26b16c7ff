import { type Stats, statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import type { PackedAddresses } from '../../lib/address-set.js';
import { makePrivate } from '../../lib/make-private.js';
import { describeFault } from './describe-fault.js';
import { giveWay } from './give-way.js';
import type {
  AddressesCall,
  StatementCall,
  StatementResult,
  WorkerReply,
  WorkerRequest,
  WorkerSettings,
} from './messages.js';
import { preparedStatements, type Statement } from './prepared-statements.js';
import { readAddresses } from './read-addresses.js';

/** Memory for pages of a file that is only read: questions about a long log come back to the same pages. */
const READ_CACHE_KIB = 16_384;
/** Lists may wait for visitors, but not as long as clearing up. */
const READ_NICE = 5;

function open({ file, busyTimeoutMs, readOnly = false }: WorkerSettings): DatabaseSyncInstance {
  if (!readOnly) makePrivate(file);
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs, readOnly });
  // FULL: each commit is on the disk before it is acknowledged, so a setting survives a crash and a power cut.
  const forWriting = ['journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON'];
  const forReading = [`cache_size = -${READ_CACHE_KIB}`];
  for (const pragma of [...(readOnly ? forReading : forWriting), 'trusted_schema = OFF']) {
    database.exec(`PRAGMA ${pragma}`);
  }
  return database;
}

function run(statement: Statement, parameters: readonly unknown[]): StatementResult {
  if (statement.columns().length > 0) return { rows: statement.all(...parameters), changes: 0, lastInsertRowid: 0 };
  const { changes, lastInsertRowid } = statement.run(...parameters);
  return { rows: [], changes, lastInsertRowid };
}

/**
 * A file that was deleted or replaced goes on taking changes for as long as it is open; all of them would be gone with
 * the process.
 */
function checkStillThere(file: string, opened: Stats): void {
  const now = statSync(file, { throwIfNoEntry: false });
  if (now?.ino === opened.ino && now.dev === opened.dev) return;
  throw new Error(`unable to open: ${file} was deleted or replaced while guard runs; start guard again`);
}

/** Thread that owns the SQLite connection, so that no disk access ever runs on the thread that proxies requests. */
function serve(port: NonNullable<typeof parentPort>, settings: WorkerSettings): void {
  const reply = (message: WorkerReply<StatementResult>) => port.postMessage(message);
  const fail = (id: number, error: unknown) => reply({ kind: 'failed', id, ...describeFault(error) });
  if (settings.readOnly === true) giveWay(READ_NICE);
  let database: DatabaseSyncInstance;
  try {
    database = open(settings);
  } catch (error) {
    reply({ kind: 'not_opened', ...describeFault(error) });
    port.close();
    return;
  }
  const prepare = preparedStatements(database);
  const opened = statSync(settings.file);
  port.on('message', (request: WorkerRequest<StatementCall | AddressesCall> | 'close' | 'crash') => {
    if (request === 'crash') throw new Error('The storage worker was told to fail.');
    if (request === 'close') {
      database.close();
      port.close();
      return;
    }
    const { id, call } = request;
    if ('blockedAt' in call) {
      readAddresses(prepare, call)
        .then((result) => {
          const buffers = Object.values(result).map(({ buffer }) => buffer as ArrayBuffer);
          port.postMessage({ kind: 'done', id, result } satisfies WorkerReply<PackedAddresses>, buffers);
        })
        .catch((error: unknown) => fail(id, error));
      return;
    }
    try {
      if (call.sql === 'begin immediate') checkStillThere(settings.file, opened);
      reply({ kind: 'done', id, result: run(prepare(call.sql), call.parameters) });
    } catch (error) {
      fail(id, error);
    }
  });
  reply({ kind: 'ready' });
}

if (parentPort) serve(parentPort, workerData as WorkerSettings);
