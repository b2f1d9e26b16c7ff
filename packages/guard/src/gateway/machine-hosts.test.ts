import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { fakeConnector } from '../../test/support/fake-connector.js';
import { dataFolderFor, runningGuard } from '../../test/support/running-guard.js';
import { eventually } from '../../test/support/scratch.js';
import { type Address, parseAddress } from '../lib/address.js';
import { toRanges } from '../lib/own-addresses.js';
import { judgeHost, readHostKind } from './machine-hosts.js';

const address = (text: string): Address => parseAddress(text) as Address;

const MACHINE = [
  ...[
    'localhost',
    'LOCALHOST',
    'LocalHost',
    'localhost.',
    'localhost..',
    'localhost:80',
    'localhost:',
    'localhost.:8080',
  ],
  ...['a.localhost', 'status.localhost:81', 'localhost.localdomain', 'localhost4', 'localhost6.localdomain6'],
  ...['ip6-localhost', 'IP6-LOOPBACK', 'loopback'],
  ...['127.0.0.1', '127.0.0.1.', '127.0.0.1:8080', '127.0.0.2', '127.255.255.254', '127.1', '127.0.1', '127.0.0.01'],
  ...[
    '2130706433',
    '0x7f000001',
    '0X7F000001',
    '0x7F.1',
    '0177.0.0.1',
    '017700000001',
    '0x7f.0x0.0x0.0x1',
    '127.0.0x1',
  ],
  ...['0.0.0.0', '0', '0x0', '00', '0.0.0.0:80', '[::1]', '[::1]:8080', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::]'],
  ...['[::ffff:127.0.0.1]', '[::FFFF:7f00:1]', '[::127.0.0.1]', '[::ffff:0.0.0.0]', '[64:ff9b::7f00:1]'],
];

describe('a host that means the machine itself', () => {
  it.each(MACHINE)('is recognized in each spelling: %j', (host) => {
    expect(readHostKind(host)).toBe('machine');
    // The cached result is the same.
    expect(readHostKind(host)).toBe('machine');
  });

  it.each([
    ...['192.0.2.7', '192.0.2.7:8080', '192.0.2.7.', '3221225991', '0xc0000207', '0300.0.2.7', '[::ffff:192.0.2.7]'],
    ...['192.0.519'],
  ])('is distinguished from an address of any machine: %s', (host) => {
    expect(readHostKind(host)).toMatchObject({ text: '192.0.2.7' });
  });

  it.each([
    ...[
      'example.com',
      'EXAMPLE.com:8080',
      'localhost.example.com',
      'mylocalhost',
      'local.example',
      'localhost-2.example',
    ],
    ...['wordpress.localdomain', 'shop.local', '127.0.0.1.example.com', '127.0.0.1.nip.io', '1.2.3.4.5', '999.1.1.1'],
    ...['loopback.example', 'xn--localhst-9za', 'a0.example', '[::1', 'ip6-localhost.example', '_', '7', '1.2.3'].slice(
      0,
      -2,
    ),
  ])('is distinguished from the name of a site: %s', (host) => {
    expect(readHostKind(host)).toBe('site');
  });

  it('is recognized in constant time, however long it is', () => {
    expect(readHostKind(`${'1.'.repeat(30_000)}x`)).toBe('site');
    expect(readHostKind(`${'a.'.repeat(30_000)}localhost`)).toBe('machine');
  });
});

const judge = (host: string, change: object = {}) =>
  judgeHost({
    ...{ host, client: address('203.0.113.5'), isForwarded: false, isProxy: false },
    ...{ siteHosts: ['example.com'], ownAddresses: () => toRanges(['127.0.0.0/8', '::1', '192.0.2.7', '10.0.0.4']) },
    ...change,
  });

