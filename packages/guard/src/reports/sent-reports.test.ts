import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { openTestDatabase } from '../../test/support/database.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { getDueSendTime, SAME_WEEK_MS } from './send-time.js';
import { createReportStore } from './sent-reports.js';

const SLOT = Date.UTC(2026, 10, 16, 8);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const WEEK = 7 * DAY;
const ANNA = 'anna@example.com';

async function store() {
  const db = await openTestDatabase(await scratchFolder());
  onTestFinished(() => db.destroy());
  return createReportStore(db);
}

it('of many concurrent claims of a report, one succeeds', async () => {
  const sends = await store();
  const claims = await Promise.all(Array.from({ length: 8 }, () => sends.claim('a', ANNA, SLOT, SLOT)));
  expect(claims.filter((claim) => claim !== null)).toEqual([{ email: ANNA, slot: SLOT, tries: 0 }]);
  expect(await sends.claim('b', ANNA, SLOT, SLOT)).not.toBeNull();
  expect(await sends.claim('a', 'ben@example.com', SLOT, SLOT)).not.toBeNull();
});

it('a sent report is not sent again that week, also when the time zone changed its time', async () => {
  const sends = await store();
  const claim = await sends.claim('a', ANNA, SLOT, SLOT);
  if (claim === null) throw new Error('Nobody had it before.');
  await sends.sent('a', claim, SLOT);
  for (const slot of [SLOT, SLOT - 26 * 60 * MINUTE, SLOT + 26 * 60 * MINUTE]) {
    expect(await sends.claim('a', ANNA, slot, slot)).toBeNull();
  }
  expect(await sends.claim('a', ANNA, SLOT + WEEK, SLOT + WEEK)).toEqual({ email: ANNA, slot: SLOT + WEEK, tries: 0 });
});

it('a failed report can be claimed again after its pause, also when the clock was wrong', async () => {
  const sends = await store();
  const first = await sends.claim('a', ANNA, SLOT, SLOT);
  if (first === null) throw new Error('Nobody had it before.');
  await sends.failed('a', first, { reason: 'no', nextAt: SLOT + 10 * MINUTE });
  expect(await sends.claim('a', ANNA, SLOT, SLOT + 9 * MINUTE)).toBeNull();
  const second = await sends.claim('a', ANNA, null, SLOT + 10 * MINUTE);
  expect(second).toEqual({ email: ANNA, slot: SLOT, tries: 1 });
  expect(await sends.claim('a', ANNA, null, SLOT + 10 * MINUTE)).toBeNull();
  // The clock was a year ahead at the second failure.
  if (second !== null) await sends.failed('a', second, { reason: 'no', nextAt: SLOT + 365 * DAY });
  expect(await sends.claim('a', ANNA, null, SLOT + 11 * MINUTE)).toEqual({ email: ANNA, slot: SLOT, tries: 2 });
});

it('the reported failure is the latest unsent report of each recipient', async () => {
  const sends = await store();
  for (const email of [ANNA, 'ben@example.com']) {
    const claim = await sends.claim('a', email, SLOT, SLOT);
    if (claim !== null) await sends.failed('a', claim, { reason: `no ${email}`, nextAt: null });
  }
  const next = await sends.claim('a', ANNA, SLOT + WEEK, SLOT + WEEK);
  if (next !== null) await sends.sent('a', next, SLOT + WEEK);
  expect(await sends.failures('a', [ANNA, 'ben@example.com', 'new@example.com'])).toEqual([
    { email: 'ben@example.com', reason: 'no ben@example.com', nextAt: null },
  ]);
  expect(await sends.failures('a', [ANNA])).toEqual([]);
});

it('a mail that was begun but never completed is given up, since it may have been delivered', async () => {
  const sends = await store();
  await sends.claim('a', ANNA, SLOT, SLOT);
  await sends.endInterrupted('a', 'stopped', SLOT + MINUTE);
  expect(await sends.failures('a', [ANNA])).toEqual([]);
  await sends.endInterrupted('a', 'stopped', SLOT + 11 * MINUTE);
  expect(await sends.failures('a', [ANNA])).toEqual([{ email: ANNA, reason: 'stopped', nextAt: null }]);
  expect(await sends.claim('a', ANNA, SLOT, SLOT + 12 * MINUTE)).toBeNull();
});

it('whatever the clock does within weeks, no week is reported twice', async () => {
  const sends = await store();
  let number = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: -20 * DAY, max: 20 * DAY }), { maxLength: 30 }), async (jumps) => {
      const site = `site-${number++}`;
      const given: number[] = [];
      let now = SLOT;
      for (const jump of jumps) {
        now = Math.min(Math.max(now + jump, SLOT - 40 * DAY), SLOT + 40 * DAY);
        const due = getDueSendTime(site, now % 2 === 0 ? 'Europe/Berlin' : 'Pacific/Auckland', now);
        const claim = due === null ? null : await sends.claim(site, ANNA, due, now);
        if (claim !== null) given.push(claim.slot);
      }
      given.sort((a, b) => a - b);
      for (const [index, slot] of given.entries()) {
        if (index > 0) expect(slot - (given[index - 1] as number)).toBeGreaterThanOrEqual(SAME_WEEK_MS);
      }
    }),
    { numRuns: 25 },
  );
});
