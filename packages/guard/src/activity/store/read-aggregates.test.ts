import { describe, expect, it } from 'vitest';
import {
  allEvents,
  allVisits,
  createEvent,
  createVisit,
  EVERY_VISIT,
  NOW,
  NOW_SECONDS,
  SITE,
  testStore,
  visitsUntilNow,
} from '../../../test/support/activity-store.js';
import { scratchFolder } from '../../../test/support/scratch.js';
import { AddressCounter, packVisits } from '../packed-visits.js';
import type { NumberedVisit, Visit } from '../visit.js';
import type { OpenActivityStore } from './open-activity-store.js';

const HOUR = 3600;
const HOUR_BEGAN = NOW_SECONDS - 1800;

describe('a visit that repeats another', () => {
  const first = { ...createVisit({ count: 2 }), number: 1, repeats: 0 };
  const again = { ...first, at: NOW + 900, count: 3, number: 2, repeats: 1 };
  const write = (store: OpenActivityStore, ...visits: (Visit & Partial<NumberedVisit>)[]) =>
    store.write([{ site: SITE, visits: packVisits(visits), dropped: 0 }]);
  const counts = async (store: OpenActivityStore) => (await allVisits(store)).map(({ count }) => count);

  it('within its second adds to its row, in the same commit or a later one, and so does a further repeat', async () => {
    const store = await testStore();
    await write(store, first, again);
    await write(store, { ...first, at: NOW + 950, count: 4, number: 3, repeats: 2 });
    expect(await counts(store)).toEqual([9]);
    expect((await store.countVisits(SITE, EVERY_VISIT, null)).rows).toBe(1);
    expect(await store.traffic(SITE, HOUR_BEGAN, HOUR_BEGAN + 1)).toMatchObject([{ humans: 9 }]);
  });

  it('in another second has a row of its own, to which its repeats are added', async () => {
    const store = await testStore();
    await write(store, first, { ...again, at: NOW + 1000 }, { ...again, at: NOW + 1100, number: 3, repeats: 2 });
    expect((await counts(store)).sort()).toEqual([2, 6]);
  });

  it('has a row of its own when the other is not found: of another site, deleted, or from before a restart', async () => {
    const dataDir = await scratchFolder();
    const store = await testStore({ dataDir });
    await write(store, first);
    await store.write([{ site: 'other', visits: packVisits([again]), dropped: 0 }]);
    expect(await counts(store)).toEqual([2]);
    await store.close();
    const restarted = await testStore({ dataDir });
    await write(restarted, again);
    expect((await counts(restarted)).sort()).toEqual([2, 3]);
    await restarted.retain(SITE, { before: NOW_SECONDS + 1, maxRows: 1000, blocked: [] });
    await write(restarted, { ...again, number: 3, repeats: 2 });
    expect(await counts(restarted)).toEqual([3]);
  });
});

