import { Agent, get } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { activitySite, blocked, findVisitorId, getUserId, names, status } from '../../../test/support/activity-site.js';
import { runInChild } from '../../../test/support/command-line.js';
import { openTestDatabase } from '../../../test/support/database.js';
import { passingTime } from '../../../test/support/passing-time.js';
import { eventually } from '../../../test/support/scratch.js';
import { sqlBlocklistStore } from './blocklist-store.js';

describe('a blocked address', () => {
  it('is refused from its next request on, also on an open connection, until it is unblocked', async () => {
    const site = await activitySite();
    const id = await findVisitorId(site, '192.0.2.7');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const send = () =>
      new Promise<number>((resolve, reject) => {
        const headers = { 'x-forwarded-for': '192.0.2.7' };
        get(`${site.guard.url}/page`, { agent, headers }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode ?? 0));
        }).on('error', reject);
      });
    expect(await send()).toBe(200);
    expect((await status(site, id)).block).toBe(0);

    expect(await site.call(`/block-ip/${id}`, { block: 1 })).toEqual({
      block: 1,
      current: { by: 'owner', by_login: 'owner', until: null, note: '', range: '192.0.2.7' },
    });
    expect(await send()).toBe(403);
    expect(await site.visit('/page', { address: '192.0.2.7' })).toBe(403);
    expect(await site.visit('/page', { address: '192.0.2.8' })).toBe(200);
    expect(await status(site, id)).toMatchObject({ block: 1, type: 'ip', name: '192.0.2.7', do_not_block: 0 });
    expect((await site.unknown()).entries.find(({ ip }) => ip === '192.0.2.7')?.block).toBe(1);

    // Repeated calls change nothing.
    await site.call(`/block-ip/${id}`, { block: 1 });
    expect(names(await blocked(site))).toEqual(['192.0.2.7']);
    await site.call(`/block-ip/${id}`, { block: 0 });
    await site.call(`/block-ip/${id}`, { block: 0 });
    expect(await send()).toBe(200);
    expect((await status(site, id)).block).toBe(0);
    expect(names(await blocked(site))).toEqual([]);
  });

  it('is still blocked after a restart', async () => {
    const site = await activitySite();
    await site.call(`/block-ip/${await findVisitorId(site, '192.0.2.7')}`, { block: 1 });
    await site.restart();
    expect(await site.visit('/', { address: '192.0.2.7' })).toBe(403);
  });

  it('is refused by a running guard when another process blocked it', async () => {
    const site = await activitySite();
    const db = await openTestDatabase(site.dataDir);
    onTestFinished(() => db.destroy());
    const actor = { id: null, login: 'command line', address: null };
    const block = { kind: 'ip', value: '192.0.2.9', name: '192.0.2.9', visitorId: 0 } as const;
    await sqlBlocklistStore(db).block({ site: 'site', actor, at: Date.now() }, block);
    await eventually(async () => (await site.visit('/', { address: '192.0.2.9' })) === 403);
    // It gets its visitor when it is first listed, and can then be unblocked by id.
    const [row] = (await blocked(site)).entries;
    expect(row?.visitor_id).toBeGreaterThan(0);
    await site.call(`/block-ip/${row?.visitor_id}`, { block: 0 });
    expect(await site.visit('/', { address: '192.0.2.9' })).toBe(200);
  });

  it('is recorded with its author', async () => {
    const site = await activitySite();
    const id = await findVisitorId(site, '192.0.2.7');
    await site.call(`/block-ip/${id}`, { block: 1 });
    await site.call(`/block-ip/${id}`, { block: 0 });
    await eventually(async () => (await site.registered()).entries.length === 2);
    expect((await site.registered()).entries.map(({ user, activity }) => [user, activity])).toEqual([
      ['owner', 'Unblocked 192.0.2.7'],
      ['owner', 'Blocked 192.0.2.7'],
    ]);
  });
});

