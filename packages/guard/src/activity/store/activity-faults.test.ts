import { randomBytes } from 'node:crypto';
import { open, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  allEvents,
  allVisits,
  createEvent,
  createVisit,
  EVERY_VISIT,
  NOW,
  SITE,
  testStore,
  visitsUntilNow,
} from '../../../test/support/activity-store.js';
import { recordedLog } from '../../../test/support/logs.js';
import { eventually, scratchFolder } from '../../../test/support/scratch.js';
import { openSqlite } from '../../storage/sqlite.js';
import type { WorkerReply } from '../../storage/storage-thread.js';
import { packVisits } from '../packed-visits.js';
import { ActivityWriter, VisitQueue } from './activity-writer.js';

describe('a locked file', () => {
  it('delays a bounded number of visits, and the others are counted', async () => {
    const dataDir = await scratchFolder();
    const log = recordedLog();
    const store = await testStore({ dataDir, logger: log.logger, busyTimeoutMs: 20, maxWaiting: 100 });
    const other = openSqlite(join(dataDir, 'activity.sqlite'), { busyTimeoutMs: 0 });
    onTestFinished(() => other.close());
    other.exec('begin immediate');
    const writes: Promise<void>[] = [];
    for (let n = 0; n < 4; n++) {
      const visits = visitsUntilNow(60, 1, (index) => ({ target: `/${n}/${index}`, count: 2 }));
      writes.push(store.write([{ site: SITE, visits: packVisits(visits), dropped: 1 }]));
    }
    await eventually(() => log.events().includes('activity-log-write-failed'));
    other.exec('rollback');
    await Promise.all(writes);
    const rows = (await allVisits(store)).length;
    expect(rows).toBe(60);
    expect(await store.droppedVisits(SITE)).toBe(4 + 180 * 2);
    expect(log.events()).toEqual(['activity-log-write-failed', 'activity-log-write-recovered']);
  });

  it('delays a part of a call with batches of several sites, and each site counts its own others', async () => {
    const dataDir = await scratchFolder();
    const log = recordedLog();
    const store = await testStore({ dataDir, logger: log.logger, busyTimeoutMs: 20, maxWaiting: 100 });
    const other = openSqlite(join(dataDir, 'activity.sqlite'), { busyTimeoutMs: 0 });
    onTestFinished(() => other.close());
    other.exec('begin immediate');
    const batch = (site: string, rows: number) => ({ site, visits: packVisits(visitsUntilNow(rows, 1)), dropped: 1 });
    const first = store.write([batch('a', 60), batch('b', 30), batch('a', 20), batch('c', 10)]);
    const second = store.write([batch('c', 5), batch('d', 5)]);
    await eventually(() => log.events().includes('activity-log-write-failed'));
    other.exec('rollback');
    await Promise.all([first, second]);
    const stored = async (site: string) => [(await allVisits(store, site)).length, await store.droppedVisits(site)];
    expect(await Promise.all(['a', 'b', 'c', 'd'].map(stored))).toEqual([
      [60, 2 + 20],
      [30, 1],
      [10, 2 + 5],
      [0, 1 + 5],
    ]);
  });

  it('refuses events, so that they are sent again, and does not delay readers', async () => {
    const dataDir = await scratchFolder();
    const store = await testStore({ dataDir, busyTimeoutMs: 20 });
    await store.writeEvents(SITE, [createEvent({ uid: 'a' })]);
    const other = openSqlite(join(dataDir, 'activity.sqlite'), { busyTimeoutMs: 0 });
    onTestFinished(() => other.close());
    other.exec('begin immediate');
    await expect(store.writeEvents(SITE, [createEvent({ uid: 'b' })])).rejects.toMatchObject({ fault: 'locked' });
    expect(await allEvents(store)).toHaveLength(1);
    other.exec('rollback');
    await store.writeEvents(SITE, [createEvent({ uid: 'a' }), createEvent({ uid: 'b' })]);
    expect(await allEvents(store)).toHaveLength(2);
  });
});

describe('a full disk', () => {
  it('delays visits, and nothing is counted twice when there is space again', async () => {
    const dataDir = await scratchFolder();
    const store = await testStore({ dataDir });
    await store.close();
    const database = openSqlite(join(dataDir, 'activity.sqlite'), { busyTimeoutMs: 0 });
    onTestFinished(() => database.close());
    const { page_count: pages } = database.prepare('pragma page_count').get() as { page_count: number };
    const replies: WorkerReply<null>[] = [];
    const settings = { file: '', busyTimeoutMs: 0, commitMs: 1, maxWaiting: 10_000, bucketRows: 100 };
    const queue = new VisitQueue(new ActivityWriter(database, 100), settings, (reply) => replies.push(reply));
    database.exec(`pragma max_page_count = ${pages + 3}`);
    const visits = packVisits(visitsUntilNow(2000, 10, (index) => ({ address: `192.0.2.${index % 200}` })));
    queue.add(1, { name: 'visits', batches: [{ site: SITE, timeZone: 'UTC', visits, dropped: 0, at: NOW / 1000 }] });
    await eventually(() => replies.length > 0);
    expect(replies).toMatchObject([{ kind: 'note', event: 'activity-log-write-failed' }]);
    expect(database.prepare('select count(*) as rows from visits').get()).toEqual({ rows: 0 });
    database.exec('pragma max_page_count = 100000');
    await eventually(() => replies.some(({ kind }) => kind === 'done'));
    queue.close();
    const again = await testStore({ dataDir });
    expect(await allVisits(again)).toHaveLength(2000);
    expect(await again.countVisits(SITE, EVERY_VISIT, null)).toEqual({ rows: 2000, exact: true });
    const visitors = database.prepare('select sum(visits) as rows from visitors').get();
    expect(visitors).toEqual({ rows: 2000 });
  });
});