describe('aggregates', () => {
  it('contain hits per hour: humans, bots, and refused ones separately', async () => {
    const store = await testStore();
    const visits = [
      createVisit({ count: 3 }),
      createVisit({ agent: null }),
      createVisit({ agent: 'curl/8.5.0', target: '/a' }),
      createVisit({ rule: 'xml-rpc', status: 403, count: 7 }),
      createVisit({ at: NOW - HOUR * 1000 }),
      createVisit({ at: NOW - 3 * HOUR * 1000 }),
    ];
    await store.write([{ site: SITE, visits: packVisits(visits), dropped: 0 }]);
    expect(await store.traffic(SITE, HOUR_BEGAN - HOUR, HOUR_BEGAN + HOUR)).toEqual([
      { hour: HOUR_BEGAN - HOUR, humans: 1, bots: 0, blocked: 0 },
      { hour: HOUR_BEGAN, humans: 3, bots: 2, blocked: 7 },
    ]);
    const { id } = await store.getAddressVisitor(SITE, '192.0.2.1');
    expect(await store.visitorHours(SITE, id, NOW_SECONDS - 3 * HOUR, NOW_SECONDS)).toEqual([1, 0, 1, 12]);
  });

  it('contain the most frequent addresses, pages, and addresses with failed logins', async () => {
    const store = await testStore();
    const visits = [
      createVisit({ address: '192.0.2.2', target: '/shop?page=2', count: 5 }),
      createVisit({ address: '192.0.2.3', target: '/shop', count: 2 }),
      createVisit({ address: '192.0.2.3', target: '/missing', status: 404, count: 9 }),
      // Only views of the login page, so no failed logins.
      createVisit({ address: '192.0.2.4', target: '/wp-login.php', status: 429, rule: 'login-limit', count: 4 }),
      createVisit({ address: '192.0.2.5', target: '/xmlrpc.php', failedLogins: 3, count: 2 }),
      createVisit({ address: '192.0.2.6', target: '/wp-login.php', failedLogins: 1, tried: 'owner' }),
    ];
    await store.write([{ site: SITE, visits: packVisits(visits), dropped: 0 }]);
    // The event of a wrong password for an account is not counted again.
    await store.writeEvents(SITE, [createEvent({ uid: 'a', kind: 'login.failed', address: '192.0.2.5' })]);
    const top = (what: 'address' | 'page' | 'failed-login', day = '2026-11-21') => store.top(SITE, what, day, day, 2);
    expect(await top('address')).toEqual([
      { value: '192.0.2.3', count: 11 },
      { value: '192.0.2.2', count: 5 },
    ]);
    expect(await top('page')).toEqual([
      { value: '/shop', count: 7 },
      { value: '/xmlrpc.php', count: 2 },
    ]);
    expect(await top('failed-login')).toEqual([
      { value: '192.0.2.5', count: 6 },
      { value: '192.0.2.6', count: 1 },
    ]);
    const hours = await store.failedLogins(SITE, NOW_SECONDS - HOUR, NOW_SECONDS + HOUR);
    expect(hours.map(({ count }) => count)).toEqual([7]);
    expect(await store.failedLoginAddresses(SITE, '2026-11-21', '2026-11-21')).toBe(2);
    expect(await top('page', '2026-11-20')).toEqual([]);
  });

  it('belong to the days of the site, also when its time zone changes', async () => {
    let timeZone = 'Pacific/Auckland';
    const store = await testStore({ timeZone: () => timeZone });
    const write = (target: string, visit = {}) =>
      store.write([{ site: SITE, visits: packVisits([createVisit({ target, ...visit })]), dropped: 0 }]);
    await write('/new-zealand/', { address: '192.0.2.9' });
    timeZone = '-11:30';
    await write('/samoa/', { address: '192.0.2.8', at: NOW - 4 * HOUR * 1000 });
    await write('/wp-login.php', { failedLogins: 1, status: 401 });
    const top = (what: 'page' | 'failed-login', day: string) => store.top(SITE, what, day, day, 2);
    expect(await top('page', '2026-11-22')).toEqual([{ value: '/new-zealand/', count: 1 }]);
    expect(await top('page', '2026-11-20')).toEqual([{ value: '/samoa/', count: 1 }]);
    expect(await top('failed-login', '2026-11-21')).toEqual([{ value: '192.0.2.1', count: 1 }]);
    // A day of the site that is over in UTC is found, too.
    expect((await store.options(SITE, 'ip', '', 5)).map(({ label }) => label)).toEqual([
      '192.0.2.1',
      '192.0.2.8',
      '192.0.2.9',
    ]);
  });

  it('count dropped visits once', async () => {
    const store = await testStore();
    await store.write([{ site: SITE, visits: packVisits([createVisit()]), dropped: 4 }]);
    await store.write([{ site: SITE, visits: packVisits([]), dropped: 3 }]);
    expect(await store.droppedVisits(SITE)).toBe(7);
    expect(await store.droppedVisits(SITE, NOW_SECONDS)).toBe(7);
    expect(await store.droppedVisits(SITE, NOW_SECONDS + HOUR)).toBe(0);
    expect(await store.droppedVisits(SITE, 0, HOUR_BEGAN)).toBe(0);
    expect(await store.droppedVisits(SITE, HOUR_BEGAN, NOW_SECONDS)).toBe(7);
    expect(await store.droppedVisits('other')).toBe(0);
    expect(await store.countVisits(SITE, EVERY_VISIT, null)).toEqual({ rows: 1, exact: true });
  });
});