describe('a range', () => {
  it.each([
    ['198.51.100.*', '198.51.100.0/24', '198.51.100.77'],
    ['198.51.100.4-198.51.100.9', '198.51.100.4-198.51.100.9', '198.51.100.9'],
    ['2001:db8:5::/48', '2001:db8:5::/48', '2001:db8:5::1'],
    ['\u200e198.51.100.4 \u2013 198.51.100.9,', '198.51.100.4-198.51.100.9', '198.51.100.9'],
    ['１９８．５１．１００．＊', '198.51.100.0/24', '198.51.100.77'],
  ])('%s is blocked by its text and unblocked by its id', async (text, name, inside) => {
    const site = await activitySite();
    const { visitor_id: id } = await site.call<{ visitor_id: number }>('/block-addresses', { address: text });
    expect(await site.visit('/', { address: inside })).toBe(403);
    expect(await site.visit('/', { address: '203.0.113.1' })).toBe(200);
    expect((await blocked(site)).entries).toMatchObject([{ user: name, visitor_id: id, type: 'ip', until: null }]);
    expect(await status(site, id)).toMatchObject({ block: 1, name, visits_today: null });
    await site.call(`/block-ip/${id}`, { block: 0 });
    expect(await site.visit('/', { address: inside })).toBe(200);
  });

  it('that contains an address keeps it blocked, and the response says so', async () => {
    const site = await activitySite();
    const id = await findVisitorId(site, '198.51.100.7');
    await site.call('/block-addresses', { address: '198.51.100.0/24' });
    expect((await status(site, id)).block).toBe(1);
    const { http, body } = await site.send(`/block-ip/${id}`, { block: 0 });
    expect([http, body.message]).toEqual([
      400,
      '198.51.100.7 is in a range that is blocked. Unblock the range to let it in.',
    ]);
  });

  it('that is invalid is refused', async () => {
    const site = await activitySite();
    const { http, body } = await site.send('/block-addresses', { address: '198.51.100.1, 198.51.100.0/33' });
    expect([http, body.fields]).toEqual([400, { address: 'Invalid format. Check “/33”.' }]);
    expect(names(await blocked(site))).toEqual([]);
  });
});

describe('several addresses and ranges in one text', () => {
  it('are blocked with the same terms, each separately', async () => {
    const site = await activitySite();
    const address = '198.51.100.7 # first\n203.0.113.0 255.255.255.0; [2001:db8:5:6::7]:443, 192.0.2.20-29';
    const { body } = await site.send('/block-addresses', { address, duration: 3600, note: 'noise' });
    expect(body.message).toBe('4 addresses and ranges are blocked.');
    expect(names(await blocked(site)).sort()).toEqual(
      ['198.51.100.7', '203.0.113.0/24', '192.0.2.20-192.0.2.29', '2001:db8:5:6::/64'].sort(),
    );
    for (const each of ['198.51.100.7', '203.0.113.9', '2001:db8:5:6::9', '192.0.2.29'])
      expect(await site.visit('/', { address: each }), each).toBe(403);
    expect(await site.visit('/', { address: '192.0.2.30' })).toBe(200);
  });

  it('are not blocked at all when one of them must not be, or when there are too many', async () => {
    const site = await activitySite();
    const { http, body } = await site.send('/block-addresses', { address: '198.51.100.7, 127.0.0.0/8' });
    expect([http, body.code]).toEqual([400, 'must_not_be_blocked']);
    const many = Array.from({ length: 101 }, (_, at) => `198.51.100.${at}`).join(' ');
    const refused = await site.send('/block-addresses', { address: many });
    expect([refused.http, refused.body.fields]).toEqual([400, { address: 'Enter at most 100 addresses.' }]);
    expect(names(await blocked(site))).toEqual([]);
  });

  it('need a confirmation when one of them means everybody', async () => {
    const site = await activitySite();
    const block = (more: object) => site.send('/block-addresses', { address: '198.51.100.7 2000::/3', ...more });
    const response = await block({});
    expect([response.http, response.body.code, response.body.message]).toEqual([
      409,
      'means_everybody',
      'This would block everybody. Nothing was blocked.',
    ]);
    for (const address of ['2001:db8::7', '198.51.100.7']) expect(await site.visit('/', { address })).toBe(200);
    expect((await block({ confirm: true })).http).toBe(200);
    for (const address of ['2001:db8::7', '198.51.100.7']) expect(await site.visit('/', { address })).toBe(403);
  });

  it('are refused when one of them is every IPv4 address, the server’s own included', async () => {
    const site = await activitySite();
    const { http, body } = await site.send('/block-addresses', { address: '0.0.0.0/0', confirm: true });
    expect([http, body.code]).toEqual([400, 'must_not_be_blocked']);
  });
});

