import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Address, parseAddress } from '../lib/address.js';
import { AddressSet } from '../lib/address-set.js';
import { findClient, findScheme, joinLines, readForwardedScheme } from './client-address.js';

const at = (text: string): Address => parseAddress(text) as Address;
const trusted = AddressSet.from(['10.0.0.0/8', '2001:db8:ffff::/48']);
const from = (peer: string, header: string | undefined): string =>
  findClient({ address: at(peer), isTrusted: trusted.has(at(peer)) }, header, trusted).address.text;

describe('the client address of a request', () => {
  it('is the peer, whatever the headers say, unless the peer is a trusted proxy', () => {
    // Mostly addresses: an entry that is not an address is never trusted anyway.
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
    'is the proxy itself when the header is %j',
    (header) => {
      expect(from('10.0.0.1', header)).toBe('10.0.0.1');
    },
  );

  it('is not read from entries to the left of an invalid one', () => {
    expect(from('10.0.0.1', '198.51.100.7, garbage, 10.3.3.3')).toBe('10.3.3.3');
    expect(from('10.0.0.1', '198.51.100.7,')).toBe('10.0.0.1');
  });

  it.each([
    ['64:ff9b::198.51.100.7', '198.51.100.7'],
    ['[2002:c633:6407::1]:4711', '198.51.100.7'],
    ['203.0.113.9, 2001:0:203:4:0:1:39cc:9bf8', '198.51.100.7'],
    ['64:ff9b::198.51.100.7, 10.2.2.2', '198.51.100.7'],
    // A carried address makes no client a trusted proxy or an address of this machine.
    ['203.0.113.9, 64:ff9b::10.2.2.2', '64:ff9b::a02:202'],
    ['203.0.113.9, 2002:a02:202::1', '2002:a02:202::1'],
    ['203.0.113.9, 64:ff9b::127.0.0.1', '64:ff9b::7f00:1'],
  ])('is a carried address only at the client itself: %j is %s', (header, expected) => {
    expect(from('10.0.0.1', header)).toBe(expected);
  });

  it('is the address that the peer’s address carries, which does not make the peer a proxy', () => {
    expect(from('2002:c633:6407::1', '203.0.113.9')).toBe('198.51.100.7');
    expect(from('64:ff9b::10.0.0.1', '203.0.113.9')).toBe('64:ff9b::a00:1');
    expect(from('2002:a00:1::1', '203.0.113.9')).toBe('2002:a00:1::1');
  });

  it('is the proxy when it sends no header', () => {
    expect(from('10.0.0.1', undefined)).toBe('10.0.0.1');
  });
});

describe('the scheme of a request', () => {
  /**
   * The scheme of a visitor at 203.0.113.9 behind this many trusted proxies, each of which appends the address of its
   * client.
   */
  const schemeBehind = (proxies: number, forwardedProto: string | undefined) => {
    const chain = ['203.0.113.9', '10.0.0.5', '10.0.0.6', '10.0.0.7'].slice(0, proxies);
    return getScheme('10.0.0.1', chain.join(', '), forwardedProto);
  };
  const getScheme = (peer: string, forwardedFor: string | undefined, forwardedProto: string | undefined) =>
    findScheme(
      { address: at(peer), isTrusted: trusted.has(at(peer)), scheme: 'http' },
      {
        ...(forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }),
        ...(forwardedProto === undefined ? {} : { 'x-forwarded-proto': forwardedProto }),
      },
      trusted,
    );

  it.each([
    [1, 'https', 'https'],
    [1, 'HTTPS', 'https'],
    [1, '"https"', 'https'],
    [1, ' " Https " ', 'https'],
    [1, 'https,https', 'https'],
    [1, 'https, ', 'https'],
    [1, 'http', 'http'],
    // Values to the left of the proxy's own one come from the client.
    [1, 'https, http', 'http'],
    [1, 'https, https, http', 'http'],
    [1, ', https, , http', 'http'],
    [1, 'http, https', 'https'],
    [2, 'https, http', 'https'],
    [2, 'https,http', 'https'],
    [2, 'http, https', 'http'],
    [2, 'https, ', 'https'],
    [2, ', https, http', 'https'],
    [2, '"https", "http"', 'https'],
    [2, 'HTTPS , HTTP', 'https'],
    [2, 'https, http, http', 'http'],
    [2, 'http, https, http', 'https'],
    // One value that the outermost proxy set and the others passed on.
    [2, 'https', 'https'],
    [3, 'https', 'https'],
    [3, 'https, http', 'https'],
    [3, 'http, https', 'http'],
    [3, 'https, http, http', 'https'],
    [3, 'http, https, https', 'http'],
    [4, 'http, https, http, http, http', 'https'],
    // Values that are neither of the two schemes.
    ...[
      '',
      ',',
      'wss',
      'on',
      'https://',
      '"https',
      'https"',
      "'https'",
      'https;',
      'h ttps',
      'https http',
      '""',
      '"',
    ].map((value): [number, string, string] => [1, value, 'http']),
  ])('behind %i trusted proxies, with %j, is %s', (proxies, value, scheme) => {
    expect(schemeBehind(proxies as number, value as string)).toBe(scheme);
  });

  it('is that of the connection unless a trusted proxy names another', () => {
    expect(getScheme('192.0.2.1', undefined, 'https')).toBe('http');
    expect(getScheme('64:ff9b::10.0.0.1', undefined, 'https')).toBe('http');
    expect(schemeBehind(1, undefined)).toBe('http');
    expect(readForwardedScheme(undefined, 0, 'https')).toBe('https');
  });

  it('is that of the proxy that named the client, also when the chain ends earlier', () => {
    expect(getScheme('10.0.0.1', undefined, 'https, http')).toBe('http');
    expect(getScheme('10.0.0.1', 'unknown', 'https, http')).toBe('http');
    expect(getScheme('10.0.0.1', '203.0.113.9, unknown, 10.0.0.5', 'https, http, http')).toBe('http');
    expect(getScheme('10.0.0.1', '203.0.113.9, 198.51.100.7', 'https, http')).toBe('http');
    expect(getScheme('10.0.0.1', '10.0.0.9, 10.0.0.5', 'https, http')).toBe('https');
  });

  it('can never be claimed by a client whose proxies add their own values', () => {
    const member = fc.constantFrom('https', 'http', '', '"https"', 'HTTPS', ' ', ',', '10.0.0.5');
    fc.assert(
      fc.property(fc.array(member), fc.array(member), fc.integer({ min: 1, max: 3 }), (proto, names, proxies) => {
        const own = Array.from({ length: proxies }, () => 'http');
        const hops = ['203.0.113.9', '10.0.0.5', '10.0.0.6'].slice(0, proxies);
        expect(getScheme('10.0.0.1', [...names, ...hops].join(), [...proto, ...own].join())).toBe('http');
      }),
    );
  });

  it('is read from several header lines as one list', () => {
    expect(joinLines(['https', 'http'])).toBe('https,http');
    expect(schemeBehind(2, joinLines(['https', 'http']))).toBe('https');
    expect(joinLines('https')).toBe('https');
    expect(joinLines(undefined)).toBeUndefined();
  });
});
