import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { makePrivate } from '../../lib/files.js';
import { collectStartGarbage, lowerPriority } from '../../lib/process-tuning.js';
import { openSqlite, type SqliteDatabase, toSqliteFault } from '../../storage/sqlite.js';
import type { WorkerReply, WorkerRequest } from '../../storage/storage-thread.js';
import { ActivityWriter, VisitQueue, type WriterCall, type WriterSettings } from './activity-writer.js';

/** Memory for pages of the file. Most writes of a flood concern the same few thousand pages. */
const CACHE_KIB = 16_384;
/**
 * Pages of the write-ahead log after which it is copied into the file, so that pages that change often are copied once.
 */
const CHECKPOINT_PAGES = 8192;
/** A flood of visits, and retention, keep a processor busy for a tenth of a second at a time. */
const NICE = 10;

function open({ file, busyTimeoutMs }: WriterSettings): SqliteDatabase {
  makePrivate(file);
  const database = openSqlite(file, { busyTimeoutMs });
  for (const pragma of [
    'journal_mode = WAL',
    'synchronous = NORMAL',
    'trusted_schema = OFF',
    // A moved row leaves no copy behind, which `privacy erase` could not find.
    'secure_delete = FAST',
    `cache_size = -${CACHE_KIB}`,
    `wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
    `journal_size_limit = ${CHECKPOINT_PAGES * 4096}`,
  ]) {
    database.exec(`PRAGMA ${pragma}`);
  }
  return database;
}

/** The thread that owns the writing connection of the Activity Log. */
function serve(port: MessagePort, settings: WriterSettings): void {
  const reply = (message: WorkerReply<unknown>) => port.postMessage(message);
  lowerPriority(NICE);
  collectStartGarbage();
  let database: SqliteDatabase;
  try {
    database = open(settings);
  } catch (error) {
    reply({ kind: 'not_opened', ...toSqliteFault(error) });
    port.close();
    return;
  }
  const writer = new ActivityWriter(database, settings.bucketRows);
  const queue = new VisitQueue(writer, settings, reply);
  port.on('message', (request: WorkerRequest<WriterCall> | 'close' | 'crash') => {
    if (request === 'crash') throw new Error('The storage worker was told to fail.');
    if (request === 'close') {
      queue.close();
      database.close();
      port.close();
      return;
    }
    const { id, call } = request;
    if (call.name === 'visits') {
      queue.add(id, call);
      return;
    }
    try {
      reply({ kind: 'done', id, result: writer.run(call) });
    } catch (error) {
      reply({ kind: 'failed', id, ...toSqliteFault(error) });
    }
  });
  reply({ kind: 'ready' });
}

if (parentPort) serve(parentPort, workerData as WriterSettings);
