import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noopObserver } from '../src/gateway/observer.js';
import { closing, countResponses, RawClient, toStatus } from './raw-client.js';
import { type GatewayOptions, recordingServer, scriptedServer, startGateway } from './running-gateway.js';
import { runInChild, serve } from './support/command-line.js';
import { fakeConnector } from './support/fake-connector.js';
import { recordedLog } from './support/logs.js';
import { binaryHeader, ipv4, ipv6, tlsTlv, tlv } from './support/proxy-headers.js';
import { dataFolderFor } from './support/running-guard.js';
import { eventually, scratchFolder } from './support/scratch.js';

const V1 = Buffer.from('PROXY TCP4 192.0.2.7 198.51.100.1 4711 80\r\n');
const V2 = binaryHeader({ addresses: ipv4('192.0.2.7', 80) });
const GET = Buffer.from(closing('GET / HTTP/1.1'));

async function behindProxy(options: GatewayOptions = {}) {
  const upstream = await recordingServer();
  const log = recordedLog();
  const refused: string[] = [];
  const gateway = await startGateway(upstream.port, {
    proxyProtocol: true,
    trustedProxies: ['127.0.0.1'],
    logger: log.logger,
    observer: { ...noopObserver, refused: (rule) => void refused.push(rule) },
    ...options,
  });
  /** Sends these bytes and returns everything that is received. */
  const send = (...pieces: (Buffer | string)[]) => {
    const client = new RawClient(gateway.port);
    for (const piece of pieces) client.send(piece);
    return client.end();
  };
  const addresses = () => upstream.seen.map(({ headers }) => headers['x-forwarded-for']);
  return { ...upstream, gateway, log, refused, send, addresses };
}