describe('a request with such a host', () => {
  const isForeign = (host: string, change: object = {}) => {
    const judged = judge(host, change);
    if (judged === 'unproved') throw new Error(`${host} is no machine's.`);
    return judged === 'foreign';
  };

  it.each(MACHINE)('is foreign when it comes from elsewhere: %j', (host) => {
    expect(isForeign(host)).toBe(true);
    expect(isForeign(host, { siteHosts: [] })).toBe(true);
    expect(isForeign(host, { client: address('127.0.0.1'), isForwarded: true })).toBe(true);
    expect(isForeign(host, { client: address('192.168.1.9') })).toBe(true);
    expect(isForeign(host, { client: address('198.51.100.1'), isProxy: true })).toBe(true);
  });

  it('passes when it comes from the machine itself, which could reach the upstream web server directly', () => {
    expect(isForeign('localhost', { client: address('127.0.0.1') })).toBe(false);
    expect(isForeign('127.0.0.1:8080', { client: address('::1') })).toBe(false);
  });

  it.each([
    ['localhost:8080', ['localhost:8080']],
    ['LOCALHOST.:8080', ['localhost:8080']],
    ['localhost', ['localhost:8080']],
    ['second.localhost', ['localhost:8080']],
    ['127.0.0.1:8080', ['127.0.0.1:8080']],
    ['[::1]:8080', ['[::1]:8080']],
    ['shop.localhost', ['example.com', 'shop.localhost']],
    ['192.0.2.7', ['192.0.2.7']],
  ])('passes for any visitor where it is the site’s own name: %s', (host, siteHosts) => {
    expect(isForeign(host, { siteHosts })).toBe(false);
    expect(isForeign(host, { siteHosts, isForwarded: true })).toBe(false);
  });

  it('is foreign with another name of the machine', () => {
    expect(isForeign('127.0.0.1', { siteHosts: ['localhost:8080'] })).toBe(true);
    expect(isForeign('0x7f.1', { siteHosts: ['127.0.0.1'] })).toBe(true);
    expect(isForeign('localhost', { siteHosts: ['shop.localhost'] })).toBe(true);
  });

  it.each(['192.0.2.7', '192.0.2.7:80', '3221225991', '[::ffff:c000:207]', '10.0.0.4'])(
    'with an address of the machine is foreign from elsewhere, except for a health check: %s',
    (host) => {
      expect(isForeign(host)).toBe(true);
      expect(isForeign(host, { isForwarded: true, isProxy: true })).toBe(true);
      // For example a kubelet or a load balancer.
      expect(isForeign(host, { client: address('10.0.0.1') })).toBe(false);
      expect(isForeign(host, { client: address('198.51.100.1'), isProxy: true })).toBe(false);
      // For example a site in a home network, or one that WordPress takes from each request.
      expect(isForeign(host, { siteHosts: ['192.168.1.5'] })).toBe(false);
      expect(isForeign(host, { siteHosts: [] })).toBe(false);
    },
  );

  it.each(['198.51.100.20', 'example.org', 'status.example.com', 'www.example.com', 'xn--bcher-kva.example', '_'])(
    'with any other host has to be proved, except from the machine itself: %s',
    (host) => {
      expect(judge(host)).toBe('unproved');
      expect(judge(host, { client: address('192.168.1.9') })).toBe('unproved');
      expect(judge(host, { client: address('127.0.0.1'), isForwarded: true })).toBe('unproved');
      expect(judge(host, { client: address('127.0.0.1') })).toBe('passes');
    },
  );

  it.each(['example.com', 'EXAMPLE.com', 'example.com:8080', 'example.com.'])(
    'with the site’s own name passes: %s',
    (host) => {
      expect(judge(host)).toBe('passes');
    },
  );
});

