import { describe, expect, it } from 'vitest';
import { noopObserver } from '../src/gateway/observer.js';
import { closing, exchange, RawClient, toStatus } from './raw-client.js';
import { type GatewayOptions, recordingServer, startGateway } from './running-gateway.js';
import { binaryHeader, ipv6 } from './support/proxy-headers.js';

const GET = closing('GET / HTTP/1.1');

/** Forms of 192.0.2.1, with the 16 bytes of the IPv6 ones. */
const FORMS: readonly (readonly [string, string | null])[] = [
  ['192.0.2.1', null],
  ['::ffff:192.0.2.1', '00000000000000000000ffffc0000201'],
  ['64:ff9b::c000:201', '0064ff9b0000000000000000c0000201'],
  ['64:ff9b:1::c000:201', '0064ff9b0001000000000000c0000201'],
  ['2002:c000:201::5', '2002c000020100000000000000000005'],
  ['2001:0:203:4:0:1:3fff:fdfe', '200100000203000400000001 3fff fdfe'.replaceAll(' ', '')],
  ['::ffff:0:c000:201', '0000000000000000ffff0000c0000201'],
  ['::c000:201', '000000000000000000000000c0000201'],
];

/** IPv6 addresses that carry an address of this machine, of a private network or none. */
const NO_VISITORS = [
  ...['2002:7f00:1::', '64:ff9b::7f00:1', '64:ff9b:1::7f00:1', '2001::80ff:fffe', '::127.0.0.1', '::ffff:0:7f00:1'],
  ...['64:ff9b::a00:1', '2002:a00:1::1', '64:ff9b::c0a8:1', '64:ff9b::a9fe:a9fe'],
];

async function behindProxy(options: GatewayOptions = {}) {
  const upstream = await recordingServer();
  const refused: string[] = [];
  const gateway = await startGateway(upstream.port, {
    trustedProxies: ['127.0.0.1', '10.0.0.0/8', '::1'],
    observer: { ...noopObserver, refused: (rule) => void refused.push(rule) },
    ...options,
  });
  const visit = async (forwardedFor: string) =>
    toStatus(await exchange(gateway.port, closing(`GET / HTTP/1.1\r\nX-Forwarded-For: ${forwardedFor}`)));
  return { ...upstream, gateway, refused, visit };
}

