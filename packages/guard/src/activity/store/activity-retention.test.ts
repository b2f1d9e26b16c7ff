import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  allEvents,
  allVisits,
  createEvent,
  EVERY_VISIT,
  NOW,
  NOW_SECONDS,
  SITE,
  testStore,
  visitsUntilNow,
} from '../../../test/support/activity-store.js';
import { scratchFolder } from '../../../test/support/scratch.js';
import { openSqlite } from '../../storage/sqlite.js';
import type { RetainedActivity } from '../activity-store.js';
import { packVisits } from '../packed-visits.js';
import type { OpenActivityStore } from './open-activity-store.js';

const KEEP_ALL: RetainedActivity = { before: 0, maxRows: 1_000_000, blocked: [] };
const HOUR = 3600;

async function clearUp(store: OpenActivityStore, keep: Partial<RetainedActivity>): Promise<number> {
  let steps = 1;
  while (await store.retain(SITE, { ...KEEP_ALL, ...keep })) steps++;
  return steps;
}

describe('retention', () => {
  it('deletes rows that are older than the days, and nothing else', async () => {
    const store = await testStore({ bucketRows: 50 });
    await store.write([{ site: SITE, visits: packVisits(visitsUntilNow(400, 60_000)), dropped: 0 }]);
    await store.write([{ site: 'other', visits: packVisits(visitsUntilNow(400, 60_000)), dropped: 0 }]);
    const before = NOW_SECONDS - 100 * 60;
    const remaining = (await allVisits(store)).filter(({ at }) => at >= before);
    await clearUp(store, { before });
    expect(await allVisits(store)).toEqual(remaining);
    expect(await allVisits(store, 'other')).toHaveLength(400);
  });

  it('deletes the oldest rows beyond the maximum number', async () => {
    const store = await testStore({ bucketRows: 50 });
    await store.write([{ site: SITE, visits: packVisits(visitsUntilNow(1000, 1000)), dropped: 0 }]);
    const all = await allVisits(store);
    await clearUp(store, { maxRows: 333 });
    expect(await allVisits(store)).toEqual(all.slice(0, 333));
    await clearUp(store, { maxRows: 333 });
    expect(await allVisits(store)).toEqual(all.slice(0, 333));
  });

  it('keeps every count exact after each step', async () => {
    const store = await testStore({ bucketRows: 64 });
    const visits = visitsUntilNow(2000, 2000, (index) => ({
      status: index % 3 === 0 ? 404 : 200,
      address: `192.0.2.${index % 7}`,
    }));
    await store.write([{ site: SITE, visits: packVisits(visits), dropped: 0 }]);
    for (const maxRows of [1999, 1700, 900, 64, 63, 1, 0]) {
      await clearUp(store, { maxRows });
      for (const code of [null, 200, 404]) {
        const filter = { ...EVERY_VISIT, code };
        const rows = await allVisits(store, SITE, filter);
        expect(await store.countVisits(SITE, filter, null)).toEqual({ rows: rows.length, exact: true });
        const page = await store.listVisits({ site: SITE, filter, anchor: null, before: null, skip: 40, limit: 9 });
        expect(page).toEqual(rows.slice(40, 49));
      }
    }
    await store.write([{ site: SITE, visits: packVisits(visitsUntilNow(10, 1000)), dropped: 0 }]);
    expect(await store.countVisits(SITE, EVERY_VISIT, null)).toEqual({ rows: 10, exact: true });
  });

  it('keeps the aggregates of deleted rows, for reports', async () => {
    const store = await testStore();
    await store.write([{ site: SITE, visits: packVisits(visitsUntilNow(50, 1000)), dropped: 0 }]);
    await store.writeEvents(SITE, [createEvent({ uid: 'a' })]);
    const totals = () =>
      Promise.all([
        store.traffic(SITE, 0, NOW_SECONDS),
        store.top(SITE, 'address', '2026-11-01', '2026-11-30', 10),
        store.eventKinds(SITE, 0, NOW_SECONDS),
      ]);
    const before = await totals();
    await clearUp(store, { maxRows: 0 });
    expect(await totals()).toEqual(before);
    expect(before[0]).toEqual([{ hour: NOW_SECONDS - 1800, humans: 50, bots: 0, blocked: 0 }]);
  });

  it('deletes aggregates after 35 days', async () => {
    let now = NOW;
    const store = await testStore({ clock: () => now });
    await store.write([{ site: SITE, visits: packVisits(visitsUntilNow(5, 1000)), dropped: 2 }]);
    now += 34 * 24 * HOUR * 1000;
    await clearUp(store, {});
    expect(await store.traffic(SITE, 0, now / 1000)).toHaveLength(1);
    now += 2 * 24 * HOUR * 1000;
    await clearUp(store, {});
    expect(await store.traffic(SITE, 0, now / 1000)).toEqual([]);
    expect(await store.top(SITE, 'page', '2026-11-01', '2026-12-31', 10)).toEqual([]);
    expect(await store.droppedVisits(SITE)).toBe(0);
  });

  it('deletes addresses without rows, but neither blocked ones nor users nor those of events', async () => {
    const store = await testStore();
    const [removed, blocked, ofEvent] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'] as const;
    const old = NOW - 10 * HOUR * 1000;
    const visits = [removed, blocked, ofEvent].flatMap((address) => visitsUntilNow(3, 1, () => ({ address, at: old })));
    await store.write([{ site: SITE, visits: packVisits(visits), dropped: 0 }]);
    await store.writeEvents(SITE, [createEvent({ uid: 'a', address: ofEvent })]);
    const ids = new Map<string, number>();
    for (const address of [removed, blocked, ofEvent])
      ids.set(address, (await store.getAddressVisitor(SITE, address)).id);
    const user = await store.getUserVisitor(SITE, { id: 1, login: 'owner' });
    await clearUp(store, { before: NOW_SECONDS - HOUR, blocked: [ids.get(blocked) as number] });
    expect(await allVisits(store)).toEqual([]);
    expect(await store.visitor(SITE, ids.get(removed) as number)).toBeNull();
    expect(await store.visitor(SITE, ids.get(blocked) as number)).toMatchObject({ name: blocked });
    expect(await store.visitor(SITE, ids.get(ofEvent) as number)).toMatchObject({ name: ofEvent });
    expect(await store.visitor(SITE, user.id)).toMatchObject({ name: 'owner' });
  });

  it('keeps a visitor that was created a moment ago, and never reuses its id', async () => {
    let now = NOW;
    const store = await testStore({ clock: () => now });
    const { id } = await store.getAddressVisitor(SITE, '192.0.2.9');
    for (const minutes of [0, 59]) {
      now = NOW + minutes * 60_000;
      await clearUp(store, {});
      expect(await store.visitor(SITE, id)).not.toBeNull();
    }
    now += 2 * HOUR * 1000;
    await clearUp(store, {});
    expect(await store.visitor(SITE, id)).toBeNull();
    expect((await store.getAddressVisitor(SITE, '192.0.2.9')).id).toBeGreaterThan(id);
  });

  it('deletes old events, too', async () => {
    const store = await testStore();
    const events = [1, 2, 3, 4].map((n) => createEvent({ uid: String(n), at: NOW_SECONDS - n * HOUR }));
    await store.writeEvents(SITE, events);
    await clearUp(store, { before: NOW_SECONDS - 3 * HOUR });
    expect((await allEvents(store)).map(({ at }) => (NOW_SECONDS - at) / HOUR)).toEqual([1, 2, 3]);
    await clearUp(store, { maxRows: 2 });
    expect((await allEvents(store)).map(({ at }) => (NOW_SECONDS - at) / HOUR)).toEqual([1, 2]);
  });

  it('runs in small steps, between which visits are written', async () => {
    const dataDir = await scratchFolder();
    const store = await testStore({ dataDir });
    for (let n = 0; n < 10; n++)
      await store.write([
        {
          site: SITE,
          visits: packVisits(visitsUntilNow(3000, 1000, (index) => ({ target: `/${n}/${index}` }))),
          dropped: 0,
        },
      ]);
    let steps = 0;
    let written = 0;
    while (await store.retain(SITE, { ...KEEP_ALL, maxRows: 100 })) {
      steps++;
      if (steps === 1) {
        await store.write([{ site: SITE, visits: packVisits(visitsUntilNow(5, 1)), dropped: 0 }]);
        written = (await allVisits(store)).length;
      }
    }
    expect(steps).toBeGreaterThan(3);
    expect(written).toBeGreaterThan(10_000);
    await store.close();
    const database = openSqlite(join(dataDir, 'activity.sqlite'), { busyTimeoutMs: 0, readOnly: true });
    expect(database.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' });
    expect(database.prepare('select count(*) as rows from visits').get()).toEqual({ rows: 100 });
    database.close();
  });
});