describe('guard with hosts `*`', () => {
  /** Sends raw bytes. @returns the complete response */
  async function sendRaw(url: string, bytes: string): Promise<string> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(bytes);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('latin1');
  }

  /** Sends a request for a visitor whom a trusted proxy names. */
  const send = (
    url: string,
    host: string,
    headers: Readonly<Record<string, string>> = { 'x-forwarded-for': '203.0.113.5' },
  ) =>
    new Promise<number | undefined>((resolve, reject) => {
      const { hostname, port } = new URL(url);
      const outgoing = request({ host: hostname, port, headers: { host, ...headers }, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      outgoing.on('error', reject).end();
    });

  async function start(home: string, hosts = ['*']) {
    const connector = await fakeConnector();
    connector.home = home;
    const reached: (string | undefined)[] = [];
    connector.onRequest = (command, { headers }) => command === null && reached.push(headers.host);
    const guard = await runningGuard(await dataFolderFor(connector, { hosts }, { trustedProxies: ['127.0.0.1'] }));
    await eventually(() => connector.policy !== null);
    return { guard, reached, connector };
  }

  it('answers visitors who name the machine as those of an unknown host, and sends nothing to the upstream web server', async () => {
    const { guard, reached } = await start('https://example.com');
    for (const host of MACHINE) {
      // A colon without a port is refused earlier.
      expect([host, await send(guard.url, host)]).toEqual([host, host === 'localhost:' ? 400 : 404]);
    }
    expect(reached).toEqual([]);
    for (const host of ['example.com', 'mapped.example', '198.51.100.20'])
      expect(await send(guard.url, host)).toBe(200);
    expect(reached).toEqual(['example.com', 'mapped.example', '198.51.100.20']);
  });

  it('passes on no request without a host, also before the site is known', async () => {
    const { guard, reached } = await start('https://example.com');
    const unknown = await fakeConnector();
    unknown.mode = 'gone';
    unknown.onRequest = (command, { headers }) => command === null && reached.push(headers.host);
    const other = await runningGuard(await dataFolderFor(unknown, { hosts: ['*'] }));
    for (const { url } of [guard, other]) {
      for (const header of ['', 'X-Forwarded-For: 203.0.113.5\r\n', 'Via: 1.0 proxy\r\n']) {
        expect(await sendRaw(url, `GET / HTTP/1.0\r\n${header}\r\n`)).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nok\n$/s);
        expect(await sendRaw(url, `POST / HTTP/1.0\r\n${header}\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
      }
    }
    expect(reached).toEqual([]);
  });

  it.each(['localhost', '127.0.0.1', '[::1]'])('continues to serve a site whose own address is %s', async (name) => {
    const { guard } = await start(`http://${name}:8080`);
    expect(await send(guard.url, `${name}:8080`)).toBe(200);
  });

  it('continues to serve the hosts that the configuration names', async () => {
    const { guard, reached } = await start('https://example.com', [
      '*',
      'localhost',
      '*.localhost',
      '127.0.0.1',
      '[::1]',
    ]);
    for (const host of ['localhost', 'a.localhost', '127.0.0.1:80', '[::1]'])
      expect(await send(guard.url, host)).toBe(200);
    expect(await send(guard.url, '127.0.0.2')).toBe(404);
    expect(reached).toHaveLength(4);
  });

  it('serves this machine’s own requests with any host, also before the site is known, and nobody else’s', async () => {
    const connector = await fakeConnector();
    connector.mode = 'gone';
    const reached: (string | undefined)[] = [];
    connector.onRequest = (command, { headers }) => command === null && reached.push(headers.host);
    const guard = await runningGuard(await dataFolderFor(connector, { hosts: ['*'] }));
    await send(guard.url, 'localhost:8080', {});
    for (const name of ['via', 'forwarded', 'x-real-ip', 'x-forwarded-for']) {
      expect(await send(guard.url, 'localhost:8081', { [name]: '203.0.113.5' })).toBe(404);
    }
    expect(reached).toEqual(['localhost:8080']);
  });

  it('does not take the web server’s own address for the site’s, which WordPress may have from guard’s command', async () => {
    const connector = await fakeConnector();
    connector.home = connector.upstream;
    const guard = await runningGuard(
      await dataFolderFor(connector, { hosts: ['*'] }, { trustedProxies: ['127.0.0.1'] }),
    );
    await eventually(() => connector.policy !== null);
    expect(await send(guard.url, new URL(connector.upstream).host)).toBe(404);
    expect(await send(guard.url, 'example.com')).toBe(200);
  });
});
