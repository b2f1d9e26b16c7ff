import { describe, expect, it } from 'vitest';
import { createEvent, createVisit, SITE, testStore } from '../../test/support/activity-store.js';
import { packVisits } from '../activity/packed-visits.js';
import { createLoginAddresses } from '../login/login-addresses.js';
import { getWeekToDate, readReportFacts } from '../reports/report-facts.js';
import { getFactsStart, readProtectionFacts } from './overview-facts.js';

const seconds = (text: string): number => Date.parse(text) / 1000;

describe('the figures below the protection score', () => {
  it('begin with the first of seven days of the site’s calendar, also when the clocks change within them', () => {
    // The clocks in Berlin went back on 25 October 2026.
    expect(getFactsStart('Europe/Berlin', seconds('2026-10-28T00:30:00+01:00'))).toBe(
      seconds('2026-10-22T00:00+02:00'),
    );
    expect(getFactsStart('Europe/Berlin', seconds('2026-10-27T23:30:00+01:00'))).toBe(
      seconds('2026-10-21T00:00+02:00'),
    );
  });

  it('are the numbers of the weekly report for the same days', async () => {
    const zone = 'Europe/Berlin';
    const now = seconds('2026-11-16T09:00:00+01:00');
    const store = await testStore({ clock: () => now * 1000, timeZone: () => zone });
    const from = getFactsStart(zone, now);
    const at = (second: number) => ({ at: second * 1000, status: 403 });
    const visits = [
      createVisit({ ...at(from - 1), rule: 'login-limit', count: 100 }),
      createVisit({ ...at(from), rule: 'login-limit', count: 6 }),
      createVisit({ ...at(now), rule: 'xml-rpc', count: 3 }),
      createVisit({ ...at(from), status: 200, failedLogins: 1 }),
      createVisit({ ...at(now), status: 200, failedLogins: 5, count: 1 }),
      createVisit({ ...at(from - 1), status: 200, failedLogins: 1 }),
    ];
    await store.write([{ site: SITE, visits: packVisits(visits), dropped: 0 }]);
    // The event of a password that was counted with its request is not counted again.
    await store.writeEvents(SITE, [createEvent({ uid: '01'.repeat(16), at: from, kind: 'login.failed' })]);
    const facts = await readProtectionFacts({ store, countBlocked: async () => 0 }, SITE, { from, now: now + 1 });
    const report = await readReportFacts(store, SITE, getWeekToDate(zone, now), createLoginAddresses([]));
    expect(facts).toMatchObject({ blocked: 9, failed_logins: 6 });
    expect(report.now).toMatchObject({ refused: 9, failedLogins: 6 });
  });
});
