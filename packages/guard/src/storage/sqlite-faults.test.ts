import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTestDatabase } from '../../test/support/database.js';
import { recordedLog } from '../../test/support/logs.js';
import { eventually, scratchFolder } from '../../test/support/scratch.js';
import { silentLogger } from '../lib/logger.js';
import { createSettingsStore } from '../settings/settings-store.js';
import { readSiteSettings } from '../settings/site-settings.js';
import { openSqlite } from './sqlite.js';
import { createSqliteDialect } from './sqlite-dialect.js';
import { SqliteThread } from './storage-thread.js';

const change = {
  site: 'a',
  changes: [{ name: 'x', before: 1, after: 0, expectedVersion: 0 }],
  actor: { id: 1, login: 'owner', address: null },
  at: 5,
};

async function open(dataDir: string, busyTimeoutMs = 100) {
  const db = await openTestDatabase(dataDir, { busyTimeoutMs });
  onTestFinished(() => db.destroy());
  return { db, settings: createSettingsStore(db) };
}

describe('a database with a fault', () => {
  it('reports that it is locked while another process holds it, and works again afterwards', async () => {
    const dataDir = await scratchFolder();
    const { settings } = await open(dataDir);
    const other = openSqlite(join(dataDir, 'guard.sqlite'), { busyTimeoutMs: 0 });
    other.exec('BEGIN IMMEDIATE');
    await expect(settings.write(change)).rejects.toMatchObject({ code: 'storage_unavailable', fault: 'locked' });
    other.exec('ROLLBACK');
    other.close();
    await expect(settings.write(change)).resolves.toBe(1);
  });

  it('reports that the disk is full and keeps nothing of the change', async () => {
    const { db, settings } = await open(await scratchFolder());
    await sql`PRAGMA max_page_count = 1`.execute(db);
    const big = { ...change.changes[0], name: 'big', before: 1, after: 'x'.repeat(200_000), expectedVersion: 0 };
    const write = settings.write({
      ...change,
      changes: [{ ...change.changes[0], name: 'small', before: 1, after: 0, expectedVersion: 0 }, big],
    });
    await expect(write).rejects.toMatchObject({ fault: 'full' });
    expect((await settings.read('a')).size).toBe(0);
  });

  it('reports that it is read-only', async () => {
    const { db, settings } = await open(await scratchFolder());
    await sql`PRAGMA query_only = 1`.execute(db);
    await expect(settings.write(change)).rejects.toMatchObject({ fault: 'read_only' });
  });

  it('refuses to open a file that is not a database', async () => {
    const dataDir = await scratchFolder();
    await writeFile(join(dataDir, 'guard.sqlite'), 'not a database '.repeat(1000));
    await expect(open(dataDir)).rejects.toMatchObject({ fault: 'corrupt' });
  });

  it('refuses to open a path that is a folder', async () => {
    const dataDir = await scratchFolder();
    const opened = openTestDatabase(dataDir, { file: '.' });
    await expect(opened).rejects.toMatchObject({ fault: 'cannot_open' });
  });

  it('never treats an unreadable stored value as one that was not set', async () => {
    const { db, settings } = await open(await scratchFolder());
    const [stored] = change.changes;
    await settings.write({ ...change, changes: [{ ...stored, name: 'login_attempts' }] as typeof change.changes });
    await db.updateTable('settings').set({ value: '{' }).execute();
    await expect(readSiteSettings(settings, 'a')).rejects.toMatchObject({ fault: 'corrupt' });
  });
});

describe('an idle storage worker', () => {
  it('ends without a fault, restarts with the next call, and responds to every call in between', async () => {
    const log = recordedLog();
    const file = join(await scratchFolder(), 'guard.sqlite');
    const thread = new SqliteThread({ file, busyTimeoutMs: 100 }, log.logger, 5);
    onTestFinished(() => thread.close());
    await thread.execute('CREATE TABLE t (n INTEGER)', []);
    const first = await thread.open();
    await eventually(async () => (await thread.open()) > first);
    for (let n = 0; n < 40; n++) {
      await thread.execute('INSERT INTO t VALUES (?)', [n]);
      // Some calls are sent before the worker ends, others afterwards.
      await new Promise((resolve) => setTimeout(resolve, n % 10));
    }
    const { rows } = await thread.execute('SELECT count(*) AS n FROM t', []);
    expect(rows).toEqual([{ n: 40 }]);
    expect(log.events()).toEqual([]);
  });

  it('stays alive while a call is under way', async () => {
    const file = join(await scratchFolder(), 'guard.sqlite');
    const thread = new SqliteThread({ file, busyTimeoutMs: 100 }, silentLogger(), 1);
    onTestFinished(() => thread.close());
    const long =
      'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1000000) SELECT max(n) AS n FROM c';
    const responses = [thread.execute('SELECT 1 AS n', []), thread.execute(long, [])];
    expect((await Promise.all(responses)).map(({ rows }) => rows[0])).toEqual([{ n: 1 }, { n: 1_000_000 }]);
  });
});

describe('a storage worker that dies', () => {
  async function openThread() {
    const log = recordedLog();
    const file = join(await scratchFolder(), 'guard.sqlite');
    const thread = new SqliteThread({ file, busyTimeoutMs: 100 }, log.logger);
    const db = new Kysely<unknown>({ dialect: createSqliteDialect(thread) });
    onTestFinished(() => db.destroy());
    await sql`CREATE TABLE t (n INTEGER)`.execute(db);
    const rows = async () => (await sql<{ n: number }>`SELECT n FROM t`.execute(db)).rows.map(({ n }) => n);
    return { thread, db, rows, log };
  }

  it('is restarted with the next statement, and the log reports it', async () => {
    const { thread, db, rows, log } = await openThread();
    await sql`INSERT INTO t VALUES (1)`.execute(db);
    await thread.simulateCrash();
    expect(await rows()).toEqual([1]);
    expect(log.events()).toEqual(['storage-worker-died', 'storage-worker-restarted']);
  });

  it('rolls back its open transaction: no later part of it is stored separately', async () => {
    const { thread, db, rows } = await openThread();
    const transaction = db.transaction().execute(async (part) => {
      await sql`INSERT INTO t VALUES (1)`.execute(part);
      await thread.simulateCrash();
      await sql`INSERT INTO t VALUES (2)`.execute(part);
    });
    await expect(transaction).rejects.toMatchObject({ fault: 'worker_died' });
    expect(await rows()).toEqual([]);
  });

  it('fails the statements without a response, and keeps the others', async () => {
    const { thread, rows } = await openThread();
    await thread.execute('INSERT INTO t VALUES (1)', []);
    const exit = thread.simulateCrash();
    const late = thread.execute('INSERT INTO t VALUES (2)', []);
    await expect(late).rejects.toMatchObject({ fault: 'worker_died' });
    await exit;
    expect(await rows()).toEqual([1]);
  });
});
