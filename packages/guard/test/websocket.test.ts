import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { countResponses, exchange, RawClient, toStatus } from './raw-client.js';
import { rawServer, recordingServer, startGateway, webServer } from './running-gateway.js';
import { socketSilence } from './socket-silence.js';

const HANDSHAKE =
  'GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n';

/** Accepts every handshake and echoes the data; records the heads. */
async function echo(): Promise<{ port: number; heads: string[]; closed: () => boolean }> {
  const heads: string[] = [];
  let closed = false;
  const port = await rawServer((socket) => {
    let open = false;
    socket.on('close', () => {
      closed = true;
    });
    socket.on('data', (data) => {
      if (open) socket.write(data);
      else {
        open = true;
        const text = data.toString('latin1');
        const end = text.indexOf('\r\n\r\n') + 4;
        heads.push(text.slice(0, end));
        socket.write(
          `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\nX-Security-Optimizer-Signal: 1 aaaaaaaa\r\n\r\nwelcome${text.slice(end)}`,
        );
      }
    });
  });
  return { port, heads, closed: () => closed };
}

describe('a WebSocket', () => {
  it('is connected to WordPress, with the bytes around the handshake', async () => {
    const { port, heads, closed } = await echo();
    const gateway = await startGateway(port);
    const client = new RawClient(gateway.port).send(`${HANDSHAKE}early`);
    await client.until((text) => text.includes('welcomeearly'));
    expect(client.received).toMatch(/^HTTP\/1\.1 101 /);
    expect(client.received).not.toMatch(/security-optimizer/i);
    expect(heads[0]).toContain('Upgrade: websocket\r\n');
    expect(heads[0]).toContain('X-Security-Optimizer-Guard: 1 ');
    await client.send('again').until((text) => text.endsWith('again'));
    client.socket.end();
    await expect.poll(closed).toBe(true);
  });

  it('outlives the timeout of a response', async () => {
    const silence = socketSilence();
    const { port } = await echo();
    const limits = { upstreamSeconds: 0.2, idleSeconds: 0.2, headerSeconds: 0.5 };
    const gateway = await startGateway(port, { limits });
    const client = new RawClient(gateway.port).send(HANDSHAKE);
    await client.until((text) => text.includes('welcome'));
    silence.pass(1300);
    // When Node finds that the head of this one took too long, the WebSocket is older than that.
    const later = new RawClient(gateway.port).send('GET / HTTP/1.1\r\nHo');
    expect(toStatus(await later.end())).toBe(408);
    await client.send('late').until((text) => text.endsWith('late'));
  });

  it('that WordPress refuses gets WordPress’s response', async () => {
    const { port } = await recordingServer((_request, response) => {
      response.writeHead(426, { 'X-A': 'b' });
      response.write('no ');
      response.end('thanks');
    });
    const gateway = await startGateway(port);
    const received = await new RawClient(gateway.port).send(HANDSHAKE).end();
    expect(received).toMatch(/^HTTP\/1\.1 426 /);
    expect(received).toContain('X-A: b');
    expect(received).toContain('Transfer-Encoding: chunked');
    // Node's releases differ in whether two writes of one turn become one chunk.
    expect(received).toMatch(/\r\n\r\n(?:3\r\nno \r\n6\r\nthanks|9\r\nno thanks)\r\n0\r\n\r\n$/);
  });

  it('is subject to the rules like any other request', async () => {
    const { port, heads } = await echo();
    const gateway = await startGateway(port);
    gateway.rule({ options: { disable_xml_rpc: 1 } });
    const received = await exchange(gateway.port, HANDSHAKE.replace('/ws', '/xmlrpc.php'));
    expect(toStatus(received)).toBe(403);
    expect(heads).toEqual([]);
  });

  it('is closed in both directions when its address is blocked, and that of another visitor is not', async () => {
    const { port, closed } = await echo();
    const gateway = await startGateway(port, { trustedProxies: ['127.0.0.1'] });
    const opened = async (address: string) => {
      const handshake = HANDSHAKE.replace('\r\n', `\r\nX-Forwarded-For: ${address}\r\n`);
      const client = new RawClient(gateway.port).send(handshake);
      await client.until((text) => text.includes('welcome'));
      return client;
    };
    const remaining = await opened('192.0.2.2');
    const cut = await opened('192.0.2.1');
    gateway.rule({ blocked: ['192.0.2.1'] });
    await cut.end();
    await expect.poll(closed).toBe(true);
    await remaining.send('still here').until((text) => text.endsWith('still here'));
  });

  it('is treated like an event stream, which is closed when its address is blocked', async () => {
    const closed: string[] = [];
    const open: ServerResponse[] = [];
    const port = await webServer((request, response) => {
      const from = String(request.headers['x-forwarded-for']);
      response.on('close', () => closed.push(from));
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(`data: ${from}\n\n`);
      open.push(response);
    });
    const gateway = await startGateway(port, { trustedProxies: ['127.0.0.1'] });
    const opened = async (address: string) => {
      const client = new RawClient(gateway.port).send(
        `GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\n\r\n`,
      );
      await client.until((text) => text.includes(`data: ${address}`));
      return client;
    };
    const remaining = await opened('192.0.2.2');
    const cut = await opened('192.0.2.1');
    gateway.rule({ blocked: ['192.0.2.1'] });
    await cut.end();
    for (const response of open) response.write('data: again\n\n');
    await remaining.until((text) => text.includes('data: again'));
    expect(closed).toEqual(['192.0.2.1']);
  });

  it('to a web server that closes the connection gets 502', async () => {
    const port = await rawServer((socket) => void socket.destroy());
    const gateway = await startGateway(port);
    expect(toStatus(await exchange(gateway.port, HANDSHAKE))).toBe(502);
  });

  it('holds one of the connections to WordPress until the response, and none once it is open', async () => {
    const heads: string[] = [];
    const accept: (() => void)[] = [];
    const port = await rawServer((socket) => {
      socket.once('data', (data) => {
        heads.push(data.toString('latin1').split('\r\n')[0] as string);
        accept.push(() => socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nwelcome'));
      });
    });
    const gateway = await startGateway(port, { trustedProxies: ['127.0.0.1'], limits: { upstreamConnections: 2 } });
    const handshake = (i: number): string =>
      HANDSHAKE.replace('/ws', `/ws${i}`).replace('\r\nHost', `\r\nX-Forwarded-For: 192.0.2.${i}\r\nHost`);
    const clients = Array.from({ length: 19 }, (_, i) => new RawClient(gateway.port).send(handshake(i)));
    // Two are under way, sixteen wait, and one was refused.
    await expect.poll(() => clients.filter(({ received }) => toStatus(received) === 503)).toHaveLength(1);
    expect(heads).toHaveLength(2);
    const [abandoned] = clients.filter(({ received }) => received === '').slice(-1);
    abandoned?.socket.destroy();
    for (let opened = 0; opened < 17; opened++) {
      await expect.poll(() => accept.length).toBeGreaterThan(opened);
      accept[opened]?.();
    }
    await expect.poll(() => clients.filter(({ received }) => received.includes('welcome'))).toHaveLength(17);
    expect(heads).toHaveLength(17);
  });

  it('is not opened after a request that has no response yet', async () => {
    const { port, seen } = await recordingServer(
      (_request, response) => void setTimeout(() => response.end('slow'), 200),
    );
    const gateway = await startGateway(port);
    const received = await new RawClient(gateway.port).send(`GET /slow HTTP/1.1\r\nHost: a\r\n\r\n${HANDSHAKE}`).end();
    expect(received).not.toContain('101');
    expect(countResponses(received)).toBe(2);
    for (const { headers } of seen) expect(headers).not.toHaveProperty('upgrade');
  });
});

describe('an Upgrade to another protocol', () => {
  it('is not forwarded: the request gets a response as if it had no Upgrade', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    const received = await exchange(
      gateway.port,
      'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    );
    expect(toStatus(received)).toBe(200);
    expect(seen).toHaveLength(1);
    expect(seen[0]?.headers).not.toHaveProperty('upgrade');
    expect(seen[0]?.headers).not.toHaveProperty('http2-settings');
  });

  const PROTOCOLS = ['h2c', 'websocket, h2c', 'TLS/1.0'];
  const BODY = 'GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n';
  const framed = {
    'with a length': [`Content-Length: ${BODY.length}`, BODY],
    'in chunks': ['Transfer-Encoding: chunked', `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`],
  } as const;
  const posts = PROTOCOLS.flatMap((protocol) =>
    Object.entries(framed).map(([how, [header, body]]) => ({ protocol, how, header, body })),
  );

  it.each(posts)('from a program that posts a body $how ($protocol): the body is read as a body only', async (post) => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    const client = new RawClient(gateway.port);
    client.send(
      `POST /pay HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: ${post.protocol}\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n${post.header}\r\n\r\n`,
    );
    // In pieces, as they may arrive from a network.
    for (const piece of [post.body.slice(0, 7), post.body.slice(7)]) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      client.send(piece);
    }
    const received = await client.end();
    expect(toStatus(received)).toBe(200);
    expect(received).toContain('Connection: close');
    expect(seen).toMatchObject([{ method: 'POST', url: '/pay', body: BODY }]);
    for (const name of ['upgrade', 'http2-settings']) expect(seen[0]?.headers).not.toHaveProperty(name);
  });

  it('with a body is subject to the rules like any other request', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    gateway.rule({ options: { disable_xml_rpc: 1 } });
    const received = await exchange(
      gateway.port,
      'POST /xmlrpc.php HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nab',
    );
    expect(toStatus(received)).toBe(403);
    expect(seen).toEqual([]);
  });

  it('with a body after Expect: 100-continue gets 100 Continue', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    const client = new RawClient(gateway.port).send(
      'POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n',
    );
    await client.until((text) => toStatus(text) === 100);
    await client.send('ab').until((text) => text.includes(' 200 '));
    expect(seen).toMatchObject([{ body: 'ab' }]);
  });
});

