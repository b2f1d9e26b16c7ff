import { parentPort, workerData } from 'node:worker_threads';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { faultOfSqliteCode, type StorageFault } from '../storage-error.js';
import type { StatementResult, WorkerReply, WorkerRequest, WorkerSettings } from './messages.js';

/** Prepared statements kept for the next use; the product has fewer different ones than this. */
const STATEMENTS_KEPT = 200;

/** SQLite's own texts for the faults that a statement can meet while it runs, when the result code is not reported. */
const faultByText: readonly (readonly [string, StorageFault])[] = [
  ['locked', 'locked'],
  ['disk is full', 'full'],
  ['readonly', 'read_only'],
  ['malformed', 'corrupt'],
  ['not a database', 'corrupt'],
  ['disk I/O', 'input_output'],
  ['unable to open', 'cannot_open'],
];

function describe(error: unknown): { fault: StorageFault; message: string } {
  const { message, errcode } = error as { message?: string; errcode?: number };
  const text = message ?? String(error);
  const byCode = faultOfSqliteCode(errcode);
  const fault = byCode === 'other' ? faultByText.find(([words]) => text.includes(words))?.[1] : byCode;
  return { fault: fault ?? 'other', message: text };
}

function open({ file, busyTimeoutMs }: WorkerSettings): DatabaseSyncInstance {
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs });
  // FULL: each commit is on the disk before it is acknowledged, so a setting survives a crash and a power cut.
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON', 'trusted_schema = OFF']) {
    database.exec(`PRAGMA ${pragma}`);
  }
  return database;
}

type Statement = ReturnType<DatabaseSyncInstance['prepare']>;

function statements(database: DatabaseSyncInstance): (sql: string) => Statement {
  const kept = new Map<string, Statement>();
  return (sql) => {
    const known = kept.get(sql);
    if (known) return known;
    const fresh = database.prepare(sql);
    kept.set(sql, fresh);
    if (kept.size > STATEMENTS_KEPT) kept.delete(kept.keys().next().value as string);
    return fresh;
  };
}

function run(statement: Statement, parameters: readonly unknown[]): StatementResult {
  if (statement.columns().length > 0) return { rows: statement.all(...parameters), changes: 0, lastInsertRowid: 0 };
  const { changes, lastInsertRowid } = statement.run(...parameters);
  return { rows: [], changes, lastInsertRowid };
}

/** Thread that owns the SQLite connection, so that no disk access ever runs on the thread that proxies requests. */
function serve(port: NonNullable<typeof parentPort>, settings: WorkerSettings): void {
  const reply = (message: WorkerReply) => port.postMessage(message);
  let database: DatabaseSyncInstance;
  try {
    database = open(settings);
  } catch (error) {
    reply({ kind: 'not_opened', ...describe(error) });
    port.close();
    return;
  }
  const prepare = statements(database);
  port.on('message', (request: WorkerRequest | 'close' | 'crash') => {
    if (request === 'crash') throw new Error('The storage worker was told to fail.');
    if (request === 'close') {
      database.close();
      port.close();
      return;
    }
    try {
      reply({ kind: 'done', id: request.id, ...run(prepare(request.sql), request.parameters) });
    } catch (error) {
      reply({ kind: 'failed', id: request.id, ...describe(error) });
    }
  });
  reply({ kind: 'ready' });
}

if (parentPort) serve(parentPort, workerData as WorkerSettings);
