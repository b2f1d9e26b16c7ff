import { describe, expect, it, onTestFinished } from 'vitest';
import { activitySite, blocked, findVisitorId, status } from '../../../test/support/activity-site.js';
import { openTestDatabase } from '../../../test/support/database.js';
import { eventually, scratchFolder } from '../../../test/support/scratch.js';
import { parseAddress } from '../../lib/address.js';
import { TimedAddresses } from '../../lib/timed-addresses.js';
import { sqlBlocklistStore } from './blocklist-store.js';

const address = (text: string) => {
  const parsed = parseAddress(text);
  if (parsed === null) throw new Error(text);
  return parsed;
};

describe('a block with an end', () => {
  it('applies until its last millisecond and no longer, for addresses, ranges and IPv6', () => {
    const timed = TimedAddresses.from([
      { value: '192.0.2.7', until: 1000 },
      { value: '198.51.100.0/24', until: 2000 },
      { value: '198.51.100.0-198.51.100.9', until: 3000 },
      { value: '2001:db8:5:6::/64', until: 1000 },
    ]);
    const at = (text: string, now: number) => timed.has(address(text), now);
    expect([at('192.0.2.7', 999), at('192.0.2.7', 1000), at('192.0.2.8', 0)]).toEqual([true, false, false]);
    expect([at('198.51.100.77', 1999), at('198.51.100.77', 2000)]).toEqual([true, false]);
    expect([at('198.51.100.9', 2500), at('198.51.100.9', 3000)]).toEqual([true, false]);
    expect([at('2001:db8:5:6::9', 999), at('2001:db8:5:6::9', 1000), at('2001:db8:5:7::9', 0)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('is listed with its end, author and note, survives a restart, and can be removed', async () => {
    const site = await activitySite();
    const id = await findVisitorId(site, '192.0.2.7');
    const before = Math.floor(Date.now() / 1000);
    const response = await site.call<{ current: { until: number } }>(`/block-ip/${id}`, {
      block: 1,
      duration: '3600',
      note: ' spam ',
    });
    expect(response).toMatchObject({
      block: 1,
      current: { by: 'owner', by_login: 'owner', note: 'spam', range: '192.0.2.7' },
    });
    expect(response.current.until).toBeGreaterThanOrEqual(before + 3600);
    await site.restart();
    expect(await site.visit('/', { address: '192.0.2.7' })).toBe(403);
    expect((await blocked(site)).entries).toMatchObject([
      { by: 'owner', note: 'spam', until_unix: response.current.until },
    ]);
    expect(await status(site, id)).toMatchObject({ block: 1, current: { until: response.current.until } });
    expect((await site.unknown()).entries[0]?.current_block).toMatchObject({ note: 'spam' });

    // A longer block, then a permanent one: each replaces the previous one.
    expect(await site.call(`/block-ip/${id}`, { block: 1 })).toMatchObject({ current: { until: null, note: '' } });
    expect((await blocked(site)).entries).toMatchObject([{ until: null }]);
    expect(await site.call(`/block-ip/${id}`, { block: 0 })).toEqual({ block: 0, current: null });
    expect(await site.visit('/', { address: '192.0.2.7' })).toBe(200);
  });

  it('that another process stored ends at the gateway in time and is removed from the list', async () => {
    const site = await activitySite();
    const db = await openTestDatabase(site.dataDir);
    onTestFinished(() => db.destroy());
    const store = sqlBlocklistStore(db);
    const block = (until: number) => {
      const change = { site: 'site', actor: { id: 1, login: 'owner', address: null }, at: Date.now() };
      return store.block(change, {
        kind: 'ip',
        value: '192.0.2.9',
        name: '192.0.2.9',
        visitorId: null,
        until,
        note: '',
      });
    };
    await block(Date.now() + 3_600_000);
    await eventually(async () => (await site.visit('/', { address: '192.0.2.9' })) === 403);
    // The new end replaces the one an hour from now.
    const until = Date.now() + 1000;
    await block(until);
    await eventually(async () => (await site.visit('/', { address: '192.0.2.9' })) === 200);
    expect(Date.now()).toBeGreaterThanOrEqual(until);
    expect((await blocked(site)).entries).toEqual([]);
  });

  it('that ended while guard was not running is logged once', async () => {
    const site = await activitySite();
    await site.restart(async () => {
      const db = await openTestDatabase(site.dataDir);
      const change = { site: 'site', actor: { id: 1, login: 'owner', address: null }, at: Date.now() - 9000 };
      const block = { kind: 'ip', value: '192.0.2.9', name: '192.0.2.9', visitorId: null, note: '' } as const;
      await sqlBlocklistStore(db).block(change, { ...block, until: Date.now() - 1000 });
      await db.destroy();
    });
    const ended = async () =>
      (await site.registered()).entries.filter(({ activity }) => activity === 'Block of 192.0.2.9 ended');
    await eventually(async () => (await ended()).length > 0);
    expect(await ended()).toHaveLength(1);
    expect(await site.visit('/', { address: '192.0.2.9' })).toBe(200);
    expect((await blocked(site)).entries).toEqual([]);
  });

  it('is deleted once with an audit row when it has ended, and the others remain', async () => {
    const db = await openTestDatabase(await scratchFolder());
    onTestFinished(() => db.destroy());
    const store = sqlBlocklistStore(db);
    const change = { site: 'site', actor: { id: 1, login: 'owner', address: null }, at: 1 };
    const block = (value: string, until: number | null) =>
      store.block(change, { kind: 'ip', value, name: value, visitorId: 0, until, note: '' });
    await block('192.0.2.1', 1000);
    await block('192.0.2.2', 2000);
    await block('192.0.2.3', null);
    expect(await store.nextEnd()).toBe(1000);
    expect(await store.removeEnded(999, 10)).toEqual([]);
    expect(await store.removeEnded(1000, 10)).toMatchObject([{ site: 'site' }]);
    expect(await store.removeEnded(1000, 10)).toEqual([]);
    expect(await store.nextEnd()).toBe(2000);
    expect([await store.count('site', 5, 5), await store.count('site', 5, 2000)]).toEqual([2, 1]);
    expect((await store.list('site', { until: 5, now: 2000, skip: 0, limit: 9 })).map(({ value }) => value)).toEqual([
      '192.0.2.3',
    ]);
  });

  it('of a network blocks all of it, but not a network with the caller’s own address', async () => {
    const site = await activitySite();
    const id = await findVisitorId(site, '198.51.100.7');
    expect(await status(site, id)).toMatchObject({ network_cost: { range: '198.51.100.0/24', visitors: 0, own: 0 } });
    await site.call(`/block-ip/${id}`, { block: 1, network: 1, duration: 86_400 });
    expect(await site.visit('/', { address: '198.51.100.200' })).toBe(403);
    await site.call(`/block-ip/${id}`, { block: 0, network: 1 });
    expect(await site.visit('/', { address: '198.51.100.200' })).toBe(200);
    const local = await findVisitorId(site, '127.0.0.9');
    expect((await site.send(`/block-ip/${local}`, { block: 1, network: 1 })).http).toBe(400);
    expect((await site.send(`/block-ip/${id}`, { block: 1, duration: 60 })).http).toBe(400);
  });

  it('is made for several visitors at once, and names those that must not be blocked', async () => {
    const site = await activitySite();
    const ids = [
      await findVisitorId(site, '198.51.100.7'),
      await findVisitorId(site, '203.0.113.9'),
      await findVisitorId(site, '127.0.0.9'),
      9999,
    ];
    const response = await site.call<{
      done: { visitor_id: number }[];
      refused: { visitor_id: number; reason: string }[];
    }>('/block-visitors', { ids, block: 1, duration: 604_800 });
    expect(response.done.map(({ visitor_id }) => visitor_id)).toEqual(ids.slice(0, 2));
    expect(response.refused.map(({ visitor_id }) => visitor_id)).toEqual(ids.slice(2));
    for (const { reason } of response.refused) expect(reason).not.toBe('');
    expect(await site.visit('/', { address: '203.0.113.9' })).toBe(403);
  });
});
