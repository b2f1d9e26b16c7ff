import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { connectionsPerAddress } from '../src/upstream/upstream-pool.js';
import { RawClient, toStatus } from './raw-client.js';
import { rawServer, startGateway, type TestGateway } from './running-gateway.js';

const HANDSHAKE = '\r\nConnection: Upgrade\r\nUpgrade: websocket';
const CONNECTIONS = 16;
const CLIENT_LIMIT = connectionsPerAddress(CONNECTIONS);
const RESPONSE = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const get = (address: string, more = '') =>
  `GET /page HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}${more}\r\n\r\n`;
const post = (address: string) => get(address, '\r\nContent-Length: 3').replace('GET', 'POST').concat('a=1');

/** A WordPress that works on each request until the test lets it respond, whether or not the client still waits. */
async function busyWordPress(isPhp = true) {
  const response = isPhp ? RESPONSE.replace('\r\n\r\n', '\r\nX-Security-Optimizer-Signal: any\r\n\r\n') : RESPONSE;
  const at: { readonly socket: Socket; readonly head: string }[] = [];
  let limit = 0;
  const port = await rawServer((socket) => {
    socket.on('data', (data) => {
      const head = data.toString('latin1');
      if (!/^(GET|POST) /.test(head)) return;
      at.push({ socket, head });
      limit = Math.max(limit, at.length);
    });
  });
  return {
    port,
    /** Number of requests under way. */
    working: () => at.length,
    mostWorking: () => limit,
    answerOldest: () => void at.shift()?.socket.write(response),
    answerNewest: () => void at.pop()?.socket.write(response),
    from: (address: string) => at.filter(({ head }) => head.includes(address)).length,
    respondToAll() {
      for (const { socket } of at.splice(0)) socket.write(response);
    },
  };
}

interface Busy {
  readonly gateway: TestGateway;
  readonly wordpress: Awaited<ReturnType<typeof busyWordPress>>;
}

const start = (port: number, limits = {}): Promise<TestGateway> =>
  startGateway(port, { trustedProxies: ['127.0.0.1'], limits: { upstreamConnections: CONNECTIONS, ...limits } });

/**
 * Sends requests one after another from one address, and disconnects each client as soon as WordPress or the queue has
 * its request.
 */
async function leaveOften(at: Busy, bytes: string, times: number, end: (socket: Socket) => void) {
  const { gateway, wordpress } = at;
  const inUse = () => wordpress.working() + gateway.server.waiting;
  for (let i = 0; i < times; i++) {
    const before = inUse();
    const client = new RawClient(gateway.port).send(bytes);
    await expect.poll(inUse, { interval: 1 }).toBeGreaterThan(before);
    end(client.socket);
    await expect.poll(() => gateway.server.connections, { interval: 1 }).toBe(0);
  }
}

