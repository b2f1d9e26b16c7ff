import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { closing, exchange, RawClient, toStatus } from './raw-client.js';
import { rawServer, startGateway, type TestGateway } from './running-gateway.js';

/** How a web server ends a connection after a request on it. */
type End = 'close' | 'reset' | 'inside the head' | 'inside the body';

interface KeepAliveServer {
  readonly port: number;
  /** Request lines in order of arrival, with the number of the connection. */
  readonly seen: string[];
  /** From the next request on, a connection that has sent a response before ends like this. */
  end: End | null;
  /** Headers of each response. */
  headers: string;
  readonly connections: () => number;
  /** Ends all connections that are idle. */
  endIdle(): void;
}

const RESPONSE = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n';

/** A web server that responds to each request, and ends connections during later ones. */
async function keepAliveServer(): Promise<KeepAliveServer> {
  const open = new Set<Socket>();
  let number = 0;
  const server = { seen: [] as string[], end: null as End | null, headers: '' };
  const port = await rawServer((socket) => {
    const own = ++number;
    let responded = 0;
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => {});
    let text = '';
    socket.on('data', (data) => {
      text += data.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      const isChunked = /transfer-encoding: chunked/i.test(text);
      if (isChunked ? !text.endsWith('0\r\n\r\n') : text.length < head + 4 + length) return;
      server.seen.push(`${own} ${text.slice(0, text.indexOf(' HTTP'))}`);
      text = '';
      if (responded > 0 && server.end !== null) {
        if (server.end === 'inside the head') socket.end('HTTP/1.1 200 O');
        else if (server.end === 'inside the body') socket.end(`${RESPONSE}\r\nhe`);
        else if (server.end === 'reset') socket.resetAndDestroy();
        else socket.end();
        return;
      }
      responded++;
      socket.write(`${RESPONSE}${server.headers}\r\nhello`);
    });
  });
  const endIdle = (): void => {
    for (const socket of open) socket.end();
  };
  return Object.assign(server, { port, connections: () => open.size, endIdle });
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/** A gateway with one persistent connection to the web server, on which a request got a response. */
async function warm(): Promise<{ gateway: TestGateway; server: KeepAliveServer }> {
  const server = await keepAliveServer();
  const gateway = await startGateway(server.port);
  await exchange(gateway.port, closing('GET /first HTTP/1.1'));
  return { gateway, server };
}

const send = (gateway: TestGateway, line: string, body = ''): Promise<string> =>
  exchange(gateway.port, closing(`${line}${body === '' ? '' : `\r\nContent-Length: ${body.length}`}`) + body);

describe('a persistent connection that ends before the first byte of the response', () => {
  for (const end of ['close', 'reset'] as const) {
    it.each([
      'GET /x HTTP/1.1',
      'HEAD /x HTTP/1.1',
      'OPTIONS /x HTTP/1.1',
      'GET /x HTTP/1.1\r\nCookie: wordpress_logged_in_x=1',
      'GET /x HTTP/1.1\r\nAuthorization: Basic dTpw',
      'GET /x HTTP/1.1\r\nAuthorization: Bearer abc',
      'DELETE /x HTTP/1.1\r\nIdempotency-Key: "8e03978e"',
    ])(`loses no response (${end}): %s`, async (line) => {
      const { gateway, server } = await warm();
      server.end = end;
      expect(toStatus(await send(gateway, line))).toBe(200);
      const [method] = line.split(' ');
      expect(server.seen).toEqual(['1 GET /first', `1 ${method} /x`, `2 ${method} /x`]);
    });

    it.each([
      ['POST /x HTTP/1.1', ''],
      ['POST /x HTTP/1.1', 'a=b'],
      ['POST /x HTTP/1.1\r\nIdempotency-Key: "8e03978e"', ''],
      ['PUT /x HTTP/1.1', 'a=b'],
      ['PUT /x HTTP/1.1\r\nIdempotency-Key: "8e03978e"', 'a=b'],
      ['DELETE /x HTTP/1.1', ''],
      ['GET /x HTTP/1.1', 'a=b'],
    ])(`never sends a body or a request with effects twice (${end}): %s %s`, async (line, body) => {
      const { gateway, server } = await warm();
      server.end = end;
      const status = toStatus(await send(gateway, line, body));
      const arrived = server.seen.filter((each) => each.includes('/x'));
      expect(arrived).toHaveLength(1);
      // It was sent on a fresh connection if the other one had been idle for long.
      expect(status).toBe(arrived[0]?.startsWith('1 ') ? 502 : 200);
    });
  }

  it.each(['inside the head', 'inside the body'] as const)(
    'causes no repeated request when it ends %s',
    async (end) => {
      const { gateway, server } = await warm();
      server.end = end;
      await send(gateway, 'GET /x HTTP/1.1').catch(() => '');
      expect(server.seen).toEqual(['1 GET /first', '1 GET /x']);
    },
  );

  it('may be one of many that end at once, and each request is sent on a fresh one', async () => {
    const server = await keepAliveServer();
    const gateway = await startGateway(server.port);
    const round = () => Promise.all(Array.from({ length: 20 }, (_, i) => send(gateway, `GET /${i} HTTP/1.1`)));
    await round();
    server.end = 'close';
    expect((await round()).map(toStatus)).toEqual(Array.from({ length: 20 }, () => 200));
    // Twice at most, the second time on a connection without an earlier response.
    for (let i = 0; i < 20; i++) {
      expect(server.seen.slice(20).filter((each) => each.endsWith(`GET /${i}`)).length).toBeLessThanOrEqual(2);
    }
  });

  it('causes one more try: if a fresh connection ends as well, the client gets 502', async () => {
    let connections = 0;
    const port = await rawServer((socket) => {
      const isFirst = ++connections === 1;
      let responded = false;
      socket.on('error', () => {});
      socket.on('data', () => {
        if (isFirst && !responded) socket.write(`${RESPONSE}\r\nhello`);
        else socket.end();
        responded = true;
      });
    });
    const gateway = await startGateway(port);
    await send(gateway, 'GET / HTTP/1.1');
    expect(toStatus(await send(gateway, 'GET / HTTP/1.1'))).toBe(502);
    expect(connections).toBe(2);
  });

  it('does not end a WebSocket handshake', async () => {
    const { gateway, server } = await warm();
    server.end = 'close';
    const handshake = 'GET /ws HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket';
    expect(toStatus(await exchange(gateway.port, `${handshake}\r\nHost: a\r\n\r\n`))).toBe(200);
    expect(server.seen).toEqual(['1 GET /first', '1 GET /ws', '2 GET /ws']);
  });
});