describe('a file that can’t be read', () => {
  const aside = async (dataDir: string) =>
    (await readdir(dataDir)).filter((name) => /^activity\.sqlite\.corrupt-[0-9TZ]+$/.test(name));

  it('is moved aside at the start, and a new one is created', async () => {
    const dataDir = await scratchFolder();
    const log = recordedLog();
    await writeFile(join(dataDir, 'activity.sqlite'), 'not a database '.repeat(1000));
    const store = await testStore({ dataDir, logger: log.logger });
    await store.write([{ site: SITE, visits: packVisits([createVisit()]), dropped: 0 }]);
    expect(await allVisits(store)).toHaveLength(1);
    expect(await aside(dataDir)).toEqual(['activity.sqlite.corrupt-20261121T123000Z']);
    expect(log.events()).toContain('activity-log-corrupt');
  });

  it('is moved aside when it breaks while it is in use', async () => {
    const dataDir = await scratchFolder();
    const file = join(dataDir, 'activity.sqlite');
    const first = await testStore({ dataDir });
    await first.write([{ site: SITE, visits: packVisits(visitsUntilNow(5000, 10)), dropped: 0 }]);
    await first.close();
    const handle = await open(file, 'r+');
    // All but the first pages are overwritten: the file opens, and its tables seem to exist.
    const size = (await stat(file)).size;
    await handle.write(randomBytes(size - 30 * 4096), 0, size - 30 * 4096, 30 * 4096);
    await handle.close();
    const log = recordedLog();
    const store = await testStore({ dataDir, logger: log.logger });
    await eventually(async () => {
      await allVisits(store).catch(() => undefined);
      await store.write([{ site: SITE, visits: packVisits(visitsUntilNow(50, 10)), dropped: 0 }]);
      return log.events().includes('activity-log-corrupt');
    });
    await store.write([{ site: SITE, visits: packVisits([createVisit({ target: '/after' })]), dropped: 0 }]);
    await store.writeEvents(SITE, [createEvent({ uid: 'a' })]);
    expect((await allVisits(store)).some(({ target }) => target === '/after')).toBe(true);
    expect(await aside(dataDir)).toHaveLength(1);
  });

  it('does not keep the store from opening when it is a folder; visits are counted until it can be used', async () => {
    const dataDir = await scratchFolder();
    const log = recordedLog();
    const { mkdir, rmdir } = await import('node:fs/promises');
    await mkdir(join(dataDir, 'activity.sqlite'));
    let now = NOW;
    const store = await testStore({ dataDir, logger: log.logger, clock: () => now });
    await store.write([{ site: SITE, visits: packVisits([createVisit({ count: 3 })]), dropped: 2 }]);
    await expect(store.newestVisit(SITE)).rejects.toMatchObject({ code: 'storage_unavailable' });
    await rmdir(join(dataDir, 'activity.sqlite'));
    now += 2000;
    await store.write([{ site: SITE, visits: packVisits([createVisit()]), dropped: 0 }]);
    expect(await store.droppedVisits(SITE)).toBe(5);
    expect(await allVisits(store)).toHaveLength(1);
    expect(log.events()).toEqual(['activity-log-open-failed', 'activity-log-opened']);
  });

  it('is opened again after the clock was set back', async () => {
    const dataDir = await scratchFolder();
    const { mkdir, rmdir } = await import('node:fs/promises');
    await mkdir(join(dataDir, 'activity.sqlite'));
    let now = NOW;
    const store = await testStore({ dataDir, clock: () => now });
    await expect(store.newestVisit(SITE)).rejects.toMatchObject({ code: 'storage_unavailable' });
    await rmdir(join(dataDir, 'activity.sqlite'));
    now -= 24 * 3600_000;
    await store.write([{ site: SITE, visits: packVisits([createVisit()]), dropped: 0 }]);
    expect(await allVisits(store)).toHaveLength(1);
  });
});

describe('a writer thread that ends unexpectedly', () => {
  it('is started again; its visits are counted, and events are refused rather than lost', async () => {
    const log = recordedLog();
    const store = await testStore({ logger: log.logger, commitMs: 5000 });
    const waiting = store.write([
      { site: SITE, visits: packVisits(visitsUntilNow(7, 1)), dropped: 1 },
      { site: 'other', visits: packVisits(visitsUntilNow(5, 1)), dropped: 0 },
    ]);
    await store.crash();
    await waiting;
    await store.writeEvents(SITE, [createEvent({ uid: 'a' })]);
    expect(await allEvents(store)).toHaveLength(1);
    expect(await store.droppedVisits(SITE)).toBe(8);
    expect(await store.droppedVisits('other')).toBe(5);
    expect(log.events()).toContain('storage-worker-restarted');
  });
});

describe('closing', () => {
  it('writes waiting visits, and refuses later ones', async () => {
    const dataDir = await scratchFolder();
    const store = await testStore({ dataDir, commitMs: 60_000 });
    const write = store.write([{ site: SITE, visits: packVisits(visitsUntilNow(9, 1)), dropped: 0 }]);
    await store.close();
    await write;
    await expect(store.write([{ site: SITE, visits: packVisits([createVisit()]), dropped: 0 }])).rejects.toMatchObject({
      fault: 'closed',
    });
    await expect(store.newestVisit(SITE)).rejects.toMatchObject({ fault: 'closed' });
    expect(await allVisits(await testStore({ dataDir }))).toHaveLength(9);
  });
});
