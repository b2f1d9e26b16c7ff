import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { makePrivate } from '../../../lib/make-private.js';
import { describeFault } from '../../sqlite-worker/describe-fault.js';
import { giveWay } from '../../sqlite-worker/give-way.js';
import type { WorkerReply, WorkerRequest } from '../../sqlite-worker/messages.js';
import { ActivityWriter } from './activity-writer.js';
import { VisitQueue } from './visit-queue.js';
import type { WriterCall, WriterSettings } from './writer-messages.js';

/** Memory for pages of the file; most of a flood falls on the same few thousand pages. */
const CACHE_KIB = 16_384;
/** Pages of the write-ahead log after which it is copied into the file: pages that change often are copied once. */
const CHECKPOINT_PAGES = 8192;
/** A flood of visits, and clearing up, keep a processor busy for a tenth of a second at a time. */
const NICE = 10;

function open({ file, busyTimeoutMs }: WriterSettings): DatabaseSyncInstance {
  makePrivate(file);
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs });
  for (const pragma of [
    'journal_mode = WAL',
    'synchronous = NORMAL',
    'trusted_schema = OFF',
    `cache_size = -${CACHE_KIB}`,
    `wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
    `journal_size_limit = ${CHECKPOINT_PAGES * 4096}`,
  ]) {
    database.exec(`PRAGMA ${pragma}`);
  }
  return database;
}

/** Thread that owns the connection that writes the Activity Log. */
function serve(port: MessagePort, settings: WriterSettings): void {
  const reply = (message: WorkerReply<unknown>) => port.postMessage(message);
  giveWay(NICE);
  let database: DatabaseSyncInstance;
  try {
    database = open(settings);
  } catch (error) {
    reply({ kind: 'not_opened', ...describeFault(error) });
    port.close();
    return;
  }
  const writer = new ActivityWriter(database, settings.stretchRows);
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
      reply({ kind: 'failed', id, ...describeFault(error) });
    }
  });
  reply({ kind: 'ready' });
}

if (parentPort) serve(parentPort, workerData as WriterSettings);
