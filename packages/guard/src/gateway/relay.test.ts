import { describe, expect, it } from 'vitest';
import { parseAddress } from '../lib/address.js';
import { TrustedProxies } from './peer.js';
import { type ForwardedLogin, printOrigin, readOrigin, takeRelayHeader, toRelayedHeaders } from './relay.js';

const KEY = 'ab'.repeat(32);
const address = (text: string) => {
  const parsed = parseAddress(text);
  if (parsed === null) throw new Error(text);
  return parsed;
};

describe('the other end of a connection, as another process learns it', () => {
  const trusted = new TrustedProxies(['192.0.2.1', 'unix']);

  it.each([
    ['a visitor', trusted.toPeer(address('203.0.113.7'))],
    ['a trusted proxy', trusted.toPeer(address('192.0.2.1'))],
    ['an IPv6 address that carries another one', trusted.toPeer(address('64:ff9b::c633:6409'))],
    ['a program on guard’s Unix socket', trusted.unixPeer],
    [
      'a visitor whom a PROXY header names, by https',
      {
        ...trusted.toPeer(address('203.0.113.7')),
        scheme: 'https' as const,
        headerFrom: trusted.unixPeer.address,
      },
    ],
  ])('is the same: %s', (_name, peer) => {
    const origin = readOrigin(KEY, printOrigin(KEY, '1.1', peer));
    expect(origin && trusted.toRelayedPeer(origin)).toEqual(peer);
  });

  it('includes the version of HTTP, and a login that needs a second factor', () => {
    const peer = trusted.toPeer(address('203.0.113.7'));
    const forwarded = { factor: { id: 7, login: 'mia é' }, withheld: { status: 302, headers: ['Location', '/'] } };
    const origin = readOrigin(KEY, printOrigin(KEY, '1.0', peer, forwarded as unknown as ForwardedLogin));
    expect(origin).toMatchObject({ httpVersion: '1.0', forwarded });
  });

  it.each([
    undefined,
    '',
    `${KEY} 1.1 http 203.0.113.7 -`,
    `${KEY} 1.1 http 203.0.113.7 - - -`,
    `${KEY} 2 http 203.0.113.7 - -`,
    `${KEY} 1.1 ftp 203.0.113.7 - -`,
    `${'cd'.repeat(32)} 1.1 http 203.0.113.7 - -`,
    ' 1.1 http 203.0.113.7 - -',
  ])('is not believed in another form, or without the key: %s', (value) => {
    expect(readOrigin(KEY, value)).toBeNull();
  });
});

describe('a relayed request', () => {
  const relayed = (method: string, ...rawHeaders: string[]) => toRelayedHeaders({ method, rawHeaders }, 'origin');

  it('has the headers of the client in their order and spelling, without those of its connection', () => {
    expect(relayed('GET', 'host', 'example.com', 'X-One', '1', 'Connection', 'close', 'x-one', '2')).toEqual([
      ...['host', 'example.com', 'X-One', '1', 'x-one', '2'],
      ...['Connection', 'keep-alive', 'x-security-optimizer-relayed', 'origin'],
    ]);
  });

  it('still lists headers that the client wants removed, but no other protocol', () => {
    const listed = relayed('GET', 'Connection', 'X-Hop, upgrade', 'connection', 'Close', 'X-Hop', 'a');
    expect(listed.slice(0, 4)).toEqual(['X-Hop', 'a', 'Connection', 'X-Hop, keep-alive']);
  });

  it.each([
    ['POST', [], 'Content-Length', '0'],
    ['POST', ['Content-Length', '5'], 'Content-Length', '5'],
    ['POST', ['Transfer-Encoding', 'chunked'], 'Transfer-Encoding', 'chunked'],
  ] as const)('has the body that the client sends: %s %s', (method, rawHeaders, name, value) => {
    const headers = relayed(method, ...rawHeaders);
    expect(headers[headers.indexOf(name) + 1]).toBe(value);
    expect(headers.filter((each) => /^(?:content-length|transfer-encoding)$/i.test(each))).toHaveLength(1);
  });

  it('has no header that claims to come from a worker but guard’s own, once it has arrived', () => {
    const rawHeaders = ['Host', 'a', 'X-Security-Optimizer-Relayed', 'forged', 'x-security-optimizer-relayed', 'own'];
    const headers = { host: 'a', 'x-security-optimizer-relayed': 'forged, own' };
    const request = { rawHeaders, headers } as unknown as Parameters<typeof takeRelayHeader>[0];
    expect(takeRelayHeader(request)).toBe('own');
    expect([request.rawHeaders, Object.keys(request.headers)]).toEqual([['Host', 'a'], ['host']]);
    expect(relayed('GET', 'x-Security-optimizer-relayed', 'forged')).not.toContain('forged');
  });
});