describe('choices of a filter', () => {
  it('are sorted with the most frequent first, and contain the searched text', async () => {
    const store = await testStore();
    const address = (index: number) => `192.0.2.${index % 2 === 0 ? 7 : index}`;
    const agent = (index: number) => (index % 5 === 0 ? 'curl/8.5.0' : null);
    const visits = visitsUntilNow(60, 1000, (index) => ({
      address: address(index),
      agent: agent(index),
      status: index % 3 === 0 ? 404 : 200,
    }));
    await store.write([{ site: SITE, visits: packVisits(visits), dropped: 0 }]);
    const labels = async (filter: 'type' | 'code' | 'ip', search = '', limit = 200) =>
      (await store.options(SITE, filter, search, limit)).map(({ label }) => label);
    expect(await labels('type')).toEqual(['Unknown', 'curl']);
    expect(await labels('type', 'CUR')).toEqual(['curl']);
    expect(await labels('code')).toEqual(['200', '404']);
    expect(await labels('code', '4')).toEqual(['404']);
    expect((await labels('ip', '', 3))[0]).toBe('192.0.2.7');
    expect(await labels('ip', '2.5')).toEqual([
      '192.0.2.5',
      '192.0.2.51',
      '192.0.2.53',
      '192.0.2.55',
      '192.0.2.57',
      '192.0.2.59',
    ]);
    expect((await labels('ip', '7'))[0]).toBe('192.0.2.7');
    expect(await labels('ip', '%')).toEqual([]);
    expect(await labels('ip', '_')).toEqual([]);
  });

  it('contain no address that only shares the row of another, since the list would be empty', async () => {
    const store = await testStore();
    const tally = new AddressCounter();
    for (let i = 0; i < 9; i++) tally.add('203.0.113.9');
    const folded = { address: '203.0.113.24', rule: 'xml-rpc', status: 403, more: 9, moreBits: 24 };
    const row = { ...createVisit(), ...folded, others: tally.bytes() };
    await store.write([{ site: SITE, visits: packVisits([row]), dropped: 0 }]);
    expect(await store.options(SITE, 'ip', '', 9)).toMatchObject([{ label: '203.0.113.24' }]);
    expect(await store.top(SITE, 'address', '2026-11-21', '2026-11-21', 9)).toEqual([
      { value: '203.0.113.9', count: 9 },
      { value: '203.0.113.24', count: 1 },
    ]);
  });

  it('contain users by login with the id of their visitor, and kinds by their ids', async () => {
    const store = await testStore();
    const events = [
      createEvent({ uid: 'a', kind: 'login' }),
      createEvent({ uid: 'b', user: { id: 2, login: 'editor' }, kind: 'login.failed' }),
      createEvent({ uid: 'c', user: { id: 2, login: 'editor-new-name' }, kind: 'login.failed' }),
    ];
    await store.writeEvents(SITE, events);
    const editor = await store.getUserVisitor(SITE, { id: 2, login: 'editor-new-name' });
    expect(await store.options(SITE, 'user', '', 1)).toEqual([{ label: 'editor-new-name', value: String(editor.id) }]);
    expect(await store.options(SITE, 'user', 'OWN', 9)).toMatchObject([{ label: 'owner' }]);
    expect(await store.options(SITE, 'activity', '', 9)).toEqual([
      { label: 'login.failed', value: 'login.failed' },
      { label: 'login', value: 'login' },
    ]);
  });
});

