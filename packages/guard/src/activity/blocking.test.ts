import { Agent, get } from 'node:http';
import type { BlockedRow } from '@security-optimizer/contract/activity';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../lib/logger.js';
import { sqlBlockedVisitorsStore } from '../storage/blocked-visitors-store.js';
import { openDatabase } from '../storage/database.js';
import { activitySite } from '../testing/activity-site.js';
import { eventually } from '../testing/scratch.js';
import type { ListAnswer } from './list-activity.js';
import type { VisitorStatus } from './visitor-status.js';

type Site = Awaited<ReturnType<typeof activitySite>>;

const OWNER = { cookie: 'session=owner', 'x-wp-nonce': 'owner-nonce' };
const OTHER = { cookie: 'session=other', 'x-wp-nonce': 'other-nonce' };

/** The visitor id of an address, after a visit of it. */
async function idOf(site: Site, address: string): Promise<number> {
  await site.visit('/seen', { address });
  let id: number | undefined;
  await eventually(async () => {
    const { entries } = await site.unknown();
    id = entries.find(({ ip }) => ip === address)?.visitor_id;
    return id !== undefined;
  });
  return id as number;
}

/** The visitor id of a user, after something that the user did. */
async function idOfUser(site: Site, user: { id: number; login: string }): Promise<number> {
  site.report({
    ...{ uid: user.id.toString(16).padStart(32, '0'), at: Math.floor(Date.now() / 1000), kind: 'login', user },
    ...{ address: '192.0.2.50', origin: 'web', object: { type: '', id: '', name: '' }, before: null, after: null },
  });
  await site.visit('/signal');
  let id: number | undefined;
  await eventually(async () => {
    const { entries } = await site.registered();
    id = entries.find((row) => row.user === user.login)?.visitor_id;
    return id !== undefined;
  });
  return id as number;
}

const status = (site: Site, id: number) => site.call<VisitorStatus>(`/get-visitor-status/${id}`);
const blocked = (site: Site, body: object = {}) => site.call<ListAnswer<BlockedRow>>('/blocked-users', body);
const names = (list: ListAnswer<BlockedRow>) => list.entries.map(({ user }) => user);

describe('a blocked address', () => {
  it('is refused from its next request on, also on an open connection, and let in again', async () => {
    const site = await activitySite();
    const id = await idOf(site, '192.0.2.7');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const ask = () =>
      new Promise<number>((resolve, reject) => {
        const headers = { 'x-forwarded-for': '192.0.2.7' };
        get(`${site.guard.url}/page`, { agent, headers }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode ?? 0));
        }).on('error', reject);
      });
    expect(await ask()).toBe(200);
    expect((await status(site, id)).block).toBe(0);

    expect(await site.call(`/block-ip/${id}`, { block: 1 })).toEqual({ block: 1 });
    expect(await ask()).toBe(403);
    expect(await site.visit('/page', { address: '192.0.2.7' })).toBe(403);
    expect(await site.visit('/page', { address: '192.0.2.8' })).toBe(200);
    expect(await status(site, id)).toMatchObject({ block: 1, type: 'ip', name: '192.0.2.7', do_not_block: 0 });
    expect((await site.unknown()).entries.find(({ ip }) => ip === '192.0.2.7')?.block).toBe(1);

    // Once more, and again: nothing changes.
    await site.call(`/block-ip/${id}`, { block: 1 });
    expect(names(await blocked(site))).toEqual(['192.0.2.7']);
    await site.call(`/block-ip/${id}`, { block: 0 });
    await site.call(`/block-ip/${id}`, { block: 0 });
    expect(await ask()).toBe(200);
    expect((await status(site, id)).block).toBe(0);
    expect(names(await blocked(site))).toEqual([]);
  });

  it('stays blocked over a restart', async () => {
    const site = await activitySite();
    await site.call(`/block-ip/${await idOf(site, '192.0.2.7')}`, { block: 1 });
    await site.restart();
    expect(await site.visit('/', { address: '192.0.2.7' })).toBe(403);
  });

  it('is refused by a running guard when another process blocked it', async () => {
    const site = await activitySite();
    const db = await openDatabase({ url: 'sqlite:guard.sqlite', dataDir: site.dataDir, logger: silentLogger() });
    onTestFinished(() => db.destroy());
    const actor = { id: null, login: 'command line', address: null };
    const block = { kind: 'ip', value: '192.0.2.9', name: '192.0.2.9', visitorId: 0 } as const;
    await sqlBlockedVisitorsStore(db).block({ site: 'site', actor, at: Date.now() }, block);
    await eventually(async () => (await site.visit('/', { address: '192.0.2.9' })) === 403);
    // It gets its visitor when it is first shown, by which it can be unblocked.
    const [row] = (await blocked(site)).entries;
    expect(row?.visitor_id).toBeGreaterThan(0);
    await site.call(`/block-ip/${row?.visitor_id}`, { block: 0 });
    expect(await site.visit('/', { address: '192.0.2.9' })).toBe(200);
  });

  it('is written down, with who did it', async () => {
    const site = await activitySite();
    const id = await idOf(site, '192.0.2.7');
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

  it('keeps an address in it blocked, and says so', async () => {
    const site = await activitySite();
    const id = await idOf(site, '198.51.100.7');
    await site.call('/block-addresses', { address: '198.51.100.0/24' });
    expect((await status(site, id)).block).toBe(1);
    const { http, body } = await site.send(`/block-ip/${id}`, { block: 0 });
    expect([http, body.message]).toEqual([
      400,
      '198.51.100.7 is in a range that is blocked. Unblock the range to let it in.',
    ]);
  });

  it('that is none is refused', async () => {
    const site = await activitySite();
    const { http, body } = await site.send('/block-addresses', { address: '198.51.100.0/33' });
    expect([http, Object.keys(body.fields ?? {})]).toEqual([400, ['address']]);
    expect(names(await blocked(site))).toEqual([]);
  });
});

