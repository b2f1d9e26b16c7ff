import { describe, expect, it } from 'vitest';
import { createRandom } from './random.js';
import { faultsInLog, grown } from './verdict.js';

const MEGABYTE = 1024 * 1024;
const before = { heap: 20 * MEGABYTE, external: 3 * MEGABYTE, timers: 2, descriptors: 58, resident: 100 * MEGABYTE };
const line = (fields: object) => JSON.stringify({ time: '2026-01-01T00:00:00.000Z', ...fields });

describe('what guard holds after chaos', () => {
  it('may be a little more than before', () => {
    const after = { heap: 24 * MEGABYTE, external: 4 * MEGABYTE, timers: 3, descriptors: 59, resident: 150 * MEGABYTE };
    expect(grown(before, after)).toEqual([]);
  });

  it.each([
    ['heap', { heap: 60 * MEGABYTE }, 'the heap grew from 20 to 60 MB'],
    ['buffers', { external: 30 * MEGABYTE }, 'memory outside the heap grew from 3 to 30 MB'],
    ['memory', { resident: 400 * MEGABYTE }, 'resident memory grew from 100 to 400 MB'],
    ['timers', { timers: 40 }, 'timers grew from 2 to 40'],
    ['descriptors', { descriptors: 90 }, 'descriptors grew from 58 to 90'],
  ])('is a fault when %s have grown', (_what, change, fault) => {
    expect(grown(before, { ...before, ...change })).toEqual([fault]);
  });
});

describe('guard’s log after chaos', () => {
  it('may hold warnings, and what Node’s inspector says', () => {
    const lines = [line({ level: 'warn', event: 'upstream-failed' }), 'Debugger listening on ws://127.0.0.1:1/x'];
    expect(faultsInLog(lines, false)).toEqual([]);
  });

  it.each([
    ['an error', line({ level: 'error', event: 'request-failed' })],
    ['a crash', line({ level: 'fatal', event: 'guard-crashed' })],
    ['a warning of Node', '(node:1) MaxListenersExceededWarning: Possible EventEmitter memory leak detected.'],
    ['a stack trace', '    at Socket.emit (node:events:1:1)'],
  ])('must not hold %s', (_what, fault) => {
    expect(faultsInLog([fault], false)).toEqual([`in the log: ${fault}`]);
    expect(faultsInLog([fault], true)).toEqual([`in the log: ${fault}`]);
  });

  it('may hold the faults of a real WordPress that is overrun', () => {
    const lines = [line({ level: 'error', event: 'wordpress-unreachable' })];
    expect(faultsInLog(lines, true)).toEqual([]);
    expect(faultsInLog(lines, false)).toHaveLength(1);
  });
});

describe('the choices of a seed', () => {
  const choices = (seed: number, stream: number) => {
    const random = createRandom(seed, stream);
    return Array.from({ length: 50 }, () => random.between(0, 999));
  };

  it('are the same each time, and others on another connection or with another seed', () => {
    expect(choices(7, 0)).toEqual(choices(7, 0));
    expect(choices(7, 1)).not.toEqual(choices(7, 0));
    expect(choices(8, 0)).not.toEqual(choices(7, 0));
    expect(new Set(choices(7, 0)).size).toBeGreaterThan(40);
  });
});
