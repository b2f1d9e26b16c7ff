import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openActivityStore, silentLogger, type VisitFilter } from '@security-optimizer/guard/testing';
import { expect, it, onTestFinished } from 'vitest';
import { generateActivity } from './generate.js';
import { toVisitorAddress, VISITORS } from './sample-visits.js';

const NOW = Date.UTC(2026, 10, 21, 12) / 1000;
const EVERY_VISIT: VisitFilter = { from: null, to: null, type: null, code: null, addresses: null };

it('a generated log is valid for the store, and its aggregates match its rows', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-test-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const open = () => openActivityStore({ dataDir, logger: silentLogger(), clock: () => NOW * 1000 });
  await (await open()).close();
  const rows = 10_000;
  generateActivity(join(dataDir, 'activity.sqlite'), { site: 'a', rows, to: NOW, log: () => undefined });
  const store = await open();
  onTestFinished(() => store.close());

  const list = (filter = EVERY_VISIT, skip = 0) =>
    store.listVisits({ site: 'a', filter, anchor: null, before: null, skip, limit: 20_000 });
  const all = await list();
  expect(all).toHaveLength(rows);
  expect(await list(EVERY_VISIT, 9000)).toEqual(all.slice(9000));
  for (const { value } of await store.options('a', 'type', '', 200)) {
    const filter = { ...EVERY_VISIT, type: value };
    const expected = all.filter(({ type }) => type === value);
    expect(await store.countVisits('a', filter, null)).toEqual({ rows: expected.length, exact: true });
    expect(await list(filter)).toEqual(expected);
  }
  const hours = await store.traffic('a', 0, NOW + 3600);
  expect(hours.reduce((sum, hour) => sum + hour.humans + hour.bots + hour.blocked, 0)).toBe(rows);
  const busiest = await store.top('a', 'address', '2026-11-01', '2026-11-30', 1);
  const ofBusiest = all.filter(({ address }) => address === toVisitorAddress(0)).length;
  expect(busiest).toEqual([{ value: toVisitorAddress(0), count: ofBusiest }]);
  expect(await store.retain('a', { before: 0, maxRows: 4000, blocked: [] })).toBeTypeOf('boolean');
});

it('every visitor has a different address', () => {
  const addresses = new Set(Array.from({ length: VISITORS }, (_, index) => toVisitorAddress(index)));
  expect(addresses.size).toBe(VISITORS);
  expect([toVisitorAddress(0), toVisitorAddress(300), toVisitorAddress(1000)]).toEqual([
    '192.0.2.0',
    '198.51.100.44',
    '2001:db8::3e8',
  ]);
});