describe('a visitor with a carried address', () => {
  it.each(FORMS.map(([text]) => text))(
    'is refused in every form by a block of %s, and no other visitor is',
    async (blocked) => {
      const { gateway, visit, seen } = await behindProxy();
      gateway.rule({ blocked: [blocked] });
      for (const [form] of FORMS) expect(await visit(form), form).toBe(403);
      for (const other of ['192.0.2.2', '64:ff9b::c000:202', '2002:c000:202::5', ...NO_VISITORS]) {
        expect(await visit(other), other).toBe(200);
      }
      expect(seen).toHaveLength(3 + NO_VISITORS.length);
      expect(new Set(gateway.visits.slice(0, FORMS.length).map(({ address }) => address))).toEqual(
        new Set(['192.0.2.1']),
      );
    },
  );

  it('is refused by a block of the whole prefix, and others with the same carried address are not', async () => {
    const { gateway, visit } = await behindProxy();
    gateway.rule({ blocked: ['2002::/16', '64:ff9b:1::/48'] });
    const refused = FORMS.map(([form]) => form).filter((form) => /^2002:|^64:ff9b:1:/.test(form));
    for (const [form] of FORMS) expect(await visit(form), form).toBe(refused.includes(form) ? 403 : 200);
  });

  it('is reported to WordPress by the address as it is seen', async () => {
    const { visit, seen, gateway } = await behindProxy();
    await visit('64:ff9b::192.0.2.1');
    await visit('2002:c000:0201::5');
    expect(seen.map(({ headers }) => [headers['x-forwarded-for'], headers['x-real-ip']])).toEqual([
      ['64:ff9b::c000:201', '64:ff9b::c000:201'],
      ['2002:c000:201::5', '2002:c000:201::5'],
    ]);
    expect(gateway.visits.map(({ address }) => address)).toEqual(['192.0.2.1', '192.0.2.1']);
  });

  it('is treated the same with the PROXY protocol', async () => {
    const { gateway } = await behindProxy({ proxyProtocol: true });
    gateway.rule({ blocked: ['192.0.2.1'] });
    const send = async (header: Buffer | string) =>
      toStatus(await new RawClient(gateway.port).send(header).send(GET).end());
    for (const [form, bytes] of FORMS) {
      const family = bytes === null ? 'TCP4' : 'TCP6';
      const to = bytes === null ? '198.51.100.1' : '2001:db8::1';
      expect(await send(`PROXY ${family} ${form} ${to} 4711 80\r\n`), form).toBe(403);
      if (bytes === null) continue;
      expect(await send(binaryHeader({ family: 0x21, addresses: ipv6(bytes, 80) })), form).toBe(403);
    }
    expect(await send('PROXY TCP6 64:ff9b::c000:202 2001:db8::1 4711 80\r\n')).toBe(200);
  });

  it('has one share of the connections over all its forms', async () => {
    const { gateway, refused } = await behindProxy({ proxyProtocol: true, limits: { connectionsPerAddress: 3 } });
    const open = async (form: string, family = 'TCP6', to = '2001:db8::1') => {
      const client = new RawClient(gateway.port).send(`PROXY ${family} ${form} ${to} 4711 80\r\n`);
      client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await client.until((text) => text.includes('hello'));
      return client;
    };
    const first = await open('192.0.2.1', 'TCP4', '198.51.100.1');
    const second = await open('64:ff9b::c000:201');
    const third = await open('2002:c000:201::5');
    expect(refused).toEqual([]);
    // Each further connection closes the one that has been idle longest.
    await open('2001:0:203:4:0:1:3fff:fdfe');
    await open('2002:c000:201:7::9');
    expect(await first.end()).toContain('hello');
    expect(await second.end()).toContain('hello');
    expect(third.closed).toBe(false);
    expect(refused).toEqual(['too-many-connections-per-address', 'too-many-connections-per-address']);
  });

  it.each(NO_VISITORS)('%s is neither a proxy nor the address of another client', async (form) => {
    const { gateway, seen } = await behindProxy({ proxyProtocol: true });
    gateway.rule({ blocked: ['198.51.100.9'] });
    const forged = closing('GET / HTTP/1.1\r\nX-Forwarded-For: 198.51.100.9\r\nX-Forwarded-Proto: https');
    const client = new RawClient(gateway.port).send(`PROXY TCP6 ${form} 2001:db8::1 4711 80\r\n`).send(forged);
    expect(toStatus(await client.end())).toBe(200);
    expect(seen[0]?.headers['x-forwarded-proto']).toBe('http');
    expect(gateway.visits[0]?.address).toContain(':');
  });

  it('is not a trusted proxy by its carried address, but by the address as it is seen', async () => {
    const proxies = ['127.0.0.1', '203.0.113.5', '64:ff9b::cb00:7106'];
    const { gateway, seen } = await behindProxy({ proxyProtocol: true, trustedProxies: proxies });
    const send = async (peer: string) => {
      const forwarded = closing('GET / HTTP/1.1\r\nX-Forwarded-For: 198.51.100.9');
      await new RawClient(gateway.port).send(`PROXY TCP6 ${peer} 2001:db8::1 4711 80\r\n`).send(forwarded).end();
      return seen.at(-1)?.headers['x-forwarded-for'];
    };
    for (const peer of ['64:ff9b::203.0.113.5', '2002:cb00:7105::1', '::ffff:0:203.0.113.5', '2002:cb00:7106::1']) {
      expect(await send(peer), peer).not.toBe('198.51.100.9');
    }
    expect(await send('::ffff:203.0.113.5')).toBe('198.51.100.9');
    expect(await send('64:ff9b::203.0.113.6')).toBe('198.51.100.9');
    expect(gateway.visits.slice(0, 2).map(({ address }) => address)).toEqual(['203.0.113.5', '203.0.113.5']);
  });
});
