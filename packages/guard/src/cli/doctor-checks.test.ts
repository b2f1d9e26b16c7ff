import { describe, expect, it } from 'vitest';
import type { Arrival } from '../wordpress/inspection.js';
import { checkClock, checkDirectRequests, checkDisk, checkPolicy } from './doctor-checks.js';
import {
  checkCache,
  checkCertificate,
  checkClientAddress,
  checkHttps,
  checkPublicAddress,
  checkScheme,
  findCacheEvidence,
} from './doctor-visit-checks.js';

const NOW = Date.UTC(2026, 0, 1);
const DAY = 24 * 3600_000;

/** A visit through a trusted proxy on this machine. */
const arrived = (change: Partial<Arrival> = {}): Arrival => ({
  version: '0.1.0',
  client: '198.51.100.7',
  peer: '127.0.0.1',
  peerPort: 40_000,
  isPeerTrusted: true,
  scheme: 'https',
  host: 'example.com',
  forwardedFor: '198.51.100.7',
  forwardedProto: 'https',
  refusedBy: null,
  ...change,
});

const seenFrom = (change: Partial<Arrival>, own = { address: '198.51.100.7', port: 50_000 }) =>
  checkClientAddress({ arrival: arrived(change), own }, null, {
    proxyProtocol: false,
    ownAddresses: new Set(['127.0.0.1', '10.0.0.5']),
  });

describe('the client address', () => {
  it.each([
    ['a trusted proxy that names a public visitor', {}, 'ok'],
    ['a trusted proxy that names this machine', { client: '10.0.0.5', forwardedFor: '10.0.0.5' }, 'ok'],
    ['a trusted proxy behind another one', { client: '10.0.0.9', forwardedFor: '10.0.0.9' }, 'warning'],
    ['no proxy', { peer: '198.51.100.7', peerPort: 50_000, isPeerTrusted: false, forwardedFor: null }, 'ok'],
    ['an untrusted proxy of a CDN', { peer: '203.0.113.4', isPeerTrusted: false }, 'problem'],
    ['an address of its own after NAT', { peer: '203.0.113.4', isPeerTrusted: false, forwardedFor: null }, 'ok'],
  ] as const)('behind %s', (_which, change, state) => {
    expect(seenFrom(change).state).toBe(state);
  });

  it('may be forged by this machine itself, which is a trusted proxy', () => {
    const own = { address: '127.0.0.1', port: 40_000 };
    const seen = { arrival: arrived({ client: '127.0.0.1', forwardedFor: null }), own };
    const options = { proxyProtocol: false, ownAddresses: new Set<string>() };
    expect(
      checkClientAddress(seen, arrived({ client: '192.0.2.123', forwardedFor: '192.0.2.123' }), options).state,
    ).toBe('ok');
  });

  it.each([
    // What guard received with the forged header, and without it.
    ['passes it on', '192.0.2.123', null, 'client-forgeable'],
    ['passes it on from another network', '192.0.2.123', '203.0.113.4', 'client-forgeable'],
    ['believes this machine', '192.0.2.123', '10.0.0.5', 'client-forgeable-here'],
    ['adds this machine, which guard trusts', '192.0.2.123, 10.0.0.5', '10.0.0.5', null],
    ['adds this machine in its other form', '192.0.2.123,::ffff:127.0.0.1', '127.0.0.1', null],
    ['adds an address that guard trusts for everybody', '192.0.2.123, 172.17.0.1', '172.17.0.1', 'client-forgeable'],
  ] as const)('is chosen by visitors or not, where the proxy %s', (_which, forgedFor, plainFor, code) => {
    const own = { address: '10.0.0.5', port: 50_000 };
    const seen = { arrival: arrived({ client: plainFor ?? '127.0.0.1', forwardedFor: plainFor }), own };
    const forged = arrived({ client: '192.0.2.123', forwardedFor: forgedFor });
    const options = { proxyProtocol: false, ownAddresses: new Set(['127.0.0.1', '10.0.0.5']) };
    expect(checkClientAddress(seen, forged, options).code).toBe(code);
  });

  it('of the PROXY protocol needs no header', () => {
    const seen = {
      arrival: arrived({ client: '10.0.0.9', peer: '10.0.0.9', isPeerTrusted: false, forwardedFor: null }),
      own: { address: '10.0.0.9', port: 1 },
    };
    expect(checkClientAddress(seen, null, { proxyProtocol: true, ownAddresses: new Set() }).state).toBe('ok');
  });
});

describe('a certificate', () => {
  it.each([
    [{ fault: null, validUntil: NOW + 15 * DAY }, 'ok'],
    [{ fault: null, validUntil: NOW + 13 * DAY }, 'warning'],
    [{ fault: null, validUntil: NOW - DAY }, 'problem'],
    [{ fault: 'CERT_HAS_EXPIRED', validUntil: NOW - DAY }, 'problem'],
    [null, 'skipped'],
  ])('%j is %s', (certificate, state) => {
    expect(checkCertificate(certificate, NOW).state).toBe(state);
  });
});

