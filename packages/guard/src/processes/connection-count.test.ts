import { describe, expect, it } from 'vitest';
import { ConnectionCount } from './connection-count.js';

const limits = { connections: 5, connectionsPerAddress: 2 };

describe('the connections that all workers have accepted', () => {
  it('are limited for each address, whichever worker accepted them', () => {
    const count = new ConnectionCount(limits);
    const [one, two] = [{}, {}];
    expect([count.open(one, 'a'), count.open(two, 'a'), count.open(one, 'a'), count.open(two, 'b')]).toEqual([
      ...[undefined, undefined],
      'a',
      undefined,
    ]);
    count.close(one, 'a');
    count.close(two, 'a');
    expect(count.open(two, 'a')).toBe(undefined);
  });

  it('are limited in total; a trusted proxy counts only there', () => {
    const count = new ConnectionCount(limits);
    const worker = {};
    expect(Array.from({ length: 6 }, () => count.open(worker, null))).toEqual([
      ...Array.from({ length: 5 }, () => undefined),
      null,
    ]);
    expect(count.total).toBe(6);
  });

  it('are forgotten when their worker has ended, and only those', () => {
    const count = new ConnectionCount(limits);
    const [one, two] = [{}, {}];
    for (const worker of [one, two]) for (const address of ['a', null]) count.open(worker, address);
    count.forget(one);
    expect(count.total).toBe(2);
    // A late message of the worker changes nothing.
    count.close(one, 'a');
    expect(count.total).toBe(2);
    expect([count.open(two, 'a'), count.open(two, 'a')]).toEqual([undefined, 'a']);
  });
});