describe('what must not be blocked', () => {
  const reasons: readonly (readonly [string, string])[] = [
    ['203.0.113.5', 'This is your own address. Blocking it would shut you out.'],
    ['203.0.113.0/24', 'Your own address is in this range. Blocking it would shut you out.'],
    ['127.0.0.1', 'This is an address of your server. Your site needs it to work.'],
    ['0.0.0.0/0', 'Your own address is in this range. Blocking it would shut you out.'],
    ['::1', 'This is an address of your server. Your site needs it to work.'],
    ['198.51.100.200', 'Your hosting provider watches over your site from this address.'],
    ['198.51.100.192/26', 'Your hosting provider watches over your site from an address in this range.'],
    ['192.0.2.99', 'All visitors come through this address. Blocking it would close your site.'],
  ];
  it('is refused with the reason, and nothing is stored', async () => {
    const site = await activitySite({
      trustedProxies: ['127.0.0.1', '192.0.2.99'],
      activity: { monitors: ['198.51.100.200'] },
    });
    const headers = { ...OWNER, 'x-forwarded-for': '203.0.113.5' };
    for (const [address, reason] of reasons) {
      const { http, body } = await site.send('/block-addresses', { address }, { headers });
      expect([address, http, body.code, body.message]).toEqual([address, 400, 'must_not_be_blocked', reason]);
    }
    expect(names(await blocked(site))).toEqual([]);
    const own = await idOf(site, '203.0.113.5');
    const { http } = await site.send(`/block-ip/${own}`, { block: 1 }, { headers });
    expect(http).toBe(400);
    const { body } = await site.send(`/get-visitor-status/${own}`, {}, { headers });
    expect(body.data).toMatchObject({ block: 0, do_not_block: 1, reason: reasons[0]?.[1] });
    // Another administrator, elsewhere, may.
    expect((await site.send(`/block-ip/${own}`, { block: 1 })).http).toBe(200);
  });

  it.each([0, 4711, 999_999_999_999, 1_000_000_000_001])('is nobody: id %i is not known', async (id) => {
    const site = await activitySite();
    for (const suffix of ['/get-visitor-status/', '/block-ip/', '/block-user/']) {
      const { http, body } = await site.send(suffix + id, { block: 1 });
      expect([suffix, http, body.code]).toEqual([suffix, 404, 'not_found']);
    }
  });
});

