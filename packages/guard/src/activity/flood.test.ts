import { describe, expect, it } from 'vitest';
import { allVisits, EVERY_VISIT, NOW, NOW_SECONDS, SITE, testStore } from '../../test/support/activity-store.js';
import { recordedLog } from '../../test/support/logs.js';
import { parseAddress, toAddress } from '../lib/address.js';
import type { ActivityStore, VisitRow } from './activity-store.js';
import { groupAttackers } from './attackers.js';
import { createVisitLog } from './visit-log.js';

const HOUR_BEGAN = NOW_SECONDS - 1800;
const DAY = '2026-11-21';

/** A log whose clock only the test advances, with the real store unless another is given. */
async function floodedLog(writes?: Pick<ActivityStore, 'write'>) {
  const store = await testStore();
  const { logger } = recordedLog();
  const clock = { now: NOW };
  const rules = () => ({ recording: true, anonymize: false, ownCron: false });
  const reported: string[] = [];
  const onVisit = (_site: string, address: string) => reported.push(address);
  const log = createVisitLog({ store: writes ?? store, rules, onVisit, seed: 1, clock: () => clock.now, logger });
  const refuse = (target: string, ip = '192.0.2.7', { site = SITE, rule = 'xml-rpc' as string | null } = {}) => {
    const address = parseAddress(ip);
    if (address === null) throw new Error('not an address');
    const status = rule === null ? 200 : 403;
    log.add(site, { address, target, status, rule, agent: () => 'Browser/1.0' });
  };
  const blocked = async (site = SITE) =>
    (await store.traffic(site, HOUR_BEGAN, HOUR_BEGAN + 3600)).reduce((sum, hour) => sum + hour.blocked, 0);
  return { store, log, clock, refuse, blocked, reported: reported };
}

/** Sums the visits that rows represent. */
const hits = (rows: readonly VisitRow[]) =>
  rows.reduce((sum, { count, more, moreBits }) => sum + count + (moreBits === null ? 0 : more), 0);
const ipv6 = (index: number) => toAddress([0x20010db8, 0, 0, index + 1]).text;

