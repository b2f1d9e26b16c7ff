import { describe, expect, it } from 'vitest';
import { createRandom } from './random.js';
import {
  addedMs,
  crowdFaults,
  faultsInLog,
  findGrowth,
  peakFaults,
  type WatcherSample,
  watcherFaults,
} from './verdict.js';

const MEGABYTE = 1024 * 1024;
const before = { heap: 20 * MEGABYTE, external: 3 * MEGABYTE, timers: 2, descriptors: 58, resident: 100 * MEGABYTE };
const line = (fields: object) => JSON.stringify({ time: '2026-01-01T00:00:00.000Z', ...fields });

describe('the resources that guard holds after chaos', () => {
  it('may be slightly more than before', () => {
    const after = { heap: 24 * MEGABYTE, external: 4 * MEGABYTE, timers: 3, descriptors: 59, resident: 150 * MEGABYTE };
    expect(findGrowth(before, after)).toEqual([]);
  });

  it.each([
    ['heap', { heap: 60 * MEGABYTE }, 'the heap grew from 20 to 60 MB'],
    ['buffers', { external: 30 * MEGABYTE }, 'memory outside the heap grew from 3 to 30 MB'],
    ['memory', { resident: 400 * MEGABYTE }, 'resident memory grew from 100 to 400 MB'],
    ['timers', { timers: 40 }, 'timers grew from 2 to 40'],
    ['descriptors', { descriptors: 90 }, 'descriptors grew from 58 to 90'],
  ])('are a failure when %s have grown', (_what, change, fault) => {
    expect(findGrowth(before, { ...before, ...change })).toEqual([fault]);
  });
});

describe('guard’s memory during chaos', () => {
  it('may grow by the buffers of many connections, and no more', () => {
    expect(peakFaults(before, 500 * MEGABYTE)).toEqual([]);
    expect(peakFaults(before, 700 * MEGABYTE)).toEqual(['resident memory rose from 100 to 700 MB during chaos']);
  });
});

describe('a plain page of another visitor', () => {
  const page = (change: Partial<WatcherSample> = {}): WatcherSample => {
    return { when: 'during chaos', status: 200, ms: 20, directMs: 5, ...change };
  };

  it('may take up to five seconds longer through guard than without it', () => {
    expect(watcherFaults([])).toEqual([]);
    expect(watcherFaults([page(), page({ ms: 5005 })])).toEqual([]);
  });

  it('may take as long as it takes without guard at the same moment, however busy the machine is', () => {
    const busy = page({ ms: 21_000, directMs: 20_000 });
    expect(addedMs(busy)).toBe(1000);
    expect(watcherFaults([busy])).toEqual([]);
    expect(addedMs(page({ ms: 5, directMs: 9000 }))).toBe(0);
  });

  it('is a failure when it takes longer, and the slowest one is named', () => {
    const late = [page({ ms: 6000 }), page({ ms: 9000, directMs: 100 }), page({ ms: 5100, when: 'at the end' })];
    expect(watcherFaults([page(), ...late])).toEqual([
      '3 x a plain page took over 5000 ms more than past guard, the slowest 9000 ms (past guard: 100 ms) during chaos',
    ]);
  });

  it('is a failure when it is refused or not answered, and a late failure is named once', () => {
    const failed = [
      page({ status: 503 }),
      page({ status: 503 }),
      page({ status: null, ms: 60_000, when: 'at the end' }),
    ];
    expect(watcherFaults([page(), ...failed])).toEqual([
      '2 x a plain page during chaos was answered with 503',
      '1 x a plain page at the end was answered with nothing',
    ]);
  });
});

describe('a request from an address with many idle connections', () => {
  it('must be answered', () => {
    expect(crowdFaults([200, 200], false)).toEqual([]);
    expect(crowdFaults([200, null, 503, null], false)).toEqual([
      '2 x a request of an address with an idle crowd was answered with nothing',
      '1 x a request of an address with an idle crowd was answered with 503',
    ]);
  });

  it('may be answered with an error by a real WordPress that is overloaded', () => {
    expect(crowdFaults([502, 200], true)).toEqual([]);
    expect(crowdFaults([null], true)).toHaveLength(1);
  });
});

describe('guard’s log after chaos', () => {
  it('may contain warnings and messages of Node’s inspector', () => {
    const lines = [line({ level: 'warn', event: 'upstream-failed' }), 'Debugger listening on ws://127.0.0.1:1/x'];
    expect(faultsInLog(lines, false)).toEqual([]);
  });

  it.each([
    ['an error', line({ level: 'error', event: 'request-failed' })],
    ['a crash', line({ level: 'fatal', event: 'guard-crashed' })],
    ['a warning of Node', '(node:1) MaxListenersExceededWarning: Possible EventEmitter memory leak detected.'],
    ['a stack trace', '    at Socket.emit (node:events:1:1)'],
  ])('must not contain %s', (_what, fault) => {
    expect(faultsInLog([fault], false)).toEqual([`in the log: ${fault}`]);
    expect(faultsInLog([fault], true)).toEqual([`in the log: ${fault}`]);
  });

  it('may contain errors of a real WordPress that is overloaded', () => {
    const lines = [line({ level: 'error', event: 'wordpress-unreachable' })];
    expect(faultsInLog(lines, true)).toEqual([]);
    expect(faultsInLog(lines, false)).toHaveLength(1);
  });
});

describe('random choices from a seed', () => {
  const choices = (seed: number, stream: number) => {
    const random = createRandom(seed, stream);
    return Array.from({ length: 50 }, () => random.between(0, 999));
  };

  it('are the same each time, and different for another connection or another seed', () => {
    expect(choices(7, 0)).toEqual(choices(7, 0));
    expect(choices(7, 1)).not.toEqual(choices(7, 0));
    expect(choices(8, 0)).not.toEqual(choices(7, 0));
    expect(new Set(choices(7, 0)).size).toBeGreaterThan(40);
  });
});