describe('a blocked user', () => {
  const EDITOR = { id: 2, login: 'editor' };

  it('is kept out by WordPress, loses every session, and gets everything back', async () => {
    const site = await activitySite();
    const { connector } = site;
    const id = await idOfUser(site, EDITOR);
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

  it('may be an administrator as long as another one is left, and can be unblocked again', async () => {
    const site = await activitySite();
    site.connector.members.set(3, { login: 'other', administrator: true });
    const id = await idOfUser(site, { id: 3, login: 'other' });
    await site.call(`/block-user/${id}`, { block: 1 });
    expect(await status(site, id)).toMatchObject({ block: 1, do_not_block: 0, reason: '' });
    await site.call(`/block-user/${id}`, { block: 1 });
    await site.call(`/block-user/${id}`, { block: 0 });
    expect((await status(site, id)).block).toBe(0);
  });

  it('stays blocked over a restart', async () => {
    const site = await activitySite();
    await site.call(`/block-user/${await idOfUser(site, EDITOR)}`, { block: 1 });
    await site.restart(() => {
      site.connector.policy = null;
    });
    await eventually(() => site.connector.policy?.policy.blocked_users === '2');
  });

  it('is never the one who asks, nor an address’s id, nor a user who is gone', async () => {
    const site = await activitySite();
    const me = await idOfUser(site, { id: 1, login: 'owner' });
    const own = await site.send(`/block-user/${me}`, { block: 1 });
    expect([own.http, own.body.message]).toEqual([400, 'This is you. Blocking yourself would shut you out.']);
    const address = await idOf(site, '192.0.2.7');
    expect((await site.send(`/block-user/${address}`, { block: 1 })).http).toBe(404);
    expect((await site.send(`/block-ip/${me}`, { block: 1 })).http).toBe(404);
    const gone = await idOfUser(site, { id: 77, login: 'gone' });
    expect((await site.send(`/block-user/${gone}`, { block: 1 })).http).toBe(404);
    expect(site.connector.policy?.policy.blocked_users).toBe('');
  });

  it.each(['end-sessions', 'users-info', 'policy'])(
    'is not blocked by half when WordPress fails at %s',
    async (command) => {
      const site = await activitySite();
      const id = await idOfUser(site, EDITOR);
      site.connector.failing.add(command);
      expect((await site.send(`/block-user/${id}`, { block: 1 })).http).toBe(503);
      site.connector.failing.delete(command);
      expect((await status(site, id)).block).toBe(0);
      expect(names(await blocked(site))).toEqual([]);
      // What WordPress took although its answer was lost is put right by its next signal.
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
    const me = await idOfUser(site, { id: 1, login: 'owner' });
    const other = await idOfUser(site, { id: 3, login: 'other' });
    const answers = await Promise.all([
      site.send(`/block-user/${other}`, { block: 1 }, { headers: OWNER }),
      site.send(`/block-user/${me}`, { block: 1 }, { headers: OTHER }),
    ]);
    expect(answers.map(({ http }) => http === 200).sort()).toEqual([false, true]);
    expect(connector.policy?.policy.blocked_users).toMatch(/^[13]$/);
    expect(names(await blocked(site))).toHaveLength(1);
  });
});

describe('where addresses are anonymised', () => {
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

describe('the list of the blocked', () => {
  it('holds locks by failed log-ins too, newest first, which end by their address', async () => {
    const site = await activitySite();
    const db = await openDatabase({ url: 'sqlite:guard.sqlite', dataDir: site.dataDir, logger: silentLogger() });
    onTestFinished(() => db.destroy());
    const now = Date.now();
    const lock = (key: string, ago: number) => ({
      ...{ site: 'site', key, failures: 5, locked_until: now + 3600_000, last_failure: now - ago },
    });
    const rows = [lock('192.0.2.1', 60_000), lock('2001:db8:0:1::/64', 30_000), lock('device:aa', 10_000)];
    await site.restart(() => db.insertInto('login_attempts').values(rows).execute());
    await site.call('/block-addresses', { address: '198.51.100.7' });
    const list = await blocked(site);
    expect(
      list.entries.map(({ user, visitor_id, type, until }) => [user, visitor_id > 0, type, until !== null]),
    ).toEqual([
      ['198.51.100.7', true, 'ip', false],
      ['2001:db8:0:1::/64', false, 'ip', true],
      ['192.0.2.1', false, 'ip', true],
    ]);
    const onDashboard = async () => (await site.call<{ block_list: number }>('/protection-facts')).block_list;
    expect(list.total).toBe(3);
    expect(await onDashboard()).toBe(3);
    for (const { user, until } of list.entries) {
      if (until !== null) await site.call('/login-unblock', { ip: user, block: 0 });
    }
    expect(names(await blocked(site))).toEqual(['198.51.100.7']);
    expect(await onDashboard()).toBe(1);
    expect((await site.send('/login-unblock', { ip: 'x' })).http).toBe(400);
    const left = await db.selectFrom('login_attempts').select('key').execute();
    expect(left.map(({ key }) => key)).toEqual(['device:aa']);
  });

  it('has pages that do not shift while it is read', async () => {
    const site = await activitySite();
    for (let i = 0; i < 65; i++) await site.call('/block-addresses', { address: `198.51.100.${i}` });
    const first = await blocked(site);
    await site.call('/block-addresses', { address: '192.0.2.200' });
    const second = await blocked(site, { page: 2 });
    const third = await blocked(site, { cursor: second.cursor });
    expect([first.pages, first.total, second.page, third.page, third.cursor]).toEqual([3, 65, 2, 3, null]);
    const all = [first, second, third].flatMap(names);
    expect(all).toEqual(Array.from({ length: 65 }, (_, i) => `198.51.100.${64 - i}`));
    const limited = await blocked(site, { limitedView: 1 });
    expect([names(limited).length, limited.pages, names(limited)[0]]).toEqual([5, 1, '192.0.2.200']);
  });
});
