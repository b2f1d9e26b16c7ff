import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { countResponses, exchange, RawClient, toStatus } from './raw-client.js';
import { rawServer, recordingServer, startGateway, type TestGateway } from './running-gateway.js';
import { passingTime } from './support/passing-time.js';
import { eventually } from './support/scratch.js';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/**
 * A web server that reads requests and responds when the test lets it. It counts the connections that wait for a
 * response.
 */
async function slowServer(): Promise<{ port: number; open: () => number; respond: () => void }> {
  const open = new Set<Socket>();
  const port = await rawServer((socket) => {
    open.add(socket);
    socket.on('data', () => {});
    socket.on('close', () => open.delete(socket));
  });
  const respond = (): void => {
    for (const socket of open) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhel');
  };
  return { port, open: () => open.size, respond };
}

/** Closes the connection with a reset, not with an orderly end. */
function reset(client: RawClient): void {
  client.socket.resetAndDestroy();
}

async function expectServing(gateway: TestGateway): Promise<void> {
  expect(toStatus(await exchange(gateway.port, 'GET /plain HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'))).toBe(
    200,
  );
}

const HANDSHAKE = 'GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

describe('a client that resets its connection', () => {
  it.each([
    ['after CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'],
    ['after CONNECT followed by bytes', `CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n${GET}`],
    ['after an invalid request', 'BROKEN\r\n\r\n'],
    ['after a WebSocket handshake', HANDSHAKE],
    ['after an h2c upgrade request', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'],
    ['inside a head', 'GET / HTTP/1.1\r\nHo'],
    ['inside a body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc'],
    ['before the response', GET],
    ['after several requests', GET.repeat(20)],
  ])('%s does not affect the service', async (_when, bytes) => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    for (let i = 0; i < 20; i++) {
      const client = new RawClient(gateway.port);
      await new Promise((resolve) => client.socket.write(bytes, 'latin1', resolve));
      // Varies the moment of the reset.
      await new Promise((resolve) => setTimeout(resolve, i % 5));
      reset(client);
    }
    await expect.poll(() => gateway.server.connections).toBe(0);
    await expectServing(gateway);
    expect(seen.at(-1)?.url).toBe('/plain');
  });
});

describe('several requests in one packet', () => {
  const handshakes = [HANDSHAKE, HANDSHAKE.replace('websocket', 'h2c'), 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'];
  const first = {
    'without a host': 'GET / HTTP/1.1\r\n\r\n',
    'with an unknown expectation': 'GET / HTTP/1.1\r\nHost: a\r\nExpect: the-impossible\r\n\r\n',
    'with an invalid host': 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n',
  };
  const pairs = Object.entries(first).flatMap(([how, bytes]) => handshakes.map((next) => ({ how, bytes, next })));

  it.each(pairs)('of which the first one is $how do not affect the service: $next', async ({ bytes, next }) => {
    const { port } = await recordingServer();
    const gateway = await startGateway(port);
    const received = await new RawClient(gateway.port).send(bytes + next).end();
    expect(toStatus(received)).toBeGreaterThanOrEqual(400);
    expect(countResponses(received)).toBe(1);
    await expectServing(gateway);
  });

  it('get responses from guard where Node would send its own: 400 without a host, 417 for an expectation', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    const noHost = await exchange(gateway.port, first['without a host']);
    const expectation = await exchange(gateway.port, first['with an unknown expectation']);
    expect([toStatus(noHost), toStatus(expectation)]).toEqual([400, 417]);
    expect(noHost).toContain('Cache-Control: no-store');
    expect(expectation).toContain('Cache-Control: no-store');
    expect(gateway.visits.map(({ rule }) => rule)).toEqual(['ambiguous:host', 'ambiguous:expectation']);
    expect(seen).toEqual([]);
  });

  it('of which one ends the connection get a response up to that one only', async () => {
    const { port, seen } = await recordingServer((_request, response) => void setTimeout(() => response.end('ok'), 20));
    const gateway = await startGateway(port);
    const last = 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const received = await new RawClient(gateway.port).send(GET + last + GET).end();
    expect(countResponses(received)).toBe(2);
    expect(seen.map(({ url }) => url)).toEqual(['/', '/last']);
  });

  it('are forwarded one at a time', async () => {
    let max = 0;
    let now = 0;
    const { port, seen } = await recordingServer((_request, response) => {
      max = Math.max(max, ++now);
      setTimeout(() => {
        now--;
        response.end('ok');
      }, 10);
    });
    const gateway = await startGateway(port);
    const client = new RawClient(gateway.port).send(GET.repeat(10));
    await client.until((text) => countResponses(text) === 10);
    expect(seen).toHaveLength(10);
    expect(max).toBe(1);
  });

  it('are too many when hundreds wait: the excess gets no response, and the connection ends', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    const client = new RawClient(gateway.port).send(GET.repeat(1000));
    const received = await client.end();
    expect(countResponses(received)).toBe(seen.length);
    expect(seen.length).toBeGreaterThan(50);
    expect(seen.length).toBeLessThan(200);
    expect(received.slice(received.lastIndexOf('HTTP/1.1 '))).toContain('Connection: close');
    await expectServing(gateway);
  });
});

