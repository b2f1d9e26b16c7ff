import type { Attackers, RequestDetails } from '@security-optimizer/contract/activity/attackers';
import { attackGoals } from '@security-optimizer/contract/activity/attackers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { activitySite, filter } from '../../test/support/activity-site.js';
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
    await eventually(async () => (await site.call<Attackers>('/activity-attackers')).attempts === 3);

    const failed = await site.unknown({ preset: 'failed-logins' });
    expect(failed.entries.reduce((sum, { count }) => sum + count, 0)).toBe(3);
    // A late report has a row of its own, so the order differs from that of the attempts.
    const row = failed.entries.find(({ ip }) => ip === '198.51.100.7');
    expect(row).toMatchObject({ failed_login: 1, tried: 'owner', rule: null, goal: 'passwords' });
    expect((await site.unknown({ preset: 'blocked' })).entries).toEqual([]);

    const attackers = await site.call<Attackers>('/activity-attackers');
    expect(attackers).toMatchObject({ attempts: 3, scanned: 0, failed: 3, addresses: 2, logins: 0 });
    expect(attackers.entries.map(({ address, attempts, goal, target }) => [address, attempts, goal, target])).toEqual([
      ['203.0.113.24', 2, 'passwords', '/wp-login.php'],
      ['198.51.100.7', 1, 'passwords', '/wp-login.php'],
    ]);
    expect(attackers.goals).toEqual([{ goal: 'passwords', attempts: 3 }]);
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
    await eventually(async () => (await attackers()).attempts === 24);
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

  it('is found by its whole path in quotes, with any query', async () => {
    const site = await activitySite();
    for (const path of ['/', '/?page=2', '/shop/', '/shop/one', '/a_b', '/axb']) await site.visit(path);
    await site.logged(6);
    const found = async (search: string) =>
      (await site.unknown({ search })).entries.map(({ page_visited }) => page_visited).sort();
    expect(await found('"/"')).toEqual(['/', '/?page=2']);
    expect(await found('"/shop/"')).toEqual(['/shop/']);
    expect(await found('“/a_b”')).toEqual(['/a_b']);
    expect(await found('/shop/')).toEqual(['/shop/', '/shop/one']);
  });

  it('is found by its path as the owner reads and types it, in any script', async () => {
    const site = await activitySite();
    const paths = ['/שלום-עולם/', '/Über-uns/', '/100%25-cotton/', '/two words/'].map(encodeURI);
    for (const path of paths) await site.visit(path);
    await site.visit('/%c3%9cber-uns/lower');
    await site.logged(5);
    const found = async (search: string) =>
      (await site.unknown({ search })).entries.map(({ page_visited }) => page_visited);
    expect(await found('שלום')).toEqual([paths[0]]);
    expect(await found('Über-uns')).toEqual(['/%c3%9cber-uns/lower', paths[1]]);
    expect(await found('"/Über-uns/"')).toEqual([paths[1]]);
    expect(await found('two words')).toEqual([paths[3]]);
    expect(await found('%D7%A9')).toEqual([paths[0]]);
    expect(await found('\ud800')).toEqual([]);
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
    await eventually(async () => (await site.call<Attackers>('/activity-attackers')).attempts === 6);
    const { entries, addresses, targets } = await site.call<Attackers>('/activity-attackers');
    expect(addresses).toBe(3);
    expect(entries.map(({ address, addresses: of, attempts }) => [address, of, attempts])).toEqual([
      ['198.51.100.0/24', 2, 4],
      ['203.0.113.9', 1, 2],
    ]);
    expect(targets).toEqual([
      { target: '/wp-content/uploads/', attempts: 3 },
      { target: '/xmlrpc.php', attempts: 3 },
    ]);
    expect(entries[1]?.visitor_id).toBeGreaterThan(0);
    await site.call('/block-addresses', { address: '198.51.100.0/24', duration: 3600, note: 'guesses' });
    const [blocked] = (await site.call<Attackers>('/activity-attackers')).entries;
    expect(blocked?.block).toMatchObject({ by: 'owner', by_login: 'owner', note: 'guesses', range: '198.51.100.0/24' });
  });

  it('that scan are listed with what they look for, unless it was a few requests', async () => {
    const site = await activitySite();
    site.connector.pageStatus = 404;
    const scan = async (address: string, paths: readonly string[]) => {
      for (const path of paths) expect(await site.visit(path, { address })).toBe(404);
    };
    const plugins = Array.from({ length: 7 }, (_, n) => `/wp-content/plugins/example-forms/${n}.php`);
    await scan('203.0.113.201', plugins);
    await scan(
      '192.0.2.140',
      [1, 2, 3, 4, 5].map((n) => `/blog/?author=${n}`),
    );
    // A visitor who followed old links, a page that does not exist, and a network whose addresses share the work.
    await scan('198.51.100.7', ['/catalogue.zip', '/catalogue-2.zip', '/page', '/']);
    await scan('2001:db8:77::1', ['/a.tar.gz', '/b.tar.gz', '/c.tar.gz']);
    await scan('2001:db8:77::2', ['/d.tar.gz', '/e.tar.gz', '/f.tar.gz']);
    await eventually(async () => (await site.call<Attackers>('/activity-attackers')).attempts === 20);
    const { entries, ...sums } = await site.call<Attackers>('/activity-attackers');
    expect(
      entries.map(({ address, addresses, attempts, goal, target }) => [address, addresses, attempts, goal, target]),
    ).toEqual([
      ['203.0.113.201', 1, 7, 'holes', '/wp-content/plugins/example-forms/'],
      ['2001:db8:77::/64', 2, 6, 'files', expect.stringMatching(/^\/[a-f]\.tar\.gz$/)],
      ['192.0.2.140', 1, 5, 'users', '/blog/?author='],
    ]);
    expect(sums).toMatchObject({ attempts: 20, scanned: 20, failed: 0, addresses: 4, logins: 0 });
    // Each number is that of the list which it opens.
    for (const { goal, attempts } of sums.goals) {
      const { entries: rows } = await site.unknown({ filters: filter('goal', goal) });
      expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(attempts);
    }
    expect(sums.targets[0]).toEqual({ target: '/wp-content/plugins/example-forms/', attempts: 7 });
    expect((await site.unknown({ search: '/wp-content/plugins/example-forms/' })).entries).toHaveLength(7);
    expect((await site.unknown({ search: '/blog/?author=' })).entries).toHaveLength(5);
  });

  it('are listed with the target of their main goal, although they request another path more often', async () => {
    const site = await activitySite();
    const address = '203.0.113.9';
    for (let n = 0; n < 4; n++) await site.visit(`/wp-content/uploads/${n}.php`, { address });
    for (let n = 0; n < 3; n++) await site.visit('/readme.html', { address });
    for (let n = 0; n < 6; n++) await site.visit('/xmlrpc.php', { address });
    await eventually(async () => (await site.call<Attackers>('/activity-attackers')).attempts === 13);
    expect((await site.call<Attackers>('/activity-attackers')).entries).toMatchObject([
      { goal: 'holes', target: '/wp-content/uploads/', attempts: 13 },
    ]);
  });

  it('of a network say how many of its addresses are blocked or locked out already', async () => {
    const site = await activitySite();
    for (const address of ['203.0.113.7', '203.0.113.8', '203.0.113.9']) {
      for (let n = 0; n < 2; n++) await site.visit('/xmlrpc.php', { address });
    }
    for (let n = 0; n < 5; n++) await tryPassword(site, '203.0.113.9');
    await eventually(async () => (await site.call<Attackers>('/activity-attackers')).attempts === 11);
    const blockedIn = async () => (await site.call<Attackers>('/activity-attackers')).entries[0]?.blocked_addresses;
    await eventually(async () => (await blockedIn()) === 1);
    await site.call('/block-addresses', { address: '203.0.113.7', duration: 3600, note: '' });
    expect(await blockedIn()).toBe(2);
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
    await store.write([{ site: SITE, visits: packVisits(visits), dropped: 0 }]);
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
    // A member who followed an old link is no attacker; who scanned and then logged in is one.
    const scan = (address: string, count: number) =>
      createVisit({ at: NOW, address, target: '/old.zip', status: 404, rule: null, count });
    await store.write([{ site: SITE, visits: packVisits([scan('192.0.2.4', 4), scan('192.0.2.5', 5)]), dropped: 0 }]);
    await store.writeEvents(SITE, [login('192.0.2.4')]);
    expect(await read()).toEqual([4, 2]);
    await store.writeEvents(SITE, [login('192.0.2.5')]);
    expect(await read()).toEqual([5, 2]);
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
      scans: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(attack, { minLength: 1, maxLength: 600 }), async (attacks) => {
        const store = await testStore();
        const visits = attacks.map(({ network, host, count, rule, failedLogins, scans }, i) =>
          createVisit({
            ...{ at: NOW, address: `10.0.${network}.${host}`, target: `/page-${i % 7}${scans ? '.sql' : ''}`, count },
            ...{ rule, status: rule === null ? 404 : 403, failedLogins: rule === null ? failedLogins : 0 },
          }),
        );
        await store.write([{ site: SITE, visits: packVisits(visits), dropped: 0 }]);
        const facts = await store.attacks(SITE, day, day);
        const sent = attacks.reduce(
          (sum, { rule, count, failedLogins, scans }) =>
            sum + count * (rule !== null ? 1 : failedLogins > 0 ? failedLogins : Number(scans)),
          0,
        );
        const head = facts.totals.reduce((sum, { refused, failed, scanned }) => sum + refused + failed + scanned, 0);
        expect(head).toBe(sent);
        const rows = groupAttackers(facts.attackers, [day]);
        const sum = rows.reduce((all, { attempts }) => all + attempts, 0);
        expect(sum).toBeLessThanOrEqual(sent);
        // Each of the four networks has a counter of its own, so only networks with a few scans are missing.
        if (rows.every(({ addresses }) => addresses > 1)) expect(sent - sum).toBeLessThan(4 * 5);
        for (const { days, attempts, goal } of rows) {
          expect(days.reduce((all, hits) => all + hits, 0)).toBe(attempts);
          expect(attackGoals).toContain(goal);
        }
        await store.close();
      }),
      { numRuns: 10 },
    );
  }, 120_000);
});
