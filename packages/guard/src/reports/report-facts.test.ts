import { expect, it } from 'vitest';
import { createEvent, createVisit, SITE, testStore } from '../../test/support/activity-store.js';
import { packVisits } from '../activity/packed-visits.js';
import { createLoginAddresses } from '../login/login-addresses.js';
import { getLastWeek, readReportFacts } from './report-facts.js';

const DAY = 86_400;
/** Monday 16 November 2026, 9:00 in Berlin. */
const AT = Date.UTC(2026, 10, 16, 8) / 1000;
const period = getLastWeek('Europe/Berlin', AT);
const monday = period.edges[0] as number;

it('a report counts its week and the week before, and no other days', async () => {
  const store = await testStore({ clock: () => AT * 1000, timeZone: () => 'Europe/Berlin' });
  const at = (second: number) => ({ at: second * 1000 });
  const visits = [
    createVisit({ ...at(monday - 7 * DAY - 1), count: 100 }),
    createVisit({ ...at(monday - 7 * DAY), count: 2 }),
    createVisit({ ...at(monday - 1), target: '/before', count: 3 }),
    createVisit({ ...at(monday), target: '/wp-cron.php' }),
    createVisit({ ...at(monday + 7200), target: '/shop/?page=2', count: 3 }),
    createVisit({ ...at(monday + 3 * DAY), target: '/wp-login.php', count: 9 }),
    createVisit({ ...at(monday + 3 * DAY), agent: 'curl/8.5.0', target: '/feed', count: 5 }),
    createVisit({
      ...at(monday + 4 * DAY),
      status: 200,
      failedLogins: 1,
      address: '203.0.113.9',
      target: '/wp-login.php',
      count: 6,
    }),
    createVisit({ ...at(monday + 4 * DAY), rule: 'login-limit', status: 403, address: '203.0.113.9', count: 6 }),
    createVisit({ ...at(monday + 4 * DAY), rule: 'away-mode', status: 403, address: '203.0.113.9' }),
    createVisit({ ...at(monday + 7 * DAY - 1), rule: 'xml-rpc', status: 403, count: 8 }),
    createVisit({ ...at(monday + 7 * DAY), target: '/wp-cron.php', count: 1000 }),
    // The first moments of the week and of the next one in Berlin; in UTC they are Sundays.
    createVisit({ ...at(monday + 60), failedLogins: 2, target: '/xmlrpc.php', address: '203.0.113.10', count: 1 }),
    createVisit({ ...at(monday + 60), target: '/early/', count: 4 }),
    createVisit({ ...at(monday + 7 * DAY), rule: 'login-limit', status: 403, address: '203.0.113.11', count: 500 }),
    createVisit({ ...at(monday + 7 * DAY), target: '/late/', count: 500 }),
  ];
  await store.write([{ site: SITE, visits: packVisits(visits), dropped: 0 }]);
  await store.write([{ site: 'other', visits: packVisits([createVisit({ ...at(monday), count: 50 })]), dropped: 0 }]);
  await store.writeEvents(SITE, [
    createEvent({ uid: '01'.repeat(16), at: monday + 60, kind: 'post.updated' }),
    createEvent({ uid: '02'.repeat(16), at: monday - 60, kind: 'login' }),
  ]);
  const facts = await readReportFacts(store, SITE, period, createLoginAddresses([]));
  expect(facts.now).toEqual({
    humans: 24,
    bots: 5,
    refused: 15,
    failedLogins: 8,
    events: [{ kind: 'post.updated', count: 1 }],
  });
  expect(facts.before).toEqual({
    humans: 5,
    bots: 0,
    refused: 0,
    failedLogins: 0,
    events: [{ kind: 'login', count: 1 }],
  });
  expect(facts.addresses).toEqual([
    { value: '203.0.113.9', count: 6 },
    { value: '203.0.113.10', count: 2 },
  ]);
  expect(facts.pages).toEqual([
    { value: '/feed', count: 5 },
    { value: '/early/', count: 4 },
    { value: '/shop/', count: 3 },
  ]);
});

it('a report without data of the week before has no comparison', async () => {
  const store = await testStore({ clock: () => AT * 1000 });
  await store.write([{ site: SITE, visits: packVisits([createVisit({ at: monday * 1000 })]), dropped: 0 }]);
  expect((await readReportFacts(store, SITE, period, createLoginAddresses([]))).before).toBeNull();
});