describe('an IPv6 address', () => {
  const NET = '2001:db8:5:6::/64';

  it('is blocked with its /64, as failures are counted, and unblocked with it', async () => {
    const site = await activitySite();
    const id = await findVisitorId(site, '2001:db8:5:6::7');
    const other = await findVisitorId(site, '2001:db8:5:6:ffff::8');
    expect(await status(site, id)).toMatchObject({ block: 0, name: '2001:db8:5:6::7', network: NET, do_not_block: 0 });
    const { body } = await site.send(`/block-ip/${id}`, { block: 1 });
    expect(body).toMatchObject({
      data: { block: 1, current: { range: NET, until: null } },
      message: `${NET} is blocked.`,
    });
    expect(await site.visit('/', { address: '2001:db8:5:6::7' })).toBe(403);
    expect(await site.visit('/', { address: '2001:db8:5:6:1:2:3:4' })).toBe(403);
    expect(await site.visit('/', { address: '2001:db8:5:7::7' })).toBe(200);
    expect([(await status(site, id)).block, (await status(site, other)).block]).toEqual([1, 1]);
    const { entries } = await blocked(site);
    expect(entries).toMatchObject([{ user: NET, type: 'ip', until: null }]);
    // By the other address, which has no block of its own.
    const response = await site.send(`/block-ip/${other}`, { block: 0 });
    expect(response.body.message).toBe(`${NET} is not blocked any more.`);
    expect(await site.visit('/', { address: '2001:db8:5:6::7' })).toBe(200);
    expect(names(await blocked(site))).toEqual([]);
  });

  it('is unblocked by the id of the network in the list of blocked visitors, also after a restart', async () => {
    const site = await activitySite();
    await site.call(`/block-ip/${await findVisitorId(site, '2001:db8:5:6::7')}`, { block: 1 });
    await site.restart();
    expect(await site.visit('/', { address: '2001:db8:5:6::9' })).toBe(403);
    const [row] = (await blocked(site)).entries;
    expect(await status(site, row?.visitor_id as number)).toMatchObject({ block: 1, name: NET, network: '' });
    await site.call(`/block-ip/${row?.visitor_id}`, { block: 0 });
    expect(await site.visit('/', { address: '2001:db8:5:6::9' })).toBe(200);
  });

  it('is blocked alone on request', async () => {
    const site = await activitySite();
    const id = await findVisitorId(site, '2001:db8:5:6::7');
    const { body } = await site.send(`/block-ip/${id}`, { block: 1, single: 1 });
    expect(body.message).toBe('2001:db8:5:6::7 is blocked.');
    expect(await site.visit('/', { address: '2001:db8:5:6::7' })).toBe(403);
    expect(await site.visit('/', { address: '2001:db8:5:6::8' })).toBe(200);
    expect((await blocked(site)).entries).toMatchObject([{ user: '2001:db8:5:6::7', visitor_id: id }]);
    expect((await status(site, id)).block).toBe(1);
    // Its network is blocked, too, and one call removes both blocks.
    await site.call(`/block-ip/${id}`, { block: 1 });
    expect(names(await blocked(site))).toHaveLength(2);
    await site.call(`/block-ip/${id}`, { block: 0 });
    expect(names(await blocked(site))).toEqual([]);
    expect(await site.visit('/', { address: '2001:db8:5:6::7' })).toBe(200);
  });

  it('that was blocked alone by an earlier version remains blocked and is unblocked as before', async () => {
    const site = await activitySite();
    const id = await findVisitorId(site, '2001:db8:5:6::7');
    const db = await openTestDatabase(site.dataDir);
    onTestFinished(() => db.destroy());
    const actor = { id: null, login: 'owner', address: null };
    const block = { kind: 'ip', value: '2001:db8:5:6::7', name: '2001:db8:5:6::7', visitorId: id } as const;
    await sqlBlocklistStore(db).block({ site: 'site', actor, at: Date.now() }, block);
    await eventually(async () => (await site.visit('/', { address: '2001:db8:5:6::7' })) === 403);
    expect(await site.visit('/', { address: '2001:db8:5:6::8' })).toBe(200);
    expect(await status(site, id)).toMatchObject({ block: 1 });
    const { body } = await site.send(`/block-ip/${id}`, { block: 0 });
    expect(body.message).toBe('2001:db8:5:6::7 is not blocked any more.');
    expect(await site.visit('/', { address: '2001:db8:5:6::7' })).toBe(200);
  });

  it('can’t be unblocked alone while a wider range that contains it is blocked', async () => {
    const site = await activitySite();
    const id = await findVisitorId(site, '2001:db8:5:6::7');
    await site.call('/block-addresses', { address: '2001:db8:5::/48' });
    const { http, body } = await site.send(`/block-ip/${id}`, { block: 0 });
    expect([http, body.message]).toEqual([
      400,
      '2001:db8:5:6::7 is in a range that is blocked. Unblock the range to let it in.',
    ]);
  });

  it('of the owner’s own network is not blocked with the network, and the lists say so', async () => {
    const site = await activitySite();
    const id = await findVisitorId(site, '2001:db8:5:6::7');
    const headers = { 'x-forwarded-for': '2001:db8:5:6::99' };
    const { http, body } = await site.send(`/block-ip/${id}`, { block: 1 }, { headers });
    expect([http, body.code, body.message]).toEqual([
      400,
      'must_not_be_blocked',
      'Your own address is in this range. Blocking it would shut you out.',
    ]);
    const seen = await site.send(`/get-visitor-status/${id}`, {}, { headers });
    expect(seen.body.data).toMatchObject({ block: 0, do_not_block: 1, reason: body.message });
    const list = await site.send('/activity-unknown', {}, { headers });
    const { entries } = list.body.data as { entries: { ip: string; do_not_block: number }[] };
    expect(entries.find(({ ip }) => ip === '2001:db8:5:6::7')?.do_not_block).toBe(1);
    // Alone it belongs to somebody else.
    expect((await site.send(`/block-ip/${id}`, { block: 1, single: 1 }, { headers })).http).toBe(200);
    expect(await site.visit('/', { address: '2001:db8:5:6::99' })).toBe(200);
  });

  it('is not blocked with its network when that contains a monitor of the provider', async () => {
    const site = await activitySite({ activity: { monitors: ['2001:db8:5:6::50'] } });
    const id = await findVisitorId(site, '2001:db8:5:6::7');
    expect(await status(site, id)).toMatchObject({ do_not_block: 1 });
    expect((await site.send(`/block-ip/${id}`, { block: 1 })).http).toBe(400);
    expect(names(await blocked(site))).toEqual([]);
  });

  it('that is typed is blocked with its /64, and alone when it is typed with /128', async () => {
    const site = await activitySite();
    const { body } = await site.send('/block-addresses', { address: '2001:db8:5:6::7' });
    expect(body.message).toBe(`${NET} is blocked.`);
    expect(await site.visit('/', { address: '2001:db8:5:6::8' })).toBe(403);
    await site.call('/block-addresses', { address: '2001:db8:9:9::7/128' });
    expect(await site.visit('/', { address: '2001:db8:9:9::7' })).toBe(403);
    expect(await site.visit('/', { address: '2001:db8:9:9::8' })).toBe(200);
    expect(names(await blocked(site)).sort()).toEqual([NET, '2001:db8:9:9::7']);
  });

  it('is unblocked by the command line, with its /64 and alone', async () => {
    const site = await activitySite();
    const id = await findVisitorId(site, '2001:db8:5:6::7');
    await site.call(`/block-ip/${id}`, { block: 1, single: 1 });
    await site.call(`/block-ip/${id}`, { block: 1 });
    const { stdout } = await runInChild('unblock', '2001:db8:5:6::7', '--data-dir', site.dataDir);
    expect(stdout).toBe(`Unblocked: 2001:db8:5:6::7, ${NET}.\n`);
    await eventually(async () => (await site.visit('/', { address: '2001:db8:5:6::7' })) === 200);
  });
});