describe('an idle connection', () => {
  it('that the web server has ended is not used', async () => {
    const { gateway, server } = await warm();
    server.endIdle();
    await expect.poll(() => server.connections()).toBe(0);
    for (const line of ['POST /x HTTP/1.1', 'GET /x HTTP/1.1']) expect(toStatus(await send(gateway, line))).toBe(200);
    expect(server.seen.slice(1).map((each) => each.split(' ')[0])).toEqual(['2', '2']);
  });

  it.each(['timeout=0', 'timeout=5, max=0', 'max=00', 'Timeout = "0"', 'timeout=9\r\nKeep-Alive: timeout=0'])(
    'is not reused after Keep-Alive: %s',
    async (value) => {
      const server = await keepAliveServer();
      server.headers = `Keep-Alive: ${value}\r\n`;
      const gateway = await startGateway(server.port);
      for (let i = 0; i < 3; i++) expect(await send(gateway, 'GET / HTTP/1.1')).not.toMatch(/^keep-alive:/im);
      expect(server.seen).toEqual(['1 GET /', '2 GET /', '3 GET /']);
    },
  );

  it.each(['timeout=60', 'timeout=5, max=100', 'timeout=abc', 'max=10', '', 'timeout'])(
    'is reused after Keep-Alive: %s',
    async (value) => {
      const server = await keepAliveServer();
      server.headers = `Keep-Alive: ${value}\r\n`;
      const gateway = await startGateway(server.port);
      const client = new RawClient(gateway.port);
      client.socket.write(GET.repeat(3));
      await expect.poll(() => server.seen.length).toBe(3);
      expect(new Set(server.seen)).toEqual(new Set(['1 GET /']));
      client.socket.destroy();
    },
  );

  it('is closed by guard before the web server closes it', async () => {
    const server = await keepAliveServer();
    server.headers = 'Keep-Alive: timeout=1\r\n';
    const gateway = await startGateway(server.port);
    await send(gateway, 'GET / HTTP/1.1');
    await expect.poll(() => server.connections()).toBe(0);
  });

  it('is closed when requests that may not be repeated use fresh ones', async () => {
    const server = await keepAliveServer();
    const gateway = await startGateway(server.port, { limits: { upstreamConnections: 4 } });
    await Promise.all(Array.from({ length: 4 }, () => send(gateway, 'GET / HTTP/1.1')));
    // Longer than a request that may not be repeated accepts.
    await new Promise((resolve) => setTimeout(resolve, 300));
    for (let i = 0; i < 6; i++) {
      await send(gateway, 'POST / HTTP/1.1', 'a=b');
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    await expect.poll(() => server.connections()).toBeLessThanOrEqual(4);
  });
});