describe.each(['websocket', 'h2c'])('an Upgrade to %s that is not granted', (protocol) => {
  const UPGRADE = `GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`;

  it('gets the complete response, however long it is and however slowly it is read', async () => {
    const size = 8_000_000;
    const port = await webServer((_request, response) => void response.end(Buffer.alloc(size, 120)));
    const gateway = await startGateway(port);
    const client = new RawClient(gateway.port);
    const received = client.readSlowly(500);
    client.send(UPGRADE);
    await client.end();
    expect(received()).toBeGreaterThan(size);
  });

  it('is not buffered for a client that reads nothing, which is disconnected after a while', async () => {
    let [sent, closed] = [0, false];
    const port = await webServer((_request, response) => {
      response.on('close', () => {
        closed = true;
      });
      const piece = Buffer.alloc(1_000_000);
      const more = (): void => {
        while (sent < 300_000_000 && !response.destroyed) {
          sent += piece.length;
          if (!response.write(piece)) break;
        }
      };
      response.on('drain', more);
      more();
    });
    const gateway = await startGateway(port, { limits: { idleSeconds: 0.6 } });
    const client = new RawClient(gateway.port).send(UPGRADE);
    client.socket.pause();
    await expect.poll(() => closed).toBe(true);
    // Data in the system's buffers of two connections.
    expect(sent).toBeLessThan(60_000_000);
  });
});