describe('an address that carries an IPv4 address', () => {
  const FORMS = ['192.0.2.7', '64:ff9b::192.0.2.7', '2002:c000:207::1', '2001:0:203:4:0:1:3fff:fdf8'];

  it('is the visitor of that address in the lists, and is blocked and unblocked as that address', async () => {
    const site = await activitySite();
    const id = await findVisitorId(site, '192.0.2.7');
    for (const address of FORMS) expect(await site.visit('/seen', { address })).toBe(200);
    await eventually(async () => (await site.unknown()).total === 1);
    await site.call(`/block-ip/${id}`, { block: 1 });
    for (const address of FORMS) expect(await site.visit('/', { address }), address).toBe(403);
    expect(await site.visit('/', { address: '64:ff9b::192.0.2.8' })).toBe(200);
    await site.call(`/block-ip/${id}`, { block: 0 });
    for (const address of FORMS) expect(await site.visit('/', { address }), address).toBe(200);
  });

  it.each(['64:ff9b::192.0.2.7', '2002:c000:207::/48', '2002:c000:207::1'])(
    'is blocked once when the owner types %s, for a time and permanently',
    async (typed) => {
      const site = await activitySite();
      const { body } = await site.send('/block-addresses', { address: typed, duration: 3600 });
      expect(body.message).toBe('192.0.2.7 is blocked.');
      for (const address of FORMS) expect(await site.visit('/', { address }), address).toBe(403);
      await site.call('/block-addresses', { address: '192.0.2.7' });
      expect(names(await blocked(site))).toEqual(['192.0.2.7']);
      await site.restart();
      for (const address of FORMS) expect(await site.visit('/', { address }), address).toBe(403);
      expect(await site.visit('/', { address: '2002:c000:208::1' })).toBe(200);
    },
  );

  it('is refused by a block of its prefix, also after a restart', async () => {
    const site = await activitySite();
    await site.call('/block-addresses', { address: '2002::/16' });
    const statuses = async () => {
      const all: number[] = [];
      for (const address of FORMS) all.push(await site.visit('/', { address }));
      return all;
    };
    expect(await statuses()).toEqual([200, 200, 403, 200]);
    await site.restart();
    expect(await statuses()).toEqual([200, 200, 403, 200]);
  });

  it('is refused by blocks of an earlier version, and unblocked by the command line', async () => {
    const site = await activitySite();
    const db = await openTestDatabase(site.dataDir);
    onTestFinished(() => db.destroy());
    const change = { site: 'site', actor: { id: 1, login: 'owner', address: null }, at: Date.now() };
    for (const value of ['2002:c000:207::1', '2002:c000:207::/64'] as const) {
      const kind = value.includes('/') ? ('range' as const) : ('ip' as const);
      await sqlBlocklistStore(db).block(change, { kind, value, name: value, visitorId: null });
    }
    await eventually(async () => (await site.visit('/', { address: '192.0.2.7' })) === 403);
    for (const address of FORMS) expect(await site.visit('/', { address }), address).toBe(403);
    const { stdout } = await runInChild('unblock', '2002:c000:207::1', '--data-dir', site.dataDir);
    expect(stdout).toBe('Unblocked: 2002:c000:207::1, 2002:c000:207::/64.\n');
    await eventually(async () => (await site.visit('/', { address: '192.0.2.7' })) === 200);
  });

  it('can’t be blocked by an owner whose own address it is in another form', async () => {
    const site = await activitySite();
    for (const address of ['192.0.2.7', '64:ff9b::192.0.2.7', '2002:c000:207::/48']) {
      const headers = { 'x-forwarded-for': '2002:c000:207::1' };
      const { http, body } = await site.send('/block-addresses', { address }, { headers });
      expect([http, body.message]).toEqual([400, 'This is your own address. Blocking it would shut you out.']);
    }
    const ranges = ['192.0.2.0/24', '2002::/16', '2002:c000:200::/40'];
    for (const address of ranges) {
      const headers = { 'x-forwarded-for': '2002:c000:207::1' };
      const { http, body } = await site.send('/block-addresses', { address }, { headers });
      expect([http, body.message]).toEqual([400, 'Your own address is in this range. Blocking it would shut you out.']);
    }
  });
});

