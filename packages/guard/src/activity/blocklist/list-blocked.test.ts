import { describe, expect, it, onTestFinished } from 'vitest';
import { activitySite, blocked, names } from '../../../test/support/activity-site.js';
import { openTestDatabase } from '../../../test/support/database.js';

describe('the list of blocked visitors', () => {
  it('contains lockouts, too, newest first, which are ended by their address', async () => {
    const site = await activitySite();
    const db = await openTestDatabase(site.dataDir);
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