describe('requests whose client has disconnected', () => {
  it.each([
    ['pages', get('192.0.2.1'), (socket: Socket) => void socket.destroy()],
    ['pages, by resets', get('192.0.2.1'), (socket: Socket) => void socket.resetAndDestroy()],
    ['forms', post('192.0.2.1'), (socket: Socket) => void socket.destroy()],
    ['WebSocket handshakes', get('192.0.2.1', HANDSHAKE), (socket: Socket) => void socket.resetAndDestroy()],
  ])('count for their address until WordPress has responded, and others pass them: %s', async (_what, bytes, end) => {
    const wordpress = await busyWordPress();
    const gateway = await start(wordpress.port);
    await leaveOften({ gateway, wordpress }, bytes, 3 * CLIENT_LIMIT, end);
    await expect.poll(wordpress.working).toBe(CLIENT_LIMIT);
    const other = new RawClient(gateway.port).send(get('198.51.100.1'));
    await expect.poll(() => wordpress.from('198.51.100.1')).toBe(1);
    wordpress.respondToAll();
    await other.until((text) => toStatus(text) === 200);
    // The address itself is served again.
    const again = new RawClient(gateway.port).send(get('192.0.2.1'));
    await expect.poll(wordpress.working).toBe(1);
    wordpress.respondToAll();
    await again.until((text) => toStatus(text) === 200);
    expect(wordpress.mostWorking()).toBeLessThanOrEqual(CLIENT_LIMIT + 1);
  });

  it('never exceed the pool, however many addresses disconnect', async () => {
    const wordpress = await busyWordPress();
    const gateway = await start(wordpress.port);
    for (let i = 0; i < 5; i++)
      await leaveOften({ gateway, wordpress }, get(`192.0.2.${i}`), CLIENT_LIMIT, (socket) => void socket.destroy());
    expect(wordpress.mostWorking()).toBeLessThanOrEqual(CONNECTIONS);
    wordpress.respondToAll();
    const other = new RawClient(gateway.port).send(get('198.51.100.1'));
    await expect.poll(() => wordpress.from('198.51.100.1')).toBe(1);
    wordpress.respondToAll();
    await other.until((text) => toStatus(text) === 200);
  });

  /** A pool of 64 connections, in which 16 abandoned requests are many. */
  async function abandonMany(isPhp: boolean) {
    const wordpress = await busyWordPress(isPhp);
    const gateway = await start(wordpress.port, { upstreamConnections: 64 });
    const first = new RawClient(gateway.port).send(get('203.0.113.1', '\r\nConnection: close'));
    await expect.poll(wordpress.working).toBe(1);
    wordpress.answerOldest();
    await first.end();
    for (let i = 0; i < 40; i++)
      await leaveOften({ gateway, wordpress }, get(`192.0.2.${i}`), 1, (socket) => void socket.destroy());
    return { wordpress, gateway };
  }

  it('delay all others when there are many of them, so that WordPress has no long queue', async () => {
    const { wordpress, gateway } = await abandonMany(true);
    await expect.poll(wordpress.working).toBe(16);
    const other = new RawClient(gateway.port).send(get('198.51.100.1'));
    await expect.poll(() => gateway.server.waiting).toBe(1);
    // WordPress responds in order of arrival: the other request is forwarded after the first response.
    wordpress.answerOldest();
    await expect.poll(() => wordpress.from('198.51.100.1')).toBe(1);
    wordpress.respondToAll();
    await other.until((text) => toStatus(text) === 200);
  });

  it('delay no other request when many later ones have got a response: their own slowness is the cause', async () => {
    const { wordpress, gateway } = await abandonMany(true);
    for (let round = 0; round < 3; round++) {
      const others = Array.from({ length: 25 }, (_, i) =>
        new RawClient(gateway.port).send(get(`198.51.100.${i}`, '\r\nConnection: close')),
      );
      await expect.poll(wordpress.working).toBe(16 + others.length);
      for (let i = 0; i < others.length; i++) wordpress.answerNewest();
      for (const other of others) expect(toStatus(await other.end())).toBe(200);
    }
    const last = new RawClient(gateway.port).send(get('203.0.113.2'));
    await expect.poll(() => wordpress.from('203.0.113.2')).toBe(1);
    expect(gateway.server.waiting).toBe(0);
    last.socket.destroy();
  });

  it('delay other requests for a limited time when WordPress never responds', async () => {
    const { wordpress, gateway } = await abandonMany(true);
    const other = new RawClient(gateway.port).send(get('198.51.100.1'));
    await expect.poll(() => wordpress.from('198.51.100.1')).toBe(1);
    other.socket.destroy();
  });

  it('delay no other request when only the web server’s own files overtake them', async () => {
    const { wordpress } = await abandonMany(false);
    await expect.poll(wordpress.working).toBe(40);
  });

  it('are no longer counted after their time limit', async () => {
    const wordpress = await busyWordPress();
    const gateway = await start(wordpress.port, { upstreamSeconds: 1 });
    await leaveOften({ gateway, wordpress }, get('192.0.2.1'), CLIENT_LIMIT, (socket) => void socket.destroy());
    const again = new RawClient(gateway.port).send(get('192.0.2.1'));
    await expect.poll(wordpress.working).toBe(CLIENT_LIMIT + 1);
    again.socket.destroy();
  });
});

describe('requests that wait for WordPress', () => {
  it('of an address without a connection are served before those of an address with many', async () => {
    const wordpress = await busyWordPress();
    const gateway = await start(wordpress.port);
    const many = Array.from({ length: 100 }, (_, i) => new RawClient(gateway.port).send(get(`192.0.2.${i % 4}`)));
    await expect.poll(() => gateway.server.waiting).toBeGreaterThan(50);
    const others = ['198.51.100.1', '198.51.100.2', '198.51.100.3'];
    for (const address of others) new RawClient(gateway.port).send(get(address));
    await expect.poll(() => gateway.server.waiting + wordpress.working()).toBe(many.length + others.length);
    for (let i = 0; i < others.length; i++) wordpress.answerOldest();
    await expect.poll(() => others.map((address) => wordpress.from(address))).toEqual([1, 1, 1]);
  });

  it('are dropped when the queue is full, starting with those of the network that has most of them', async () => {
    const wordpress = await busyWordPress();
    const gateway = await start(wordpress.port, { upstreamConnections: 4 });
    const clients = Array.from({ length: 60 }, (_, i) => new RawClient(gateway.port).send(get(`192.0.2.${i}`)));
    await expect.poll(() => clients.filter(({ received }) => toStatus(received) === 503).length).toBe(60 - 4 - 32);
    const other = new RawClient(gateway.port).send(get('198.51.100.1'));
    await expect.poll(() => clients.filter(({ received }) => toStatus(received) === 503).length).toBe(60 - 4 - 31);
    for (let responded = 0; responded < 36; responded++) {
      await expect.poll(wordpress.working).toBeGreaterThan(0);
      wordpress.answerOldest();
    }
    await other.until((text) => toStatus(text) === 200);
  });
});

describe('the connections of one address', () => {
  it.each([
    [1, 1],
    [2, 1],
    [4, 3],
    [8, 7],
    [16, 8],
    [64, 16],
    [128, 32],
    [10_000, 2500],
  ])('of a pool of %i are at most %i, so that another address gets one', (connections, limit) => {
    expect(connectionsPerAddress(connections)).toBe(limit);
  });
});