describe('with anonymised addresses', () => {
  it('a visitor is a network, and blocking it blocks the network', async () => {
    const site = await activitySite();
    await site.call('/anonymize-addresses', { anonymize_addresses: 1 });
    await site.visit('/here', { address: '198.51.100.77' });
    await site.visit('/there', { address: '2001:db8:5:6::7' });
    await site.logged(2);
    const { entries } = await site.unknown();
    expect(entries.map(({ ip }) => ip).sort()).toEqual(['198.51.100.0', '2001:db8:5::']);
    const [v6, v4] = entries.sort((a, b) => (a.ip < b.ip ? 1 : -1));
    expect((await status(site, v4?.visitor_id as number)).name).toBe('198.51.100.0/24');
    await site.call(`/block-ip/${v4?.visitor_id}`, { block: 1 });
    await site.call(`/block-ip/${v6?.visitor_id}`, { block: 1 });
    expect(await site.visit('/', { address: '198.51.100.9' })).toBe(403);
    expect(await site.visit('/', { address: '2001:db8:5:ffff::1' })).toBe(403);
    expect(await site.visit('/', { address: '198.51.101.9' })).toBe(200);
    expect(names(await blocked(site)).sort()).toEqual(['198.51.100.0/24', '2001:db8:5::/48']);
    await site.call(`/block-ip/${v4?.visitor_id}`, { block: 0 });
    expect(await site.visit('/', { address: '198.51.100.9' })).toBe(200);
  });
});

