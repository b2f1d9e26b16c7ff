import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { allVisits, NOW, SITE, testStore } from '../../test/support/activity-store.js';
import { recordedLog } from '../../test/support/logs.js';
import { passingTime } from '../../test/support/passing-time.js';
import { getMinProcessorTime } from '../../test/support/processor-time.js';
import type { ObservedRequest } from '../hooks.js';
import { parseAddress } from '../lib/address.js';
import type { VisitBatch } from './activity-store.js';
import { unpackVisits } from './packed-visits.js';
import type { NumberedVisit, Visit } from './visit.js';
import { createVisitLog, type VisitRules } from './visit-log.js';

function createRequest(target: string, more: Partial<ObservedRequest> & { ip?: string } = {}): ObservedRequest {
  const address = parseAddress(more.ip ?? '192.0.2.7');
  if (address === null) throw new Error('not an address');
  return { address, target, status: 200, rule: null, agent: () => 'Browser/1.0', ...more };
}

interface Batch {
  readonly site: string;
  readonly visits: readonly Visit[];
  readonly dropped: number;
}

/** A log with a store that keeps deep copies, as another thread would. Its clock advances only by `passes`. */
function createTestLog(write?: (batches: readonly VisitBatch[]) => Promise<void>) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const batches: Batch[] = [];
  const reported: string[] = [];
  const rules: { -readonly [Name in Exclude<keyof VisitRules, 'namesLogin'>]: boolean } = {
    recording: true,
    anonymize: false,
    ownCron: false,
  };
  const { logger, events } = recordedLog();
  const store = {
    async write(sent: readonly VisitBatch[]) {
      for (const { visits, ...rest } of structuredClone(sent)) {
        batches.push({ ...rest, visits: [...unpackVisits(visits)] });
      }
      await write?.(sent);
    },
  };
  const log = createVisitLog({
    store,
    rules: () => rules,
    onVisit: (site, address, agent) => reported.push(`${site} ${address} ${agent}`),
    ...{ seed: 0x5eed, clock: () => Date.now(), logger },
  });
  const visits = (): Visit[] => batches.flatMap((batch) => batch.visits);
  const dropped = (): number => batches.reduce((sum, batch) => sum + batch.dropped, 0);
  return { log, rules, batches, visits, dropped, events, reported: reported };
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
/** Advances the clock of `logUnderTest`. */
const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('visits', () => {
  it('omit requests that WordPress proved to send itself, unless the owner includes them', async () => {
    const { log, rules, visits } = createTestLog();
    log.add('site', createRequest('/wp-cron.php?doing_wp_cron=1', { isOwnCron: true }));
    log.add('site', createRequest('/wp-cron.php?doing_wp_cron=2', { isOwnCron: false }));
    log.add('site', createRequest('/wp-cron.php?doing_wp_cron=3'));
    rules.ownCron = true;
    log.add('site', createRequest('/wp-cron.php?doing_wp_cron=4', { isOwnCron: true }));
    await advance(200);
    expect(visits().map(({ target }) => target.at(-1))).toEqual(['2', '3', '4']);
  });

  it('are stored within a moment, with all their details', async () => {
    const { log, batches } = createTestLog();
    const before = Date.now();
    log.add('site', createRequest('/shop?x=1', { status: 404, rule: 'a-rule' }));
    await advance(100);
    expect(batches[0]).toMatchObject({
      site: 'site',
      dropped: 0,
      visits: [
        { address: '192.0.2.7', target: '/shop?x=1', status: 404, rule: 'a-rule', agent: 'Browser/1.0', count: 1 },
      ],
    });
    expect(batches[0]?.visits[0]?.at).toBe(before);
  });

  it('that are the same within a second become one or two with a count, and none is lost', async () => {
    const { log, visits } = createTestLog();
    for (let count = 0; count < 170; count++) {
      log.add('site', createRequest('/same'));
      await advance(10);
    }
    await log.stop();
    expect(visits().reduce((sum, visit) => sum + visit.count, 0)).toBe(170);
    expect(visits().length).toBeLessThanOrEqual(4);
  });

  it('of a flood are sent in batches of a bounded size, and their repeats at the end of the second', async () => {
    const { log, batches, visits } = createTestLog();
    for (let i = 0; i < 3000; i++) log.add('site', createRequest(`/${i}`));
    for (let i = 0; i < 3000; i++) log.add('site', createRequest(`/${i}`));
    expect(batches.map((batch) => batch.visits.length)).toEqual([1000, 1000, 1000]);
    await advance(300);
    expect(visits()).toHaveLength(3000);
    await log.stop();
    expect(visits().reduce((sum, visit) => sum + visit.count, 0)).toBe(6000);
  });

  it('are distinguished by address, target, status and rule', async () => {
    const { log, visits } = createTestLog();
    log.add('site', createRequest('/a'));
    log.add('site', createRequest('/b'));
    log.add('site', createRequest('/a', { status: 403 }));
    log.add('site', createRequest('/a', { status: 403, rule: 'x' }));
    log.add('site', createRequest('/a', { ip: '192.0.2.8' }));
    log.add('other', createRequest('/a'));
    await log.stop();
    expect(visits().map(({ count }) => count)).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it('are queried for their agent only when they are new', async () => {
    const { log } = createTestLog();
    let calls = 0;
    const agent = () => `Agent ${++calls}`;
    for (let i = 0; i < 50; i++) log.add('site', createRequest('/same', { agent }));
    expect(calls).toBe(1);
  });

  it('refer to the visit that they repeat, over batches and seconds', async () => {
    const { log, visits } = createTestLog();
    const written = async (target: string, ms: number) => {
      log.add('site', createRequest(target));
      await advance(ms);
      return visits().length;
    };
    expect([await written('/same', 100), await written('/other', 100)]).toEqual([1, 2]);
    // A repeat of a visit in an earlier batch is sent at the end of its second.
    expect([await written('/same', 1000), await written('/same', 1000)]).toEqual([3, 4]);
    const [first, other, second, third] = visits() as NumberedVisit[];
    expect(new Set([first, other, second, third].map((visit) => visit?.number)).size).toBe(4);
    expect([first, other, second, third].map((visit) => visit?.repeats)).toEqual([0, 0, first?.number, second?.number]);
  });

  it('within a second are one row in the store, whatever their number of batches', async () => {
    const { pass } = passingTime();
    const store = await testStore();
    const rules = () => ({ recording: true, anonymize: false, ownCron: false });
    const { logger } = recordedLog();
    let now = NOW;
    const write = vi.spyOn(store, 'write');
    const log = createVisitLog({ store, rules, seed: 1, clock: () => now, logger });
    for (; now < NOW + 900; now += 100) {
      log.add(SITE, createRequest('/same'));
      pass(100);
    }
    await log.stop();
    expect(write.mock.calls.length).toBeGreaterThan(1);
    expect((await allVisits(store)).map(({ count }) => count)).toEqual([9]);
  });

  it('are new again after a pause, and not kept until the end of a second', async () => {
    const { log, batches, reported } = createTestLog();
    for (const batch of [1, 2]) {
      log.add('site', createRequest('/same'));
      await advance(100);
      expect(batches).toHaveLength(batch);
      await advance(2500);
    }
    expect(reported).toHaveLength(2);
  });

  it('are reported once, with their agent, however often they are repeated', async () => {
    const { log, reported } = createTestLog();
    for (let i = 0; i < 50; i++) log.add('site', createRequest('/same'));
    log.add('site', createRequest('/other', { ip: '192.0.2.8', agent: () => null }));
    expect(reported).toEqual(['site 192.0.2.7 Browser/1.0', 'site 192.0.2.8 null']);
  });

  it('are truncated, and everything in them that is not printable is escaped', async () => {
    const { log, visits } = createTestLog();
    log.add('site', createRequest(`/${'a'.repeat(9000)}`, { agent: () => 'b'.repeat(9000) }));
    log.add('site', createRequest('/\n\x00\xe9\x7f"<b>', { agent: () => 'x\r\n\x1b[31m\xff' }));
    log.add('site', createRequest(`${'/'.repeat(499)}\n\n\n`, { agent: () => null }));
    await log.stop();
    const [long, wild, edge] = visits();
    expect([long?.target.length, long?.agent?.length]).toEqual([500, 300]);
    expect([wild?.target, wild?.agent]).toEqual(['/%0A%00%E9%7F"<b>', 'x%0D%0A%1B[31m%FF']);
    expect([edge?.target.length, edge?.agent]).toEqual([500, null]);
  });

  it('are stored with anonymised addresses when the site requires it', async () => {
    const { log, rules, visits } = createTestLog();
    rules.anonymize = true;
    log.add('site', createRequest('/', { ip: '192.0.2.77' }));
    log.add('site', createRequest('/', { ip: '192.0.2.99' }));
    log.add('site', createRequest('/', { ip: '2001:db8:1:2:3:4:5:6' }));
    await log.stop();
    expect(visits().map(({ address, count }) => [address, count])).toEqual([
      ['192.0.2.0', 2],
      ['2001:db8:1::', 1],
    ]);
  });

  it('are not recorded while the log is off', async () => {
    const { log, rules, batches } = createTestLog();
    rules.recording = false;
    log.add('site', createRequest('/'));
    await log.stop();
    expect(batches).toEqual([]);
  });

  it('that can’t be stored fast enough are counted, for each site, and memory is bounded', async () => {
    const { log, visits, dropped, batches } = createTestLog(() => pause(50));
    for (let i = 0; i < 30_000; i++) log.add('flooded', createRequest(`/${i}`));
    for (let i = 0; i < 10; i++) log.add('quiet', createRequest(`/${i}`));
    for (let i = 0; i < 1000; i++) log.add('flooded', createRequest('/0'));
    const stopped = log.stop();
    await advance(50);
    await stopped;
    const stored = visits().reduce((sum, visit) => sum + visit.count, 0);
    expect(stored + dropped()).toBe(31_010);
    expect(visits().length).toBe(20_011);
    expect(batches.filter(({ site }) => site === 'quiet').map((batch) => batch.dropped)).toEqual([0]);
  });

  it.each(['new visits', 'repeats'])('are stored once when everything is written in between: %s', async (kind) => {
    const { log, visits } = createTestLog();
    if (kind === 'repeats') {
      log.add('site', createRequest('/before'));
      await advance(100);
    }
    log.add('site', createRequest('/before'));
    // As when another site is removed.
    await log.writeAll();
    log.add('site', createRequest('/after'));
    await advance(2500);
    await log.stop();
    const counts = new Map<string, number>();
    for (const { target, count } of visits()) counts.set(target, (counts.get(target) ?? 0) + count);
    expect([...counts]).toEqual([
      ['/before', kind === 'repeats' ? 2 : 1],
      ['/after', 1],
    ]);
  });

  it('of all sites are sent in one call, and those of each site are one batch', async () => {
    const calls: number[] = [];
    const { log, batches } = createTestLog(async (sent) => void calls.push(sent.length));
    for (let site = 0; site < 300; site++) {
      log.add(`site-${site}`, createRequest('/one'));
      log.add(`site-${site}`, createRequest('/two'));
    }
    await advance(100);
    expect(calls).toEqual([300]);
    expect(new Set(batches.map(({ site, visits }) => `${site} ${visits.length}`)).size).toBe(300);
    expect(batches[299]).toMatchObject({ site: 'site-299', visits: [{ target: '/one' }, { target: '/two' }] });
  });

  it('of several sites in a call that fails are counted for their own site', async () => {
    let fails = true;
    const { log, batches, events } = createTestLog(async () => {
      if (fails) throw new Error('disk full');
    });
    log.add('a', createRequest('/1'));
    for (let i = 0; i < 3; i++) log.add('b', createRequest(`/${i}`));
    await advance(100);
    fails = false;
    await advance(200);
    const later = batches.slice(2).map(({ site, visits, dropped }) => [site, visits.length, dropped]);
    expect(later).toEqual([
      ['a', 0, 1],
      ['b', 0, 3],
    ]);
    expect(events().filter((event) => event === 'visits-store-failed')).toHaveLength(1);
  });

  it('of thousands of sites wait in a bounded number of batches, and each is stored or counted', async () => {
    let free = () => {};
    const freed = new Promise<void>((resolve) => {
      free = resolve;
    });
    const { log, batches, visits, dropped } = createTestLog(() => freed);
    const visit = (target: string) => {
      for (let site = 0; site < 10_000; site++) log.add(`site-${site}`, createRequest(target));
    };
    visit('/one');
    visit('/two');
    await advance(200);
    expect(batches).toHaveLength(10_000);
    visit('/three');
    await advance(250);
    expect(batches).toHaveLength(10_000);
    free();
    await log.stop();
    expect(visits()).toHaveLength(20_000);
    expect(dropped()).toBe(10_000);
  });

  it('count as dropped while the store fails, which is logged once', async () => {
    let fails = true;
    const { log, dropped, batches, events } = createTestLog(async () => {
      if (fails) throw new Error('disk full');
    });
    log.add('site', createRequest('/1'));
    log.add('site', createRequest('/1'));
    await advance(300);
    expect(batches.length).toBeGreaterThanOrEqual(3);
    expect(events().filter((event) => event === 'visits-store-failed')).toHaveLength(1);
    fails = false;
    const stored = batches.length;
    await advance(100);
    expect(batches[stored]).toMatchObject({ visits: [], dropped: 2 });
    await advance(250);
    expect(batches.slice(stored + 1)).toEqual([]);
    expect(dropped()).toBeGreaterThanOrEqual(2);
  });
});

it('a visit costs less than a few microseconds, and a repeat less than that', async () => {
  const { log } = createTestLog();
  const repeat = createRequest('/same');
  for (let i = 0; i < 20_000; i++) log.add('warm', repeat);
  const ms = getMinProcessorTime(() => {
    for (let i = 0; i < 100_000; i++) log.add('site', repeat);
  });
  expect(ms / 100).toBeLessThan(5);
});
