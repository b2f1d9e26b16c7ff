import type { Attackers, RequestDetails } from '@security-optimizer/contract/activity/attackers';
import { attackGoals } from '@security-optimizer/contract/activity/attackers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { activitySite } from '../../test/support/activity-site.js';
import { createEvent, createVisit, NOW, NOW_SECONDS, SITE, testStore } from '../../test/support/activity-store.js';
import { eventually } from '../../test/support/scratch.js';
import { groupAttackers, readAttackers } from './attackers.js';
import { packVisits } from './packed-visits.js';

type Site = Awaited<ReturnType<typeof activitySite>>;

/** Tries a wrong password for the account `owner`. */
async function tryPassword(site: Site, address: string): Promise<number> {
  const response = await fetch(`${site.guard.url}/wp-login.php`, {
    method: 'POST',
    headers: { 'x-forwarded-for': address, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'log=owner&pwd=wrong',
    redirect: 'manual',
  });
  await response.arrayBuffer();
  return response.status;
}

describe('a wrong password', () => {
  it('is marked in the list, named in the details, and counted once everywhere', async () => {
    const site = await activitySite();
    for (const address of ['203.0.113.24', '203.0.113.24', '198.51.100.7']) await tryPassword(site, address);
    await eventually(async () => (await site.call<Attackers>('/activity-attackers')).blocked === 3);

    const failed = await site.unknown({ preset: 'failed-logins' });
    expect(failed.entries.reduce((sum, { count }) => sum + count, 0)).toBe(3);
    // A late report has a row of its own, so the order differs from that of the attempts.
    const row = failed.entries.find(({ ip }) => ip === '198.51.100.7');
    expect(row).toMatchObject({ failed_login: 1, tried: 'owner', rule: null, goal: 'passwords' });
    expect((await site.unknown({ preset: 'blocked' })).entries).toEqual([]);

    const attackers = await site.call<Attackers>('/activity-attackers');
    expect(attackers).toMatchObject({ blocked: 3, failed: 3, addresses: 2, logins: 0 });
    expect(attackers.entries.map(({ address, blocked, goal, target }) => [address, blocked, goal, target])).toEqual([
      ['203.0.113.24', 2, 'passwords', '/wp-login.php'],
      ['198.51.100.7', 1, 'passwords', '/wp-login.php'],
    ]);
    expect(attackers.goals).toEqual([{ goal: 'passwords', blocked: 3 }]);
    expect(await site.call('/protection-facts')).toMatchObject({ failed_logins: 3 });

    const details = await site.call<RequestDetails>(`/activity-request/${row?.id}`);
    expect(details).toMatchObject({ method: 'POST', failed_login: 1, tried: 'owner', goal: 'passwords' });
    expect(details.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/wp-login\.php$/);
    expect(details.recent.map(({ id }) => id)).toEqual([row?.id]);
  });
});

describe('a password that is refused without a check', () => {
  const guessers = ['203.0.113.24', '198.51.100.7', '2001:db8:1::1'];

  it('of a locked out address counts like a wrong one, and its view of the login page does not', async () => {
    const site = await activitySite();
    for (const address of guessers) {
      for (let n = 0; n < 7; n++) expect(await tryPassword(site, address)).toBe(n < 5 ? 200 : 429);
      expect(await site.visit('/wp-login.php', { address })).toBe(429);
    }
    const attackers = () => site.call<Attackers>('/activity-attackers');
    await eventually(async () => (await attackers()).blocked === 24);
    expect(await attackers()).toMatchObject({ failed: 21, failed_addresses: 3, locked: 3, addresses: 3, logins: 0 });
    expect(await site.call('/protection-facts')).toMatchObject({ failed_logins: 21, blocked: 9 });

    const sum = async (preset: string) =>
      (await site.unknown({ preset })).entries.reduce((all, { count }) => all + count, 0);
    expect([await sum('failed-logins'), await sum('blocked'), await sum('all')]).toEqual([21, 9, 24]);
    const { text } = await site.call<{ text: string }>('/weekly-report-preview');
    expect(text).toContain('21 attempts from 3 addresses, 3 locked, nobody got in.');
    for (const address of guessers) expect(text).toContain(`- ${address}: 7 failed logins`);
  });

  it('counts too when Login Access or Away Mode refuses it, but a lost password does not', async () => {
    const site = await activitySite();
    const post = async (path: string, address: string) => {
      const headers = { 'x-forwarded-for': address };
      const body = new URLSearchParams({ log: 'owner', pwd: 'wrong' });
      return (await fetch(site.guard.url + path, { method: 'POST', headers, body, redirect: 'manual' })).status;
    };
    await site.call('/login-access', { entries: ['127.0.0.1', '192.0.2.1'], confirm: true });
    expect(await post('/wp-login.php', '203.0.113.24')).toBe(403);
    expect(await post('/wp-login.php?action=lostpassword', '203.0.113.24')).toBe(403);
    expect(await site.visit('/wp-admin/', { address: '203.0.113.24' })).toBe(403);
    const facts = () => site.call<{ blocked: number; failed_logins: number }>('/protection-facts');
    await eventually(async () => (await facts()).blocked === 3);
    expect(await facts()).toMatchObject({ blocked: 3, failed_logins: 1 });
  });
});

describe('a refused request', () => {
  it('is found by the reference on its page, also when it repeats another of the same second', async () => {
    const site = await activitySite();
    const fetchAttackers = async () => {
      const headers = {
        'x-forwarded-for': '203.0.113.9',
        accept: 'text/html',
        referer: 'https://example.org/a?token=x#y',
      };
      const response = await fetch(`${site.guard.url}/xmlrpc.php?key=secret&page=2`, { headers });
      return /[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}/.exec(await response.text())?.[0] ?? '';
    };
    const references = [await fetchAttackers(), await fetchAttackers(), await fetchAttackers()];
    await eventually(async () => (await site.unknown()).entries.reduce((sum, { count }) => sum + count, 0) === 3);
    for (const reference of references) {
      for (const written of [reference, reference.toLowerCase().replace('-', '')]) {
        const { entries } = await site.unknown({ search: written });
        expect(entries).toMatchObject([{ page_visited: '/xmlrpc.php?key=***&page=2', rule: 'xml-rpc' }]);
      }
    }
    const [row] = (await site.unknown({ search: references[0] })).entries;
    const details = await site.call<RequestDetails>(`/activity-request/${row?.id}`);
    expect(details).toMatchObject({ reference: references[0], method: 'GET', reason: 'Refused: XML-RPC is off.' });
    // The path of another site is stored; the secret in it is masked.
    expect(details.referer).toMatch(/^https:\/\/example\.org\/(?:a\?token=\*\*\*)?$/);
  });

  it('is found by a part of its path, by its address and by its network', async () => {
    const site = await activitySite();
    await site.visit('/shop/one', { address: '203.0.113.9' });
    await site.visit('/blog/two', { address: '203.0.113.10' });
    await site.visit('/blog/three', { address: '198.51.100.1' });
    await site.logged(3);
    const found = async (search: string) =>
      (await site.unknown({ search })).entries.map(({ page_visited }) => page_visited);
    expect(await found('/blog/')).toEqual(['/blog/three', '/blog/two']);
    expect(await found('203.0.113.9')).toEqual(['/shop/one']);
    expect(await found('203.0.113.0/24')).toEqual(['/blog/two', '/shop/one']);
    expect(await found('no-such-path')).toEqual([]);
  });

  it('returns 404 when the log does not contain it', async () => {
    const site = await activitySite();
    expect((await site.send('/activity-request/12345')).http).toBe(404);
  });
});

describe('attackers', () => {
  it('of one network are one row, and no request is counted twice', async () => {
    const site = await activitySite();
    for (const address of ['198.51.100.7', '198.51.100.8', '203.0.113.9']) {
      await site.visit('/xmlrpc.php', { address });
      await site.visit('/wp-content/uploads/shell.php', { address });
    }
    await eventually(async () => (await site.call<Attackers>('/activity-attackers')).blocked === 6);
    const { entries, addresses, targets } = await site.call<Attackers>('/activity-attackers');
    expect(addresses).toBe(3);
    expect(entries.map(({ address, addresses: of, blocked }) => [address, of, blocked])).toEqual([
      ['198.51.100.0/24', 2, 4],
      ['203.0.113.9', 1, 2],
    ]);
    expect(targets).toEqual([
      { target: '/wp-content/uploads/shell.php', blocked: 3 },
      { target: '/xmlrpc.php', blocked: 3 },
    ]);
    expect(entries[1]?.visitor_id).toBeGreaterThan(0);
    await site.call('/block-addresses', { address: '198.51.100.0/24', duration: 3600, note: 'guesses' });
    const [blocked] = (await site.call<Attackers>('/activity-attackers')).entries;
    expect(blocked?.block).toMatchObject({ by: 'owner', by_login: 'owner', note: 'guesses', range: '198.51.100.0/24' });
  });

  it('that logged in are counted, apart from members who only mistyped', async () => {
    const store = await testStore();
    const wrong = (address: string, failedLogins: number) =>
      createVisit({ at: NOW, address, target: '/wp-login.php', status: 200, rule: null, failedLogins });
    const refused = createVisit({
      at: NOW,
      address: '192.0.2.3',
      target: '/.env',
      status: 403,
      rule: 'system-folders',
    });
    const visits = [wrong('192.0.2.1', 2), wrong('198.51.100.1', 5), wrong('203.0.113.1', 4), refused];
    await store.write({ site: SITE, visits: packVisits(visits), dropped: 0 });
    const login = (address: string) => createEvent({ uid: address, at: NOW_SECONDS + 60, address, kind: 'login' });
    const read = async () => {
      const { data } = await readAttackers(
        {
          store,
          blocks: { find: async () => new Map(), findUser: async () => null },
          protectedAddresses: () => ({ proxies: [], monitors: [], server: [] }),
          timeZone: () => 'UTC',
          isAnonymized: () => false,
          clock: () => NOW,
        },
        { site: SITE, caller: { id: 1, login: 'owner', address: null }, all: false },
      );
      return [data.logins, data.mistyped];
    };
    await store.writeEvents(SITE, [login('192.0.2.99')]);
    expect(await read()).toEqual([0, 0]);
    await store.writeEvents(SITE, [login('192.0.2.1'), login('203.0.113.1')]);
    expect(await read()).toEqual([2, 2]);
    await store.writeEvents(SITE, [login('198.51.100.1'), login('192.0.2.3')]);
    expect(await read()).toEqual([4, 2]);
    await store.close();
  });

  it('never add up to more requests than there were, for every mix of attackers', async () => {
    const day = '2026-11-21';
    const attack = fc.record({
      network: fc.nat(3),
      host: fc.integer({ min: 1, max: 200 }),
      count: fc.integer({ min: 1, max: 50 }),
      rule: fc.constantFrom('xml-rpc', 'blocked-visitor', 'login-limit', null),
      failedLogins: fc.nat(3),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(attack, { minLength: 1, maxLength: 600 }), async (attacks) => {
        const store = await testStore();
        const visits = attacks.map(({ network, host, count, rule, failedLogins }, i) =>
          createVisit({
            ...{ at: NOW, address: `10.0.${network}.${host}`, target: `/page-${i % 7}`, count, rule },
            ...{ status: rule === null ? 200 : 403, failedLogins: rule === null ? failedLogins : 0 },
          }),
        );
        await store.write({ site: SITE, visits: packVisits(visits), dropped: 0 });
        const facts = await store.attacks(SITE, day, day);
        const sent = attacks.reduce(
          (sum, { rule, count, failedLogins }) => sum + count * (rule === null ? failedLogins : 1),
          0,
        );
        const head = facts.totals.reduce((sum, { refused, failed }) => sum + refused + failed, 0);
        expect(head).toBe(sent);
        const rows = groupAttackers(facts.attackers, [day]);
        const sum = rows.reduce((all, { blocked }) => all + blocked, 0);
        expect(sum).toBeLessThanOrEqual(sent);
        // Each of the four networks has a counter of its own, so nothing is lost.
        if (rows.every(({ addresses }) => addresses > 1)) expect(sum).toBe(sent);
        for (const { days, blocked, goal } of rows) {
          expect(days.reduce((all, hits) => all + hits, 0)).toBe(blocked);
          expect(attackGoals).toContain(goal);
        }
        await store.close();
      }),
      { numRuns: 10 },
    );
  }, 120_000);
});
