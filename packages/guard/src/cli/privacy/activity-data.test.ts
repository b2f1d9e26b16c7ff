import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  allEvents,
  allVisits,
  createEvent,
  createVisit,
  NOW,
  SITE,
  testStore,
  visitsUntilNow,
} from '../../../test/support/activity-store.js';
import { scratchFolder } from '../../../test/support/scratch.js';
import { packVisits } from '../../activity/packed-visits.js';
import type { Visit } from '../../activity/visit.js';
import { openSqlite } from '../../storage/sqlite.js';
import { eraseActivityData, findSiteNumber, readActivityData } from './activity-data.js';
import type { Person } from './person.js';

const PERSON = '192.0.2.77';
const OTHER = '192.0.2.7';
const person: Person = { address: PERSON, user: { id: 7, logins: ['person'] }, email: null };

/** A log that guard has open, and a connection of another process. */
async function openLog() {
  const dataDir = await scratchFolder();
  const store = await testStore({ dataDir, bucketRows: 16 });
  const write = (visits: readonly Visit[]) =>
    store.write([{ site: SITE, visits: packVisits([...visits]), dropped: 0 }]);
  await write([createVisit({ address: PERSON }), createVisit({ address: OTHER })]);
  const database = openSqlite(join(dataDir, 'activity.sqlite'), { busyTimeoutMs: 5000 });
  onTestFinished(() => database.close());
  const site = findSiteNumber(database, SITE) ?? 0;
  return { store, write, database, scope: { database, site, person } };
}

const refused = { status: 403, rule: 'xml-rpc', target: '/xmlrpc.php' };

it('erasing visits leaves lists and counts of a running guard correct, although its caches held them', async () => {
  const { store, write, database, scope } = await openLog();
  await write(visitsUntilNow(100, 10, (index) => ({ address: index % 2 === 0 ? PERSON : OTHER, ...refused })));
  expect(readActivityData(scope).visits).toHaveLength(51);
  const { erased } = eraseActivityData({ ...scope, isBlocked: false });
  expect(erased).toMatchObject({ visits: 51, visitors: 1 });
  expect(await allVisits(store)).toHaveLength(51);

  // The same visitors again, whom guard still has in its caches.
  await write([createVisit({ address: PERSON, target: '/again' }), createVisit({ address: OTHER, target: '/again' })]);
  const rows = database
    .prepare(
      'select name, visits.target from visits left join visitors on visitors.id = visits.visitor order by visits.id',
    )
    .all() as { name: string | null; target: string }[];
  expect(rows.filter(({ name }) => name === PERSON)).toEqual([{ name: PERSON, target: '/again' }]);
  expect(rows.filter(({ name }) => name === null)).toEqual([]);
  expect(
    database.prepare(`select value, hits from top_visits where what = 'address' and value = ?`).all(PERSON),
  ).toEqual([{ value: PERSON, hits: 1 }]);
  expect(database.prepare('select count(*) as n from attackers where value = ?').get(PERSON)).toEqual({ n: 0 });
  const all = database.prepare('select count(*) as rows from visits').get();
  expect(database.prepare('select sum(rows) as rows from visit_stretches where kind = 0').get()).toEqual(all);
  expect(database.prepare('select rows from visit_sums where kind = 0').get()).toEqual(all);
  expect(database.prepare('select name, visits from visitors order by name').all()).toEqual([
    { name: OTHER, visits: 52 },
    { name: PERSON, visits: 1 },
  ]);
});

it('erasing keeps events of others without the address and the login, and deletes those of the user', async () => {
  const { store, scope } = await openLog();
  const owner = { id: 1, login: 'owner' };
  await store.writeEvents(SITE, [
    createEvent({ uid: 'a', user: { id: 7, login: 'person' }, address: PERSON, kind: 'login' }),
    createEvent({ uid: 'b', user: owner, address: OTHER, kind: 'product.blocked', object: PERSON }),
    createEvent({ uid: 'c', user: owner, address: OTHER, kind: 'user.created', object: 'Person', objectType: 'user' }),
    createEvent({ uid: 'd', user: owner, address: PERSON, kind: 'product.setting', object: `${PERSON}0` }),
  ]);
  expect(readActivityData(scope).events).toHaveLength(4);
  expect(eraseActivityData({ ...scope, isBlocked: false }).erased.events).toBe(4);
  expect((await allEvents(store)).map(({ login, address, object }) => [login, address, object])).toEqual([
    ['owner', '', `${PERSON}0`],
    ['owner', OTHER, 'erased'],
    ['owner', OTHER, 'erased'],
  ]);
  expect(eraseActivityData({ ...scope, isBlocked: false }).erased.events).toBe(0);
});

it('erasing removes a tried login from visits of others, which keep their count of wrong passwords', async () => {
  const { write, database, scope } = await openLog();
  await write([createVisit({ address: OTHER, at: NOW, failedLogins: 1, tried: 'Person', method: 'POST' })]);
  expect(eraseActivityData({ ...scope, isBlocked: false }).erased.visits).toBe(2);
  expect(database.prepare('select tried, failed from visits where failed > 0').all()).toEqual([
    { tried: '', failed: 1 },
  ]);
});

it('a log that no guard of this release has opened is left alone', async () => {
  const { database } = await openLog();
  database.exec('alter table attackers drop column targets');
  expect(() => findSiteNumber(database, SITE)).toThrow('Start guard once, which brings it up to date.');
});

it('the targets of an attacker are exported', async () => {
  const { write, scope } = await openLog();
  const targets = ['/xmlrpc.php', '/wp-content/uploads/a.php', '/xmlrpc.php'];
  await write(targets.map((target) => createVisit({ address: PERSON, ...refused, target })));
  expect(readActivityData(scope).attackers).toMatchObject([{ address: PERSON, hits: 3, targets: ['/xmlrpc.php'] }]);
});
