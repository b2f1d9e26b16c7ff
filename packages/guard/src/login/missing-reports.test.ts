import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { recordedLog } from '../../test/support/logs.js';
import { siteConfig } from '../../test/support/site-config.js';
import type { ConnectorState } from '../site.js';
import { ConnectorError } from '../wordpress/connector-error.js';
import type { LoginReport } from '../wordpress/login-headers.js';
import { createMissingReports, type ReportLookup, toCountedOutcome } from './missing-reports.js';

const site = siteConfig({});
const failed: LoginReport = {
  failed: [{ user: 'owner', id: 1, route: 'other' }],
  refused: 0,
  ok: null,
  factor: null,
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setUp() {
  const log = recordedLog();
  const fake = {
    queried: [] as string[][],
    known: new Map<string, LoginReport | 'unfinished'>(),
    down: false as boolean | 'without connector',
    state: { kind: 'ok', version: '0.1.0', policy: null } as ConnectorState,
    rechecks: 0,
    found: [] as [string, ReportLookup][],
  };
  const reports = createMissingReports({
    async query(_site, requests) {
      fake.queried.push([...requests]);
      if (fake.down === 'without connector') throw new ConnectorError({ kind: 'missing' });
      if (fake.down) throw new Error('down');
      return fake.known;
    },
    state: () => fake.state,
    recheck: () => fake.rechecks++,
    clock: Date.now,
    logger: log.logger,
  });
  const find = (id: string) => reports.find(site, id, (outcome) => fake.found.push([id, outcome]));
  return { reports, fake: fake, find, log };
}

describe('missing reports', () => {
  it('are queried at once, and those that go missing during the pause in one query', async () => {
    const { fake, find, reports } = setUp();
    fake.known.set('a', failed).set('c', 'unfinished');
    void find('a');
    await vi.advanceTimersByTimeAsync(0);
    void find('b');
    void find('c');
    await vi.advanceTimersByTimeAsync(499);
    expect(fake.queried).toEqual([['a']]);
    await vi.advanceTimersByTimeAsync(1);
    expect(fake.queried).toEqual([['a'], ['b', 'c']]);
    expect(fake.found).toEqual([
      ['a', failed],
      ['b', 'none'],
      ['c', 'unfinished'],
    ]);
    expect([reports.pending, vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('are queried again until WordPress responds, while no response waits for them', async () => {
    const { fake, find } = setUp();
    fake.down = true;
    let waits = true;
    void find('a').then(() => {
      waits = false;
    });
    await vi.advanceTimersByTimeAsync(0);
    expect([fake.found, waits, fake.rechecks]).toEqual([[], false, 1]);
    fake.down = false;
    await vi.advanceTimersByTimeAsync(3000);
    expect(fake.found).toEqual([['a', 'none']]);
  });

  it('are queried as long as WordPress does not run, for a day at most', async () => {
    const { fake, find, reports } = setUp();
    fake.down = true;
    void find('a');
    await vi.advanceTimersByTimeAsync(4 * 60_000);
    expect(reports.getRetention(site.id)).toBeNull();
    await vi.advanceTimersByTimeAsync(20 * 3600_000);
    expect(fake.found).toEqual([]);
    expect(reports.getRetention(site.id)).toBe(20 * 3600 + 4 * 60 + 600);
    await vi.advanceTimersByTimeAsync(4 * 3600_000);
    expect(fake.found).toEqual([['a', 'lost']]);
    expect(reports.getRetention(site.id)).toBeNull();
  });

  it('are queried at once when WordPress runs again', async () => {
    const { fake, find, reports } = setUp();
    fake.down = true;
    void find('a');
    await vi.advanceTimersByTimeAsync(1000);
    fake.down = false;
    reports.recordSigned(site.id);
    await vi.advanceTimersByTimeAsync(0);
    expect(fake.found).toEqual([['a', 'none']]);
  });

  it('are unknown once WordPress responds without the connector, even if the connector returns', async () => {
    const { fake, find } = setUp();
    fake.down = 'without connector';
    void find('a');
    await vi.advanceTimersByTimeAsync(0);
    expect(fake.found).toEqual([['a', 'unknown']]);
  });

  it('are given up after WordPress has run for eight minutes, before the connector deletes its records', async () => {
    const { fake, find, reports } = setUp();
    fake.down = true;
    void find('a');
    await vi.advanceTimersByTimeAsync(1000);
    reports.recordSigned(site.id);
    await vi.advanceTimersByTimeAsync(8 * 60_000 - 4000);
    expect(fake.found).toEqual([]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(fake.found).toEqual([['a', 'lost']]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are unknown when the connector turns out to be away', async () => {
    const { fake, find } = setUp();
    fake.down = true;
    fake.state = { kind: 'unknown' };
    void find('a');
    await vi.advanceTimersByTimeAsync(0);
    fake.state = { kind: 'missing' };
    await vi.advanceTimersByTimeAsync(3000);
    void find('b');
    expect(fake.found).toEqual([
      ['a', 'unknown'],
      ['b', 'unknown'],
    ]);
  });

  it('are queried 500 at a time', async () => {
    const { fake, find } = setUp();
    for (let i = 0; i < 1200; i++) void find(String(i));
    await vi.advanceTimersByTimeAsync(1000);
    expect(fake.queried.map(({ length }) => length)).toEqual([500, 500, 200]);
    expect(fake.found).toHaveLength(1200);
  });

  it('are logged once per outage, and cause a check of the connector each time', () => {
    const { reports, log, fake } = setUp();
    for (let i = 0; i < 5; i++) {
      reports.recordMissing(site, String(i), 502);
      vi.advanceTimersByTime(60_000);
    }
    expect(log.events()).toEqual(['login-report-missing']);
    expect(fake.rechecks).toBe(5);
    vi.advanceTimersByTime(10 * 60_000);
    reports.recordMissing(site, 'later', null);
    expect(log.events()).toHaveLength(2);
  });
});

describe('the counted outcome of a lookup', () => {
  it.each<[ReportLookup, boolean, 'certain' | 'possible' | 'view', ReturnType<typeof toCountedOutcome>]>([
    [failed, true, 'certain', failed],
    ['none', true, 'certain', 'none'],
    ['none', false, 'possible', 'none'],
    ['unfinished', true, 'certain', 'failure'],
    ['unfinished', false, 'view', 'failure'],
    ['unknown', true, 'certain', 'failure'],
    ['unknown', false, 'possible', 'nothing'],
    ['lost', true, 'certain', 'failure'],
    ['lost', false, 'possible', 'failure'],
    ['lost', false, 'view', 'nothing'],
  ])('%o, where a check was expected: %s, in a request that is %s', (found, expected, likelihood, counted) => {
    expect(toCountedOutcome(found, expected, likelihood)).toEqual(counted);
  });
});
