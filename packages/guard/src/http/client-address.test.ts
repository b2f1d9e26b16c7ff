import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Address, parseAddress } from '../lib/address.js';
import { AddressSet } from '../lib/address-set.js';
import { findClientAddress } from './request-facts.js';

const at = (text: string): Address => parseAddress(text) as Address;
const trusted = AddressSet.from(['10.0.0.0/8', '2001:db8:ffff::/48']);
const from = (peer: string, header: string | undefined): string =>
  findClientAddress({ address: at(peer), isTrusted: trusted.has(at(peer)) }, header, trusted).text;

describe('whose request it is', () => {
  it('is the peer, whatever the headers say, unless the peer is a trusted proxy', () => {
    // Made of addresses, mostly: what can't be read as one would not be believed anyway.
    const entry = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('198.51.100.7', '10.2.2.2', '2001:db8:ffff::1', ''));
    const headers = fc.oneof(
      fc.array(entry, { minLength: 1 }).map((entries) => entries.join(', ')),
      fc.string(),
    );
    fc.assert(
      fc.property(headers, (header) => {
        expect(from('192.0.2.1', header)).toBe('192.0.2.1');
      }),
    );
  });

  it.each([
    ['198.51.100.7', '198.51.100.7'],
    ['203.0.113.9, 198.51.100.7', '198.51.100.7'],
    ['203.0.113.9, 198.51.100.7, 10.2.2.2', '198.51.100.7'],
    ['198.51.100.7,10.2.2.2,2001:db8:ffff::1', '198.51.100.7'],
    ['10.9.9.9', '10.9.9.9'],
    ['198.51.100.7:4711', '198.51.100.7'],
    ['[2001:db8::7]:4711', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['2001:DB8::7', '2001:db8::7'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['198.51.100.7, ::ffff:10.2.2.2', '198.51.100.7'],
    ['fe80::7%eth0', 'fe80::7'],
    ['\t198.51.100.7 ', '198.51.100.7'],
  ])('behind a trusted proxy, with %j, is %s', (header, expected) => {
    expect(from('10.0.0.1', header)).toBe(expected);
  });

  it.each(['', ',', 'unknown', 'for=198.51.100.7', '198.51.100.7 10.2.2.2', '198.51.100.07', 'a.example.com'])(
    'is the proxy itself when it says %j',
    (header) => {
      expect(from('10.0.0.1', header)).toBe('10.0.0.1');
    },
  );

  it('stops at garbage: what stands left of it is not believed', () => {
    expect(from('10.0.0.1', '198.51.100.7, garbage, 10.3.3.3')).toBe('10.3.3.3');
    expect(from('10.0.0.1', '198.51.100.7,')).toBe('10.0.0.1');
  });

  it('is the proxy when it sends no header', () => {
    expect(from('10.0.0.1', undefined)).toBe('10.0.0.1');
  });
});