describe('visitors', () => {
  it('keep their ids, also after a restart, and belong to one site', async () => {
    const dataDir = await scratchFolder();
    const store = await testStore({ dataDir });
    await store.write([
      {
        site: SITE,
        visits: packVisits([createVisit({ at: NOW - 60_000 }), createVisit()]),
        dropped: 0,
      },
    ]);
    const before = await store.getAddressVisitor(SITE, '192.0.2.1');
    expect(before).toMatchObject({ kind: 'ip', firstSeen: NOW_SECONDS - 60, lastSeen: NOW_SECONDS, hostname: null });
    await store.close();
    const again = await testStore({ dataDir });
    expect(await again.getAddressVisitor(SITE, '192.0.2.1')).toEqual(before);
    expect(await again.visitor('other', before.id)).toBeNull();
    expect((await again.getAddressVisitor('other', '192.0.2.1')).id).not.toBe(before.id);
    await again.write([{ site: SITE, visits: packVisits([createVisit({ target: '/again' })]), dropped: 0 }]);
    expect((await allVisits(again)).map(({ visitorId }) => visitorId)).toEqual([before.id, before.id, before.id]);
  });

  it('are listed as a search engine only once DNS has verified them', async () => {
    const store = await testStore();
    const agent = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
    await store.write([{ site: SITE, visits: packVisits([createVisit({ agent })]), dropped: 0 }]);
    const { id } = await store.getAddressVisitor(SITE, '192.0.2.1');
    await store.setHostname(SITE, id, 'crawl.example.com', 'Google');
    await store.write([{ site: SITE, visits: packVisits([createVisit({ agent, target: '/later' })]), dropped: 0 }]);
    const rows = await allVisits(store);
    expect(rows.map(({ target, type, hostname }) => ({ target, type, hostname }))).toEqual([
      { target: '/later', type: 'Googlebot', hostname: 'crawl.example.com' },
      { target: '/', type: 'Unverified bot', hostname: 'crawl.example.com' },
    ]);
  });

  it('are the same for every spelling of an address, and for everything that is no address', async () => {
    const store = await testStore();
    const spellings = [
      '2001:DB8::1',
      '2001:db8::1',
      '2001:db8:0:0::1',
      '192.0.2.1',
      '::ffff:192.0.2.1',
      'nonsense',
      '',
    ];
    const visits = spellings.map((address) => createVisit({ address, target: `/${address}` }));
    await store.write([{ site: SITE, visits: packVisits(visits), dropped: 0 }]);
    const events = spellings.map((address, index) => createEvent({ uid: String(index), address }));
    await store.writeEvents(SITE, events);
    expect(await store.droppedVisits(SITE)).toBe(0);
    const rows = await allVisits(store);
    expect(rows).toHaveLength(spellings.length);
    expect(new Set(rows.map(({ address }) => address))).toEqual(new Set(['2001:db8::1', '192.0.2.1', '::']));
    expect((await allEvents(store)).map(({ address }) => address).sort()).toEqual([...spellings].sort());
  });

  it('of users are identified by the user’s id, whatever the current login is', async () => {
    const store = await testStore();
    const first = await store.getUserVisitor(SITE, { id: 42, login: 'editor' });
    const second = await store.getUserVisitor(SITE, { id: 42, login: 'editor-new-name' });
    expect(second).toMatchObject({ id: first.id, kind: 'user', userId: 42, name: 'editor-new-name' });
  });
});

describe('a clock that jumps', () => {
  it('never merges two rows, nor loses their order by time', async () => {
    const store = await testStore({ bucketRows: 20 });
    const times = [0, 0, 3_600_000, -7_200_000, 1000, -7_200_000, 0];
    for (const [n, jump] of times.entries()) {
      const visits = visitsUntilNow(30, 10, (index) => ({ target: `/${n}/${index}` })).map((visit) => ({
        ...visit,
        at: visit.at + jump,
      }));
      await store.write([{ site: SITE, visits: packVisits(visits), dropped: 0 }]);
    }
    const rows = await allVisits(store);
    expect(new Set(rows.map(({ target }) => target)).size).toBe(30 * times.length);
    expect(rows.map(({ at }) => at)).toEqual(rows.map(({ at }) => at).toSorted((a, b) => b - a));
    expect(await store.countVisits(SITE, EVERY_VISIT, null)).toEqual({ rows: rows.length, exact: true });
    const from = NOW_SECONDS - 10;
    const early = { ...EVERY_VISIT, to: from };
    expect(await store.countVisits(SITE, early, null)).toEqual({
      rows: rows.filter(({ at }) => at <= from).length,
      exact: true,
    });
  });
});