describe('the resources of a client', () => {
  it('that sends many requests at once and disconnects are released, and the site is served', async () => {
    const { port, open, respond } = await slowServer();
    const gateway = await startGateway(port, { limits: { upstreamConnections: 5 } });
    const clients = Array.from({ length: 4 }, () => new RawClient(gateway.port).send(GET.repeat(100)));
    await expect.poll(open).toBe(4);
    for (const client of clients) reset(client);
    await expect.poll(() => gateway.server.connections).toBe(0);
    respond();
    await expect.poll(open).toBe(0);
    const next = new RawClient(gateway.port).send(GET);
    await expect.poll(open).toBe(1);
    next.socket.destroy();
  });

  it.each([
    ['h2c', HANDSHAKE.replace('websocket', 'h2c')],
    ['a WebSocket', HANDSHAKE],
    ['nothing else', GET],
  ])('that requests %s and ends the connection are released when WordPress responds', async (_what, bytes) => {
    const { port, open, respond } = await slowServer();
    const gateway = await startGateway(port);
    const clients = Array.from({ length: 10 }, () => new RawClient(gateway.port).send(bytes));
    await expect.poll(open).toBe(10);
    for (const { socket } of clients) socket.end();
    await expect.poll(() => gateway.server.connections).toBe(0);
    respond();
    await expect.poll(open).toBe(0);
  });

  it('that disconnects before its body is complete are released at once', async () => {
    const { port, open } = await slowServer();
    const gateway = await startGateway(port);
    const bytes = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(30_000)}`;
    const clients = Array.from({ length: 4 }, () => new RawClient(gateway.port).send(bytes));
    await expect.poll(open).toBe(4);
    for (const client of clients) reset(client);
    await expect.poll(open).toBe(0);
  });
});

/** A client that does not end its side when guard has ended its own. */
function openHalfClosed(gateway: TestGateway, bytes: string): { client: RawClient; ended: Promise<unknown> } {
  const client = new RawClient(gateway.port);
  client.socket.allowHalfOpen = true;
  const ended = new Promise((resolve) => client.socket.once('end', resolve));
  if (bytes !== '') client.send(bytes);
  return { client, ended };
}

/** How long a WebSocket may be open on one side only, milliseconds. */
const HALF_OPEN_MS = 5000;

describe('an open WebSocket', () => {
  /** Accepts every handshake and ignores the client's end; reads incoming data only on request. */
  async function openWebSocket(reads: boolean) {
    let ended = false;
    const port = await rawServer((socket) => {
      socket.allowHalfOpen = true;
      socket.once('end', () => {
        ended = true;
      });
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nwelcome');
        if (reads) socket.on('data', () => {});
        else socket.pause();
      });
    });
    const gateway = await startGateway(port, { limits: { idleSeconds: 1 } });
    const client = new RawClient(gateway.port).send(HANDSHAKE);
    await client.until((text) => text.includes('welcome'));
    return { gateway, client, sawEnd: () => ended };
  }

  it('whose client has ended is released, even if the other side stays open', async () => {
    const { pass } = passingTime();
    const { gateway, client, sawEnd } = await openWebSocket(true);
    client.socket.end();
    await eventually(sawEnd);
    expect(gateway.server.connections).toBe(1);
    pass(HALF_OPEN_MS);
    await expect.poll(() => gateway.server.connections).toBe(0);
  });

  it('of which one side reads nothing for the idle time is released', async () => {
    const { gateway, client } = await openWebSocket(false);
    client.send(Buffer.alloc(16_000_000));
    await expect.poll(() => gateway.server.connections).toBe(0);
  });
});

describe('a client that ignores the end of its connection', () => {
  const LIMITS = { headerSeconds: 1, idleSeconds: 1 };
  /** How long guard continues to read after its last bytes, until the client ends its side. Milliseconds. */
  const LINGER_MS = 2000;

  it.each([
    ['nothing at all', ''],
    ['half a head', 'GET / HTTP/1.1\r\nHo'],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'],
    ['an invalid request', 'BROKEN\r\n\r\n'],
    ['a request without a host', 'GET / HTTP/1.1\r\n\r\n'],
    ['its last request', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['a WebSocket handshake that is refused', HANDSHAKE],
  ])('after %s is released within seconds', async (_what, bytes) => {
    const { pass } = passingTime();
    const { port } = await recordingServer();
    const gateway = await startGateway(port, { limits: LIMITS });
    const clients = Array.from({ length: 5 }, () => openHalfClosed(gateway, bytes));
    await Promise.all(clients.map(({ ended }) => ended));
    pass(LINGER_MS);
    await expect.poll(() => gateway.server.connections).toBe(0);
  });

  it('and continues to send is released nevertheless', async () => {
    const { pass } = passingTime();
    const { port } = await recordingServer();
    const gateway = await startGateway(port, { limits: LIMITS });
    const { client, ended } = openHalfClosed(gateway, 'BROKEN\r\n\r\n');
    const more = setInterval(() => client.socket.writable && client.send(GET), 50);
    await ended;
    pass(LINGER_MS);
    await expect.poll(() => gateway.server.connections).toBe(0);
    clearInterval(more);
    expect(countResponses(client.received)).toBe(1);
  });
});

describe('connections', () => {
  it('of one address are limited; those of a trusted proxy are not', async () => {
    const { port } = await recordingServer();
    const limits = { connectionsPerAddress: 5 };
    const gateway = await startGateway(port, { limits });
    const clients = Array.from({ length: 8 }, () => new RawClient(gateway.port));
    await expect.poll(() => clients.filter(({ closed }) => closed)).toHaveLength(3);
    expect(gateway.server.connections).toBe(5);
    for (const { socket } of clients) socket.destroy();
    await expect.poll(() => gateway.server.connections).toBe(0);
    await expectServing(gateway);

    const behindProxy = await startGateway(port, { limits, trustedProxies: ['127.0.0.1'] });
    const proxied = Array.from({ length: 8 }, () => new RawClient(behindProxy.port));
    await expect.poll(() => behindProxy.server.connections).toBe(8);
    expect(proxied.filter(({ closed }) => closed)).toEqual([]);
  });

  it('in total are limited: the longest idle one is closed first, one with a request under way never', async () => {
    const { port, open } = await slowServer();
    const gateway = await startGateway(port, { limits: { connections: 3, upstreamSeconds: 60 } });
    const busy = new RawClient(gateway.port).send(GET);
    await expect.poll(open).toBe(1);
    const idle = [new RawClient(gateway.port)];
    await expect.poll(() => gateway.server.connections).toBe(2);
    idle.push(new RawClient(gateway.port));
    await expect.poll(() => gateway.server.connections).toBe(3);
    idle.push(new RawClient(gateway.port));
    await expect.poll(() => idle.map(({ closed }) => closed)).toEqual([true, false, false]);
    expect(busy.closed).toBe(false);
    for (const { socket } of idle.slice(1)) socket.write(GET);
    await expect.poll(open).toBe(3);
    // All have a request under way, so a new connection is refused.
    const refused = new RawClient(gateway.port);
    await refused.end();
    expect(open()).toBe(3);
  });
});
