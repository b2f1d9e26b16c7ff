import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allVisits, NOW, SITE, testStore } from '../../../test/support/activity-store.js';
import type { ActivityStore, VisitFilter, VisitRow } from '../activity-store.js';
import { packVisits } from '../packed-visits.js';
import { type ReadLimits, readLimits } from './reader.js';
import { toAddressKey } from './row-keys.js';
import { BUCKET_ROWS } from './site-counters.js';

/** Limits so small that a few hundred rows reach every way of finding rows. */
const TINY_BOUNDS: ReadLimits = {
  scannedVisitors: 3,
  bucketsPerQuery: 2,
  windowRows: 3,
  windowPages: 0,
  mergedPerQuery: 2,
  countedRows: 100_000,
  countedOneByOne: 100_000,
  searchedRows: 100_000,
};

const hex = (address: string) => Buffer.from(toAddressKey(address)).toString('hex');

/** Visitors of the test. */
const ADDRESSES = 40;

const AGENTS = [null, 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0', 'curl/8.5.0'];

const visit = fc.record({
  at: fc.integer({ min: NOW - 4 * 3_600_000, max: NOW }),
  // A few visitors are frequent and many are rare.
  address: fc
    .tuple(fc.integer({ min: 1, max: ADDRESSES }), fc.integer({ min: 1, max: ADDRESSES }))
    .map(([a, b]) => Math.min(a, b))
    .map((one) => (one === 3 ? '2001:db8::3' : `192.0.2.${one}`)),
  target: fc.integer({ min: 1, max: 400 }).map((page) => `/page-${page}`),
  status: fc.constantFrom(200, 404, 403),
  rule: fc.constantFrom(null, null, 'xml-rpc'),
  agent: fc.constantFrom(...AGENTS),
  count: fc.integer({ min: 1, max: 3 }),
});

/** Omitted in half of the cases, so that each filter is also tested alone. */
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { freq: 2 });
const time = maybe(fc.integer({ min: NOW / 1000 - 5 * 3600, max: NOW / 1000 + 10 }));
const last = fc.integer({ min: 0, max: ADDRESSES + 1 });
const toRange = (a: number, b: number) => ({
  low: hex(`192.0.2.${Math.min(a, b)}`),
  high: hex(`192.0.2.${Math.max(a, b)}`),
});
const filter = fc.record({
  from: time,
  to: time,
  type: maybe(fc.constantFrom('Human', 'Unknown', 'curl', 'Nobody')),
  code: maybe(fc.constantFrom(200, 404, 403, 500)),
  addresses: maybe(
    fc.oneof(
      fc.tuple(last, last).map(([a, b]) => [toRange(a, b)]),
      last.map((one) => [toRange(one, one)]),
      // Two ranges with a gap between them.
      fc.uniqueArray(last, { minLength: 4, maxLength: 4 }).map((ends) => {
        const [a = 0, b = 0, c = 0, d = 0] = ends.sort((one, other) => one - other);
        return [toRange(a, b), toRange(c, d)];
      }),
      fc.constant([]),
    ),
  ),
});

const matches = (row: VisitRow, { from, to, type, code, addresses }: VisitFilter) =>
  (from === null || row.at >= from) &&
  (to === null || row.at <= to) &&
  (type === null || row.type === type) &&
  (code === null || row.status === code) &&
  (addresses === null || addresses.some(({ low, high }) => hex(row.address) >= low && hex(row.address) <= high));

/** Summarizes rows without their ids, so that stored rows can be compared with the visits that were sent. */
const toSummary = (rows: readonly { at: number; address: string; target: string; status: number; count: number }[]) => {
  const counts = new Map<string, number>();
  for (const { at, address, target, status, count } of rows) {
    const key = `${at} ${address} ${target} ${status}`;
    counts.set(key, (counts.get(key) ?? 0) + count);
  }
  return counts;
};

const question = fc.record({
  filter,
  skip: fc.nat(60),
  limit: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 40 })),
  anchorAt: fc.integer({ min: 0, max: 120 }),
});

describe('lists of visits', () => {
  it.each([
    ['with the limits of production', readLimits, BUCKET_ROWS],
    ['with tiny limits', TINY_BOUNDS, 16],
  ])(
    'contain what filtering all rows finds, for every filter, page and anchor, %s',
    async (_name, bounds, rowsOfBucket) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(visit, { minLength: 40, maxLength: 120 }), { minLength: 2, maxLength: 5 }),
          fc.array(question, { minLength: 25, maxLength: 25 }),
          async (batches, questions) => {
            const store = await testStore({ readLimits: bounds, bucketRows: rowsOfBucket });
            for (const visits of batches) await store.write([{ site: SITE, visits: packVisits(visits), dropped: 0 }]);
            const rows = await allVisits(store);
            const sent = batches.flat().map((one) => ({ ...one, at: Math.floor(one.at / 1000) }));
            expect(toSummary(rows)).toEqual(toSummary(sent));
            expect(rows.map(({ id }) => id)).toEqual(rows.map(({ id }) => id).toSorted((a, b) => b - a));
            for (const question of questions) await check(store, rows, question);
            await store.close();
          },
        ),
        { numRuns: 12, endOnFailure: true },
      );
    },
    120_000,
  );
});

/** Compares every response for one filter with filtering all rows, newest first. */
async function check(
  store: ActivityStore,
  rows: readonly VisitRow[],
  { filter, skip, limit, anchorAt }: { filter: VisitFilter; skip: number; limit: number; anchorAt: number },
): Promise<void> {
  const anchor = rows[Math.floor((rows.length * anchorAt) / 100)]?.id ?? null;
  const expected = rows.filter((row) => (anchor === null || row.id <= anchor) && matches(row, filter));
  const page = await store.listVisits({ site: SITE, filter, anchor, before: null, skip, limit });
  expect(page).toEqual(expected.slice(skip, skip + limit));
  const last = page.at(-1)?.id;
  if (last !== undefined) {
    const next = await store.listVisits({ site: SITE, filter, anchor, before: last, skip: 0, limit });
    expect(next).toEqual(expected.slice(skip + limit, skip + 2 * limit));
  }
  expect(await store.countVisits(SITE, filter, anchor)).toEqual({ rows: expected.length, exact: true });
  if (anchor !== null) {
    const newer = rows.filter((row) => row.id > anchor && matches(row, filter));
    expect(await store.newVisits(SITE, filter, anchor, 1000)).toBe(newer.length);
  }
}