describe('a flood of refused requests', () => {
  it('from one address, each with another path, makes some hundred rows, and every count is exact', async () => {
    const { store, log, refuse, blocked, reported } = await floodedLog();
    for (let i = 0; i < 10_000; i++) refuse(`/xmlrpc.php?try=${i}`);
    await log.stop();
    const rows = await allVisits(store);
    expect(rows.length).toBeLessThan(300);
    expect((await store.countVisits(SITE, EVERY_VISIT, null)).rows).toBe(rows.length);
    expect(hits(rows)).toBe(10_000);
    expect(Math.max(...rows.map(({ more }) => more))).toBe(9799);
    expect(await blocked()).toBe(10_000);
    expect(await store.top(SITE, 'address', DAY, DAY, 1)).toEqual([{ value: '192.0.2.7', count: 10_000 }]);
    const { id } = await store.getAddressVisitor(SITE, '192.0.2.7');
    expect(await store.visitorHours(SITE, id, HOUR_BEGAN, HOUR_BEGAN + 3600)).toEqual([10_000]);
    expect(await store.droppedVisits(SITE)).toBe(0);
    expect(reported.length).toBe(rows.length);
  });

  it('from ten thousand addresses makes some hundred rows, and the most active ones are still known', async () => {
    const { store, log, refuse, blocked } = await floodedLog();
    for (let i = 0; i < 10_000; i++) {
      if (i % 4 === 0) refuse(`/wp-login.php?again=${i}`, '198.51.100.9', { rule: 'login-limit' });
      refuse(`/xmlrpc.php?try=${i}`, ipv6(i));
    }
    await log.stop();
    const rows = await allVisits(store);
    expect(rows.length).toBeLessThan(300);
    expect(hits(rows)).toBe(12_500);
    expect(await blocked()).toBe(12_500);
    const top = { value: '198.51.100.9', count: 2500 };
    expect(await store.top(SITE, 'address', DAY, DAY, 1)).toEqual([top]);
    // A request that a lockout refuses is no failed login, but an attack.
    expect(await store.failedLogins(SITE, HOUR_BEGAN, HOUR_BEGAN + 3600)).toEqual([]);
    const { totals, attackers } = await store.attacks(SITE, DAY, DAY);
    expect(totals).toEqual([{ goal: 'passwords', refused: 12_500, failed: 0, scanned: 0 }]);
    expect(groupAttackers(attackers, [DAY])).toMatchObject([
      { address: '2001:db8::/64', attempts: 10_000, goal: 'passwords' },
      { address: '198.51.100.9', addresses: 1, attempts: 2500, goal: 'passwords' },
    ]);
    expect(await store.droppedVisits(SITE)).toBe(0);
  });

  it('of locked out addresses counts each refused password as a failed login, for its address', async () => {
    const { store, log } = await floodedLog();
    const refuse = (ip: string, target: string, failedLogins: number) => {
      const address = parseAddress(ip);
      if (address === null) throw new Error('not an address');
      log.add(SITE, {
        ...{ address, target, status: 429, rule: 'login-limit', failedLogins },
        agent: () => 'Browser/1.0',
      });
    };
    for (let i = 0; i < 5000; i++) {
      refuse(ipv6(i % 200), `/wp-login.php?try=${i}`, 1);
      refuse(ipv6(i % 200), `/wp-login.php?view=${i}`, 0);
    }
    await log.stop();
    const failed = await store.failedLogins(SITE, HOUR_BEGAN, HOUR_BEGAN + 3600);
    expect(failed.map(({ count }) => count)).toEqual([5000]);
    const top = await store.top(SITE, 'failed-login', DAY, DAY, 1000);
    expect(new Set(top.map(({ count }) => count))).toEqual(new Set([25]));
    expect(await store.failedLoginAddresses(SITE, DAY, DAY)).toBe(200);
    expect(hits((await allVisits(store)).filter(({ failedLogins }) => failedLogins > 0))).toBe(5000);
  });

  it('folds no allowed request', async () => {
    const { store, log, refuse } = await floodedLog();
    for (let i = 0; i < 1000; i++) refuse(`/xmlrpc.php?try=${i}`);
    for (let i = 0; i < 1000; i++) refuse(`/page-${i}`, '192.0.2.8', { rule: null });
    await log.stop();
    const rows = await allVisits(store);
    expect(rows.filter(({ rule }) => rule === null).map(({ count, more }) => count + more)).toEqual(
      Array.from({ length: 1000 }, () => 1),
    );
    expect(rows.length).toBeLessThan(1300);
  });

  it('counts repeats of a second in one row, and does not change the rows before the flood', async () => {
    const { store, log, refuse } = await floodedLog();
    refuse('/before', '198.51.100.1');
    for (let i = 0; i < 1000; i++) refuse(`/xmlrpc.php?try=${i}`);
    for (let i = 0; i < 5; i++) refuse('/before', '198.51.100.1');
    await log.stop();
    const [before] = (await allVisits(store)).filter(({ target }) => target === '/before');
    expect(before).toMatchObject({ count: 6, more: 0, moreBits: null });
  });

  it('with the same paths every second makes some hundred rows per second', async () => {
    const { store, log, clock, refuse, blocked } = await floodedLog();
    for (let second = 0; second < 5; second++) {
      clock.now = NOW + second * 1000;
      for (let i = 0; i < 2000; i++) refuse(`/xmlrpc.php?try=${i}`, ipv6(i));
    }
    await log.stop();
    const rows = await allVisits(store);
    expect(rows.length).toBeLessThan(5 * 300);
    expect(new Set(rows.map(({ at }) => at))).toEqual(new Set([0, 1, 2, 3, 4].map((second) => NOW_SECONDS + second)));
    expect(hits(rows)).toBe(10_000);
    expect(await blocked()).toBe(10_000);
  });

  it('of many sites is folded for each, and a site with a single request keeps its row', async () => {
    const { store, log, refuse, blocked } = await floodedLog();
    for (let i = 0; i < 10_000; i++) refuse(`/xmlrpc.php?try=${i}`, ipv6(i), { site: `site-${i % 100}` });
    refuse('/xmlrpc.php', '198.51.100.1', { site: 'quiet' });
    await log.stop();
    let rows = 0;
    for (let site = 0; site < 100; site++) {
      rows += (await allVisits(store, `site-${site}`)).length;
      expect(await blocked(`site-${site}`)).toBe(100);
    }
    expect(rows).toBeLessThan(5000);
    expect((await allVisits(store, 'quiet')).map(({ count, more }) => [count, more])).toEqual([[1, 0]]);
  });

  it('is kept in bounded memory while the store fails, and each visit is stored or counted as dropped', async () => {
    let free = () => {};
    const freed = new Promise<void>((resolve) => {
      free = resolve;
    });
    let stored = 0;
    let bytes = 0;
    let dropped = 0;
    const write: ActivityStore['write'] = async (batches) => {
      for (const batch of batches) {
        stored += batch.visits.hits;
        bytes += batch.visits.bytes.length;
        dropped += batch.dropped;
      }
      await freed;
    };
    const { log, clock, refuse } = await floodedLog({ write });
    for (let second = 0; second < 30; second++) {
      clock.now = NOW + second * 1000;
      for (let i = 0; i < 10_000; i++) refuse(`/xmlrpc.php?try=${i}`, ipv6(i));
    }
    free();
    await log.stop();
    expect(stored + dropped).toBe(300_000);
    expect(dropped).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(20_000 * 250);
  });
});