const OWNER = { cookie: 'session=owner', 'x-wp-nonce': 'owner-nonce' };
const OTHER = { cookie: 'session=other', 'x-wp-nonce': 'other-nonce' };

describe('a blocked user', () => {
  const EDITOR = { id: 2, login: 'editor' };

  it('is refused by WordPress, loses every session, and can do everything again after the block', async () => {
    const site = await activitySite();
    const { connector } = site;
    const id = await getUserId(site, EDITOR);
    expect(await status(site, id)).toMatchObject({ block: 0, type: 'user', name: 'editor', roles: ['editor'] });
    await site.call(`/block-user/${id}`, { block: 1 });
    expect(connector.policy?.policy.blocked_users).toBe('2');
    expect(connector.endedSessions.map(({ body }) => body)).toEqual([{ users: [2] }]);
    expect(await status(site, id)).toMatchObject({ block: 1, type: 'user' });
    expect((await blocked(site)).entries).toMatchObject([{ user: 'editor', type: 'user', visitor_id: id }]);
    const other = await site.call('/hide-wp-version', { wp_remove_version: 0 });
    expect([other, connector.policy?.policy.blocked_users]).toEqual([{ wp_remove_version: 0 }, '2']);
    await site.call(`/block-user/${id}`, { block: 0 });
    expect(connector.policy?.policy.blocked_users).toBe('');
    expect((await status(site, id)).block).toBe(0);
  });

  it('may be an administrator as long as there is another one, and can be unblocked', async () => {
    const site = await activitySite();
    site.connector.members.set(3, { login: 'other', administrator: true });
    const id = await getUserId(site, { id: 3, login: 'other' });
    await site.call(`/block-user/${id}`, { block: 1 });
    expect(await status(site, id)).toMatchObject({ block: 1, do_not_block: 0, reason: '' });
    await site.call(`/block-user/${id}`, { block: 1 });
    await site.call(`/block-user/${id}`, { block: 0 });
    expect((await status(site, id)).block).toBe(0);
  });

  it('is still blocked after a restart', async () => {
    const site = await activitySite();
    await site.call(`/block-user/${await getUserId(site, EDITOR)}`, { block: 1 });
    await site.restart(() => {
      site.connector.policy = null;
    });
    await eventually(() => site.connector.policy?.policy.blocked_users === '2');
  });

  it('is never the caller, the id of an address, or a deleted user', async () => {
    const site = await activitySite();
    const me = await getUserId(site, { id: 1, login: 'owner' });
    const own = await site.send(`/block-user/${me}`, { block: 1 });
    expect([own.http, own.body.message]).toEqual([400, 'This is you. Blocking yourself would shut you out.']);
    const address = await findVisitorId(site, '192.0.2.7');
    expect((await site.send(`/block-user/${address}`, { block: 1 })).http).toBe(404);
    expect((await site.send(`/block-ip/${me}`, { block: 1 })).http).toBe(404);
    const deleted = await getUserId(site, { id: 77, login: 'gone' });
    expect((await site.send(`/block-user/${deleted}`, { block: 1 })).http).toBe(404);
    expect(site.connector.policy?.policy.blocked_users).toBe('');
  });

  it.each(['end-sessions', 'users-info', 'policy'])(
    'is not blocked partially when WordPress fails at %s',
    async (command) => {
      const { pass } = passingTime();
      const site = await activitySite();
      const id = await getUserId(site, EDITOR);
      site.connector.failing.add(command);
      expect((await site.send(`/block-user/${id}`, { block: 1 })).http).toBe(503);
      site.connector.failing.delete(command);
      expect((await status(site, id)).block).toBe(0);
      expect(names(await blocked(site))).toEqual([]);
      // WordPress may have stored the policy although its response was lost. Its next signal corrects that, at least 5
      // seconds after the last push.
      pass(5000);
      await eventually(async () => {
        await site.visit('/');
        return site.connector.policy?.policy.blocked_users === '';
      });
    },
  );

  it('can’t be the last administrator, even when two block each other at the same time', async () => {
    const site = await activitySite();
    const { connector } = site;
    connector.members.set(3, { login: 'other', administrator: true });
    connector.users.set('session=other', { nonce: 'other-nonce', can_manage: true, id: 3, login: 'other' });
    const me = await getUserId(site, { id: 1, login: 'owner' });
    const other = await getUserId(site, { id: 3, login: 'other' });
    const responses = await Promise.all([
      site.send(`/block-user/${other}`, { block: 1 }, { headers: OWNER }),
      site.send(`/block-user/${me}`, { block: 1 }, { headers: OTHER }),
    ]);
    expect(responses.map(({ http }) => http === 200).sort()).toEqual([false, true]);
    expect(connector.policy?.policy.blocked_users).toMatch(/^[13]$/);
    expect(names(await blocked(site))).toHaveLength(1);
  });
});
