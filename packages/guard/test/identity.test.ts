import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createInspection, INSPECTION_HEADER, readArrival } from '../src/wordpress/inspection.js';
import { closing, countResponses, exchange, RawClient, toBody, toStatus } from './raw-client.js';
import { recordingServer, startGateway } from './running-gateway.js';
import { scratchFolder } from './support/scratch.js';
import { SECRET } from './support/site-config.js';

const mac = (text: string): string => createHmac('sha256', SECRET).update(text).digest('hex');
const KEY = createHash('sha256').update(`security-optimizer key id\n${SECRET}`).digest('hex').slice(0, 8);

function signalFor(request: IncomingMessage): string {
  const id = String(request.headers['x-security-optimizer-guard']).split(' ')[3];
  const fields = `1 ${KEY} ${id} 7122f08107b99d22 0.1.0 -`;
  return `${fields} ${mac(`connector-signal\n${fields}`)}`;
}

describe('the client address that WordPress receives', () => {
  it('is the socket’s peer, signed, whatever the visitor claims', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    const claims = [
      'X-Forwarded-For',
      'X-Real-IP',
      'CF-Connecting-IP',
      'True-Client-IP',
      'X.Forwarded.For',
      'X_Real_IP',
    ];
    const forged = claims.map((name) => `${name}: 203.0.113.9\r\n`).join('');
    await exchange(
      gateway.port,
      closing(
        `GET / HTTP/1.1\r\n${forged}Forwarded: for=203.0.113.9\r\nX-Forwarded-Proto: https\r\nX-Security-Optimizer-Guard: 1 a\r\nX-A: b`,
      ),
    );
    const text = seen[0]?.rawHeaders.join('\n') ?? '';
    expect(text).not.toContain('203.0.113.9');
    expect(seen[0]?.headers).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-real-ip': '127.0.0.1',
      'x-forwarded-proto': 'http',
    });
    const header = seen[0]?.headers['x-security-optimizer-guard'] as string;
    const fields = header.split(' ');
    expect(fields.slice(4, 6)).toEqual(['http', '127.0.0.1']);
    expect(fields[6]).toBe(mac(`guard-request\n${fields.slice(0, 6).join(' ')}`));
  });

  it.each([
    { from: 'anybody', trustedProxies: [], trustedProxyHeaders: ['x-varnish-client-ip'], passes: false },
    { from: 'a proxy', trustedProxies: ['127.0.0.0/8'], trustedProxyHeaders: [], passes: false },
    { from: 'a proxy', trustedProxies: ['127.0.0.0/8'], trustedProxyHeaders: ['x-varnish-client-ip'], passes: true },
  ])(
    'is in no further header, X-Varnish-Client-IP and its kind, unless a trusted proxy sent it and it is configured ($from, $trustedProxyHeaders)',
    async ({ passes, ...options }) => {
      const { port, seen } = await recordingServer();
      const gateway = await startGateway(port, options);
      const names = ['X-Varnish-Client-IP', 'X-Sg-Real-Ip', 'Cdn-Real-Ip', 'True-Client-IP'];
      const forged = names.map((name) => `${name}: 203.0.113.9\r\n`).join('');
      await exchange(gateway.port, closing(`GET / HTTP/1.1\r\n${forged}X-A: b`));
      const present = names.filter((name) => seen[0]?.headers[name.toLowerCase()] !== undefined);
      expect(present).toEqual(passes ? ['X-Varnish-Client-IP'] : []);
      expect(seen[0]?.headers['x-a']).toBe('b');
    },
  );

  it('is the visitor behind a trusted proxy', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port, { trustedProxies: ['127.0.0.0/8'] });
    await exchange(
      gateway.port,
      closing(
        'GET / HTTP/1.1\r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-For: 198.51.100.7, 127.0.0.2\r\nX-Forwarded-Proto: https, http',
      ),
    );
    expect(seen[0]?.headers).toMatchObject({ 'x-forwarded-for': '198.51.100.7', 'x-forwarded-proto': 'https' });
  });

  it.each([
    ['198.51.100.7, 127.0.0.2', 'https, http', 'https'],
    ['198.51.100.7, 127.0.0.2', 'https\r\nX-Forwarded-Proto: http', 'https'],
    ['198.51.100.7, 127.0.0.2', 'http, https', 'http'],
    ['198.51.100.7, 127.0.0.2', 'https, ', 'https'],
    ['198.51.100.7, 127.0.0.2', '\r\nX-Forwarded-Proto: https', 'https'],
    ['198.51.100.7, 127.0.0.2', '"https"', 'https'],
    ['198.51.100.7, 127.0.0.2', 'HTTPS', 'https'],
    ['198.51.100.7, 127.0.0.2', 'https,https', 'https'],
    ['198.51.100.7', 'https, http', 'http'],
    ['198.51.100.7', 'https\r\nX-Forwarded-Proto: http', 'http'],
    ['198.51.100.7, 203.0.113.9', 'https, http', 'http'],
  ])('has the scheme of the same hop: for %j with %j it is %s', async (chain, schemes, scheme) => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port, { trustedProxies: ['127.0.0.0/8'] });
    const forwarded = `X-Forwarded-For: ${chain}\r\nX-Forwarded-Proto: ${schemes}`;
    await exchange(gateway.port, closing(`GET / HTTP/1.1\r\n${forwarded}`));
    expect(seen[0]?.headers['x-forwarded-proto']).toBe(scheme);
    // The command line gets the same scheme, and peers that are not trusted proxies are ignored.
    const { header, nonce } = createInspection(SECRET, Date.now());
    const inspected = closing(`GET / HTTP/1.1\r\n${INSPECTION_HEADER}: ${header}\r\n${forwarded}`);
    expect(readArrival(SECRET, nonce, toBody(await exchange(gateway.port, inspected)))).toMatchObject({ scheme });
    const open = await startGateway(port);
    await exchange(open.port, closing(`GET / HTTP/1.1\r\n${forwarded}`));
    expect(seen[1]?.headers['x-forwarded-proto']).toBe('http');
  });

  it('has that scheme behind the proxies of a site, and in the log of refused requests', async () => {
    const { port, seen } = await recordingServer();
    const upstream = `http://127.0.0.1:${port}`;
    const sites = [{ id: 'site', hosts: ['*'], upstream, trustedProxies: ['192.0.2.0/24'] }];
    const gateway = await startGateway(port, { trustedProxies: ['127.0.0.1'], sites });
    const send = (schemes: string) =>
      exchange(
        gateway.port,
        closing(`GET /wp-admin HTTP/1.1\r\nX-Forwarded-For: 198.51.100.7, 192.0.2.1\r\nX-Forwarded-Proto: ${schemes}`),
      );
    await send('https, http');
    await send('http, https');
    gateway.rule({ blocked: ['198.51.100.7'] });
    await send('https, http');
    await send('http, https');
    expect(seen.map(({ headers }) => headers['x-forwarded-proto'])).toEqual(['https', 'http']);
    const origins = ['https://example.com', 'http://example.com'];
    expect(gateway.origins).toEqual([...origins, ...origins]);
  });

  it('is the visitor’s behind a proxy of one site, at that site only', async () => {
    const { port, seen } = await recordingServer();
    const upstream = `http://127.0.0.1:${port}`;
    const gateway = await startGateway(port, {
      sites: [
        { id: 'one', hosts: ['one.example'], upstream, trustedProxies: ['127.0.0.1', '192.0.2.0/24'] },
        { id: 'two', hosts: ['two.example'], upstream },
      ],
    });
    const named = 'X-Forwarded-For: 198.51.100.7, 192.0.2.1\r\nX-Forwarded-Proto: https';
    for (const host of ['one.example', 'two.example']) {
      await exchange(gateway.port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${named}\r\n\r\n`);
    }
    expect(seen.map(({ headers }) => [headers['x-forwarded-for'], headers['x-forwarded-proto']])).toEqual([
      ['198.51.100.7', 'https'],
      ['127.0.0.1', 'http'],
    ]);
  });

  it('is the visitor’s behind a proxy of one site that connects through one of the machine', async () => {
    const { port, seen } = await recordingServer();
    const upstream = `http://127.0.0.1:${port}`;
    const gateway = await startGateway(port, {
      trustedProxies: ['127.0.0.1'],
      sites: [
        { id: 'one', hosts: ['one.example'], upstream, trustedProxies: ['192.0.2.0/24'] },
        { id: 'two', hosts: ['two.example'], upstream },
      ],
    });
    const named = 'X-Forwarded-For: 198.51.100.7, 192.0.2.1';
    for (const host of ['one.example', 'two.example']) {
      await exchange(gateway.port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${named}\r\n\r\n`);
    }
    expect(seen.map(({ headers }) => headers['x-forwarded-for'])).toEqual(['198.51.100.7', '192.0.2.1']);
  });

  it('is refused behind a trusted proxy when the owner blocked it', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port, { trustedProxies: ['127.0.0.1'] });
    gateway.rule({ blocked: ['198.51.100.7'] });
    expect(toStatus(await exchange(gateway.port, closing('GET / HTTP/1.1\r\nX-Forwarded-For: 198.51.100.7')))).toBe(
      403,
    );
    expect(toStatus(await exchange(gateway.port, closing('GET / HTTP/1.1\r\nX-Forwarded-For: 198.51.100.8')))).toBe(
      200,
    );
    expect(seen).toHaveLength(1);
  });
});

describe('the connector’s signal', () => {
  it.each([
    ['once', (request: IncomingMessage) => [signalFor(request)], 'ok'],
    ['twice', (request: IncomingMessage) => [signalFor(request), signalFor(request)], 'invalid'],
    ['for another request', () => ['1 00000000 ffffffffffffffff - 0.1.0 - aa'], 'other_secret'],
    ['with another key', () => ['1 ffffffff'], 'other_secret'],
    ['nonsense', () => ['<script>'], 'invalid'],
    ['nothing', () => [], 'missing'],
  ])('sent %s is read and never reaches the visitor', async (_how, values, kind) => {
    const { port } = await recordingServer((request, response) => {
      const named = values(request).flatMap((value) => ['x-Security-optimizer-SIGNAL', value]);
      response.writeHead(200, ['Content-Length', '2', ...named, 'X-Security-Optimizer-Other', 'a']);
      response.end('ok');
    });
    const gateway = await startGateway(port);
    expect(await exchange(gateway.port, closing('GET / HTTP/1.1'))).not.toMatch(/security-optimizer/i);
    expect(gateway.signals).toMatchObject([{ kind }]);
  });
});

describe('guard’s API routes', () => {
  it.each([
    '/wp-json/security-optimizer/v1/fetch-options',
    '/?rest_route=/security-optimizer/v1/fetch-options',
    '/?rest[route=/security-optimizer/v1/fetch-options',
    '/index.php?rest_route=%2Fsecurity-optimizer%2Fv1/fetch-options/',
    '/index.php/wp-json//Security-Optimizer/v1/fetch-options',
    '/wp-json/provider-settings/v1/update-settings',
  ])('are handled by guard: %s', async (target) => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    expect(await exchange(gateway.port, closing(`GET ${target} HTTP/1.1`))).toMatch(/\r\n\r\napi$/);
    expect(seen).toEqual([]);
  });

  it.each([
    '/wp-json/security-optimizer-connector/v1/hello',
    '/?rest_route=/security-optimizer-connector/v1/policy',
    '/?rest.route=/security-optimizer-connector/v1/policy',
    '/?rest[route=/security-optimizer-connector/v1/policy',
    '/index.php/wp-json/security-optimizer-connector/v1',
  ])('exclude the connector’s commands, which do not exist for visitors: %s', async (target) => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    gateway.rule({ options: { xss_protection: 1 } });
    const received = await exchange(gateway.port, closing(`POST ${target} HTTP/1.1`));
    expect(toStatus(received)).toBe(404);
    expect(received).toContain('"rest_no_route"');
    expect(received).toContain('X-Content-Type-Options: nosniff');
    expect(seen).toEqual([]);
  });
});

describe('several sites', () => {
  it('are distinguished by the host, whatever its case, port or final dot', async () => {
    const one = await recordingServer();
    const two = await recordingServer();
    const gateway = await startGateway(one.port, {
      sites: [
        { id: 'one', hosts: ['one.example.com', 'www.one.example.com'], upstream: `http://127.0.0.1:${one.port}` },
        { id: 'two', hosts: ['two.example.com'], upstream: `http://127.0.0.1:${two.port}` },
      ],
    });
    const send = async (host: string): Promise<number> =>
      toStatus(await exchange(gateway.port, `GET /${host} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`));
    for (const host of ['one.example.com', 'WWW.one.example.com:80', 'one.example.com.'])
      expect(await send(host)).toBe(200);
    expect(await send('TWO.example.com.:8080')).toBe(200);
    expect(await send('three.example.com')).toBe(404);
    expect(one.seen.map(({ url }) => url)).toEqual([
      '/one.example.com',
      '/WWW.one.example.com:80',
      '/one.example.com.',
    ]);
    expect(two.seen).toHaveLength(1);
  });

  it.each([
    ['TCP', { host: '127.0.0.1', port: 0 }, '127.0.0.1'],
    ['a Unix socket', { path: '' }, 'unix'],
  ])('follows a changed list of trusted proxies on a connection over %s that is open', async (_what, listen, proxy) => {
    const { port, seen } = await recordingServer();
    const path = 'path' in listen ? join(await scratchFolder(), 'guard.sock') : null;
    const gateway = await startGateway(port, { listen: path === null ? listen : { path } });
    const client = new RawClient(path ?? gateway.port);
    const get = async (count: number) => {
      client.send('GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 198.51.100.7\r\nX-Forwarded-Proto: https\r\n\r\n');
      await client.until((text) => countResponses(text) === count);
    };
    await get(1);
    gateway.trust([proxy]);
    await get(2);
    gateway.trust(['203.0.113.0/24']);
    await get(3);
    expect(seen.map(({ headers }) => [headers['x-forwarded-for'], headers['x-forwarded-proto']])).toEqual([
      ['127.0.0.1', 'http'],
      ['198.51.100.7', 'https'],
      ['127.0.0.1', 'http'],
    ]);
  });
});