describe('a cached response', () => {
  it.each([
    ['Age', '17'],
    ['CF-Cache-Status', 'HIT'],
    ['X-Cache', 'HIT from cache.example.com'],
    ['X-Cache-Status', 'STALE'],
    ['X-Varnish', '3 32770'],
    ['Cache-Status', 'ExampleCache; hit; ttl=30'],
  ])('is detected by %s: %s', (name, value) => {
    expect(findCacheEvidence([[name, value]])).toBe(`${name}: ${value}`);
  });

  it.each([
    ['Age', '0'],
    ['CF-Cache-Status', 'DYNAMIC'],
    ['X-Cache', 'MISS'],
    ['X-Varnish', '32770'],
    ['Cache-Status', 'ExampleCache; fwd=miss'],
  ])('is not detected by %s: %s', (name, value) => {
    expect(findCacheEvidence([[name, value]])).toBeNull();
  });

  it('behind guard is a warning for the login, and none for other pages', () => {
    const page = { reachedGuard: true, headers: [['X-Cache', 'HIT']] as const };
    expect(checkCache([{ ...page, path: '/', isPrivate: false }]).state).toBe('ok');
    expect(checkCache([{ ...page, path: '/wp-login.php', isPrivate: true }])).toMatchObject({
      state: 'warning',
      message: 'A cache keeps /wp-login.php (X-Cache: HIT).',
    });
  });

  it('in front that gives every visitor the same cookies is reported', () => {
    const headers = [['Set-Cookie', 'cart=1']] as const;
    expect(checkCache([{ path: '/', isPrivate: false, reachedGuard: false, headers }]).message).toContain(
      'everybody gets the same cookies',
    );
  });
});

describe('direct requests', () => {
  const judge = (php: number, page = 403, requireGuard = true, cachePastGuard: string | null = null) =>
    checkDirectRequests({ requireGuard, cachePastGuard }, { php: { status: php }, page: { status: page } }, 'Next.')
      .state;

  it('are refused by the connector, or by a password of the web server', () => {
    expect([judge(403), judge(401), judge(403, 403, false)]).toEqual(['ok', 'ok', 'ok']);
  });

  it('are answered, by WordPress or by a cache behind guard', () => {
    expect([judge(404), judge(200), judge(403, 200, true, '192.0.2.7:80'), judge(200, 200, false)]).toEqual([
      ...['problem', 'problem', 'warning', 'warning'],
    ]);
    // The cache answers only this machine.
    expect(judge(403, 200)).toBe('ok');
  });

  it('are not judged when the web server redirects or fails', () => {
    expect([judge(301), judge(502)]).toEqual(['skipped', 'skipped']);
    const php = { fault: 'nothing listens there' };
    expect(checkDirectRequests({ requireGuard: true, cachePastGuard: null }, { php, page: php }, 'Next.').state).toBe(
      'skipped',
    );
  });
});

it('clocks may differ by half a minute; beyond a minute no signature is accepted', () => {
  expect([0, 29, -31, 59, -62, null].map((ahead) => checkClock(ahead).state)).toEqual([
    ...['ok', 'ok', 'warning', 'warning', 'problem', 'skipped'],
  ]);
});

it('the disk needs a gigabyte, and less than a tenth of that is a problem', () => {
  const megabytes = [2000, 500, 50].map((count) => checkDisk(count * 1024 * 1024));
  expect(megabytes.map(({ state }) => state)).toEqual(['ok', 'warning', 'problem']);
  expect(megabytes[1]?.message).toBe('Only 500 MB are free on the disk of the data folder.');
  expect(checkDisk(null).state).toBe('skipped');
});

it('http must redirect to https, or not be answered', () => {
  const judge = (plain: Parameters<typeof checkHttps>[1]) => checkHttps('https://example.com', plain).state;
  expect(judge({ status: 308, location: 'https://example.com/' })).toBe('ok');
  expect(judge({ fault: 'nothing listens there' })).toBe('ok');
  expect(judge({ status: 302, location: 'http://example.com/login' })).toBe('warning');
});

it('a scheme that differs is a problem at a site with https only', () => {
  const states = [
    checkScheme('https://example.com', arrived({ scheme: 'http' })),
    checkScheme('http://example.com', arrived()),
    checkScheme('http://example.com', arrived({ scheme: 'http' })),
  ].map(({ state }) => state);
  expect(states).toEqual(['problem', 'warning', 'ok']);
});

it('a pause is a problem whatever WordPress enforces', () => {
  expect(checkPolicy(true, '2026-01-01T00:00:00.000Z').state).toBe('problem');
  expect(checkPolicy(null, null).state).toBe('skipped');
});

it('an address whose visits WordPress refuses leads past guard', () => {
  expect(checkPublicAddress('https://example.com', { by: 'wordpress', refuses: true })).toMatchObject({
    state: 'problem',
    message: expect.stringContaining('refuses its visitors with 403'),
  });
  const refused = checkPublicAddress('https://example.com', {
    by: 'guard',
    arrival: arrived({ refusedBy: 'blocked-visitor' }),
  });
  expect(refused).toMatchObject({ state: 'ok', message: expect.stringContaining('blocked-visitor') });
});
