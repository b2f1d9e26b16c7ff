import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { networkKey } from './address.js';
import { Shares } from './shares.js';

function createShares(keys: readonly string[]): Shares {
  const shares = new Shares(networkKey);
  for (const key of keys) shares.add(key);
  return shares;
}

describe('the network of an address', () => {
  it.each([
    ['192.0.2.7', '192.0.2'],
    ['2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:db8:1:ffff::/64', '2001:db8:1::/48'],
    ['2001:db8::/64', '2001:db8::/48'],
    ['something else', 'something else'],
  ])('%s is %s', (key, network) => {
    expect(networkKey(key)).toBe(network);
  });
});

describe('the key that has to release something', () => {
  it.each([
    ['none when no address has permits', [], '192.0.2.1', null],
    ['none when all addresses have the same number', ['192.0.2.1', '198.51.100.1'], '203.0.113.1', null],
    ['the address with the most permits', ['192.0.2.1', '192.0.2.1', '198.51.100.1'], '203.0.113.1', '192.0.2.1'],
    [
      'an address of the network with the most permits, not the single address with the most',
      ['192.0.2.1', '192.0.2.2', '192.0.2.3', '198.51.100.1', '198.51.100.1'],
      '203.0.113.1',
      '192.0.2.3',
    ],
    [
      'an address of the same network with more permits',
      ['192.0.2.1', '192.0.2.1', '192.0.2.2'],
      '192.0.2.3',
      '192.0.2.1',
    ],
    ['none for the address with the most permits', ['192.0.2.1', '192.0.2.1', '198.51.100.1'], '192.0.2.1', null],
    [
      'an IPv6 network by its /48',
      ['2001:db8:1:1::/64', '2001:db8:1:2::/64', '2001:db8:2:1::/64'],
      '192.0.2.1',
      '2001:db8:1:2::/64',
    ],
  ])('%s', (_who, held, newcomer, expected) => {
    expect(createShares(held).largest(newcomer)).toBe(expected);
  });

  it('never holds less than the newcomer afterwards, and keys that hold nothing take no memory', () => {
    const key = fc.constantFrom('192.0.2.1', '192.0.2.2', '198.51.100.1', '198.51.100.2', '203.0.113.1');
    fc.assert(
      fc.property(fc.array(fc.record({ key, adds: fc.boolean() })), key, (steps, newcomer) => {
        const shares = new Shares(networkKey);
        const held = new Map<string, number>();
        for (const { key: name, adds } of steps) {
          const count = held.get(name) ?? 0;
          if (adds) shares.add(name);
          else shares.delete(name);
          held.set(name, Math.max(0, count + (adds ? 1 : -1)));
        }
        for (const [name, count] of held) expect(shares.count(name)).toBe(count);
        const ofNetwork = (name: string): number =>
          [...held].reduce((sum, [other, count]) => sum + (networkKey(other) === networkKey(name) ? count : 0), 0);
        const largest = shares.largest(newcomer);
        if (largest !== null && networkKey(largest) === networkKey(newcomer)) {
          expect(held.get(largest)).toBeGreaterThan((held.get(newcomer) ?? 0) + 1);
        } else if (largest !== null) {
          expect(ofNetwork(largest)).toBeGreaterThan(ofNetwork(newcomer) + 1);
        }
        for (const [name, count] of held) for (let i = 0; i < count; i++) shares.delete(name);
        expect(shares.largest(newcomer)).toBeNull();
      }),
    );
  });
});