describe('behind a proxy with the PROXY protocol', () => {
  it('the visitor has the address in its header', async () => {
    const { send, addresses, gateway } = await behindProxy();
    gateway.rule({ blocked: ['192.0.2.9', '2001:db8::/32'] });
    expect(toStatus(await send(V1, GET))).toBe(200);
    expect(toStatus(await send(V2, GET))).toBe(200);
    expect(addresses()).toEqual(['192.0.2.7', '192.0.2.7']);
    expect(toStatus(await send('PROXY TCP4 192.0.2.9 198.51.100.1 1 80\r\n', GET))).toBe(403);
    const six = ipv6('20010db8000000000000000000000007', 80);
    expect(toStatus(await send(binaryHeader({ family: 0x21, addresses: six }), GET))).toBe(403);
    expect(gateway.visits.map(({ address, rule }) => [address, rule])).toEqual([
      ['192.0.2.7', null],
      ['192.0.2.7', null],
      ['192.0.2.9', 'blocked-visitor'],
      ['2001:db8::7', 'blocked-visitor'],
    ]);
  });

  it('open connections end when the proxy that named their visitor is no longer trusted, and no others', async () => {
    const { gateway, addresses } = await behindProxy();
    const client = new RawClient(gateway.port).send(V1).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until((text) => countResponses(text) === 1);
    gateway.trust(['127.0.0.0/8']);
    client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until((text) => countResponses(text) === 2);
    gateway.trust(['203.0.113.0/24']);
    await client.end();
    expect(addresses()).toEqual(['192.0.2.7', '192.0.2.7']);
  });

  it('a visitor can’t name an address by an HTTP header, but a trusted proxy in front can', async () => {
    const { send, addresses } = await behindProxy({ trustedProxies: ['127.0.0.1', '203.0.113.5'] });
    const forged = closing('GET / HTTP/1.1\r\nX-Forwarded-For: 198.51.100.99');
    await send(V1, forged);
    await send('PROXY TCP4 203.0.113.5 198.51.100.1 1 80\r\n', forged);
    expect(addresses()).toEqual(['192.0.2.7', '198.51.100.99']);
  });

  it('the proxy’s own connections keep its address, and its X-Forwarded-For is trusted', async () => {
    const { send, addresses } = await behindProxy();
    const local = binaryHeader({ command: 0x20, addresses: Buffer.alloc(0) });
    for (const header of ['PROXY UNKNOWN\r\n', local]) {
      expect(toStatus(await send(header, GET))).toBe(200);
      await send(header, closing('GET / HTTP/1.1\r\nX-Forwarded-For: 192.0.2.50'));
    }
    expect(addresses()).toEqual(['127.0.0.1', '192.0.2.50', '127.0.0.1', '192.0.2.50']);
  });

  it('the scheme is https where TLS ended at the proxy', async () => {
    const { send, seen } = await behindProxy();
    await send(V1, GET);
    await send('PROXY TCP4 192.0.2.7 198.51.100.1 1 443\r\n', GET);
    await send(binaryHeader({ tlvs: tlsTlv(1) }), GET);
    await send(binaryHeader({ addresses: ipv4('192.0.2.7', 443), tlvs: tlsTlv(0) }), GET);
    // A visitor’s own claim is ignored.
    await send(V1, closing('GET / HTTP/1.1\r\nX-Forwarded-Proto: https'));
    const schemes = seen.map(({ headers }) => headers['x-forwarded-proto']);
    expect(schemes).toEqual(['http', 'https', 'https', 'http', 'http']);
  });

  it('a header that is split anywhere, or sent byte by byte, is read completely', async () => {
    const { gateway, addresses } = await behindProxy();
    for (const header of [V1, V2, binaryHeader({ tlvs: tlv(0xee, Buffer.alloc(20)) })]) {
      const bytes = Buffer.concat([header, GET]);
      const cuts = Array.from({ length: header.length + 4 }, (_, at) => [at + 1]);
      const everyByte = Array.from({ length: bytes.length }, (_, at) => at);
      const responses = await Promise.all([...cuts, everyByte].map((cut) => sendCut(gateway.port, bytes, cut)));
      expect(new Set(responses.map(toStatus))).toEqual(new Set([200]));
    }
    expect(new Set(addresses())).toEqual(new Set(['192.0.2.7']));
  });

  it('requests in one packet with the header all get responses', async () => {
    const { send, seen } = await behindProxy();
    const piped = Array.from({ length: 20 }, (_, n) => `GET /${n} HTTP/1.1\r\nHost: a\r\n\r\n`).join('');
    const received = await send(Buffer.concat([V2, Buffer.from(piped), GET]));
    expect(countResponses(received)).toBe(21);
    expect(seen.map(({ url }) => url)).toEqual([...Array.from({ length: 20 }, (_, n) => `/${n}`), '/']);
  });

  it('a large body after the header arrives complete', async () => {
    const { send, seen } = await behindProxy();
    const body = Buffer.alloc(1_000_000, 'abc');
    const head = Buffer.from(
      `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    expect(toStatus(await send(Buffer.concat([V1, head, body.subarray(0, 70_000)]), body.subarray(70_000)))).toBe(200);
    expect(seen[0]?.body).toBe(body.toString('latin1'));
  });

  it('a persistent connection retains its address', async () => {
    const { gateway, addresses } = await behindProxy();
    const client = new RawClient(gateway.port).send(V2);
    for (let n = 1; n <= 3; n++) {
      client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await client.until((text) => countResponses(text) === n && text.endsWith('hello'));
    }
    expect(addresses()).toEqual(['192.0.2.7', '192.0.2.7', '192.0.2.7']);
  });

  it('WebSockets work', async () => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
    const { port, received } = await scriptedServer(`${head}greeting`);
    const gateway = await startGateway(port, { proxyProtocol: true, trustedProxies: ['127.0.0.1'] });
    const handshake =
      'GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';
    const client = new RawClient(gateway.port).send(Buffer.concat([V2, Buffer.from(handshake)]));
    await client.until((text) => text.includes('greeting'));
    client.send('frames');
    await eventually(() => received().endsWith('frames'));
    expect(received()).toMatch(/X-Forwarded-For: 192\.0\.2\.7\r\n/i);
  });

  it('limits apply to the visitor, not to the proxy', async () => {
    const { gateway, refused } = await behindProxy({ limits: { connectionsPerAddress: 2 } });
    const open = () => new RawClient(gateway.port).send(V1).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const idle = open();
    await idle.until((text) => text.includes('hello'));
    const active = open();
    await active.until((text) => text.includes('hello'));
    // The connection that has been idle longest is closed.
    await open().until((text) => text.includes('hello'));
    expect(await idle.end()).toContain('hello');
    expect([active.closed, refused]).toEqual([false, ['too-many-connections-per-address']]);
    const other = new RawClient(gateway.port).send('PROXY TCP4 192.0.2.8 198.51.100.1 1 80\r\n').send(GET);
    expect(toStatus(await other.end())).toBe(200);
  });
});

describe('connections without a valid PROXY header', () => {
  it('from a peer that is not a trusted proxy are closed, whatever their first bytes are', async () => {
    const { send, seen, refused, log } = await behindProxy({ trustedProxies: ['203.0.113.5'] });
    for (const header of [V1, V2, Buffer.alloc(0)]) expect(await send(header, GET)).toBe('');
    expect(seen).toEqual([]);
    expect(refused).toEqual(Array(3).fill('proxy-header:untrusted'));
    expect(log.events()).toContain('proxy-header-refused');
  });

  it.each([
    ['no header', GET],
    ['a line without a carriage return', Buffer.from('PROXY TCP4 192.0.2.7 198.51.100.1 1 80\nGET / HTTP/1.1\r\n\r\n')],
    ['a line that never ends', Buffer.alloc(200_000, 'PROXY UNKNOWN ')],
    ['a length whose bytes never arrive', Buffer.concat([binaryHeader({ length: 0xffff }), Buffer.alloc(200_000)])],
    ['invalid TLVs', binaryHeader({ tlvs: Buffer.from('garbage garbage') })],
    ['another version', binaryHeader({ command: 0x31 })],
    ['an invalid address', Buffer.from('PROXY TCP4 192.0.2.300 198.51.100.1 1 80\r\n')],
  ])('are closed without a response: %s', async (_what, bytes) => {
    const { send, seen, refused } = await behindProxy();
    expect(await send(bytes)).toBe('');
    expect([seen, refused]).toEqual([[], ['proxy-header:malformed']]);
  });

  it('are closed when the header does not arrive in time', async () => {
    const { gateway, refused } = await behindProxy({ limits: { headerSeconds: 0.2 } });
    const started = [new RawClient(gateway.port), new RawClient(gateway.port).send(V2.subarray(0, 20))];
    for (const client of started) expect(await client.end()).toBe('');
    expect(refused).toEqual(['proxy-header:timeout', 'proxy-header:timeout']);
  });

  it('that end within the header are released', async () => {
    const { gateway, refused, send } = await behindProxy();
    for (const header of [V1, V2]) {
      for (let at = 0; at < header.length; at += 3) {
        const client = new RawClient(gateway.port).send(header.subarray(0, at));
        client.socket.end();
        expect(await client.end()).toBe('');
        const reset = connect(gateway.port, '127.0.0.1');
        reset.on('error', () => {});
        reset.write(header.subarray(0, at), () => reset.resetAndDestroy());
      }
    }
    expect(toStatus(await send(V1, GET))).toBe(200);
    expect(refused).toEqual([]);
    await eventually(() => gateway.server.connections === 0);
  });

  it('may not send a second header, which is a malformed request', async () => {
    const { send, addresses } = await behindProxy();
    const second = Buffer.from('PROXY TCP4 198.51.100.99 198.51.100.1 1 80\r\n');
    for (const [one, two] of [
      [V1, second],
      [V2, second],
      [V1, V2],
      [V2, V2],
    ] as const) {
      expect(toStatus(await send(one, two, GET))).toBe(400);
    }
    expect(addresses()).toEqual([]);
  });

  it('do not delay the shutdown of guard', async () => {
    const { gateway } = await behindProxy({ limits: { headerSeconds: 100, shutdownSeconds: 100 } });
    const started = new RawClient(gateway.port).send(V2.subarray(0, 5));
    const after = new RawClient(gateway.port).send(V2).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await after.until((text) => text.includes('hello'));
    await gateway.server.close();
    expect(await started.end()).toBe('');
  });
});

describe('without proxyProtocol', () => {
  it('a PROXY header is a malformed request, and changes no address', async () => {
    const { send, seen, gateway } = await behindProxy({ proxyProtocol: false, trustedProxies: [] });
    expect(toStatus(await send(V1, GET))).toBe(400);
    expect(toStatus(await send(V2, GET))).toBe(400);
    expect(seen).toEqual([]);
    expect(new Set(gateway.visits.map(({ address }) => address))).toEqual(new Set(['127.0.0.1']));
  });
});

describe('a PROXY header over a Unix socket', () => {
  it('is trusted when the socket is trusted', async () => {
    const path = join(await scratchFolder(), 'guard.sock');
    for (const [trustedProxies, status] of [
      [['unix'], 200],
      [['127.0.0.1'], 0],
    ] as const) {
      const { gateway, addresses } = await behindProxy({ listen: { path }, trustedProxies });
      expect(toStatus(await new RawClient(path).send(V2).send(GET).end())).toBe(status);
      expect(addresses()).toEqual(status === 200 ? ['192.0.2.7'] : []);
      await gateway.server.close();
    }
  });
});

describe('Node’s server, on which guard builds', () => {
  it('has all its own connection listeners when it is created', () => {
    const server: Server = createServer();
    expect(server.listenerCount('connection')).toBe(1);
  });
});

describe('status', () => {
  it('reports that guard responds, whether or not this machine is one of its proxies', async () => {
    for (const proxy of ['unix', '203.0.113.5']) {
      const listen = `unix:${join(await scratchFolder(), 'guard.sock')}`;
      const config = { proxyProtocol: true, trustedProxies: [proxy], listen };
      const dataDir = await dataFolderFor(await fakeConnector(), {}, config);
      await serve(dataDir);
      const { stdout } = await runInChild('status', '--data-dir', dataDir, '--json');
      expect(JSON.parse(stdout).guard).toMatchObject({ running: true, answers: true });
    }
  });
});

/**
 * Sends bytes in pieces that end at these offsets, each in a separate segment, and returns everything that is received.
 */
async function sendCut(port: number, bytes: Buffer, cuts: readonly number[]): Promise<string> {
  const client = new RawClient(port);
  client.socket.setNoDelay(true);
  let from = 0;
  for (const to of [...cuts, bytes.length]) {
    if (to > from) {
      client.send(bytes.subarray(from, to));
      // The turn of the event loop sends the piece.
      await new Promise((resolve) => setImmediate(resolve));
    }
    from = Math.max(from, to);
  }
  return client.end();
}
