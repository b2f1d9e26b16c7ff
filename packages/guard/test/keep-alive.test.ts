import { describe, expect, it } from 'vitest';
import { closing, exchange, RawClient, toStatus } from './raw-client.js';
import { rawServer, scriptedServer, startGateway, webServer } from './running-gateway.js';

describe('several requests on one connection', () => {
  it('use one connection to WordPress', async () => {
    let connections = 0;
    const port = await rawServer((socket) => {
      connections++;
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    });
    const gateway = await startGateway(port);
    const client = new RawClient(gateway.port);
    for (let i = 1; i <= 5; i++) {
      await client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n').until((text) => text.split('\r\n\r\nok').length === i + 1);
    }
    expect(connections).toBe(1);
  });

  it('get their responses in order, however long each takes', async () => {
    const port = await webServer((request, response) => {
      setTimeout(() => response.end(`<${request.url}>`), request.url === '/1' ? 120 : 5);
    });
    const gateway = await startGateway(port);
    const client = new RawClient(gateway.port).send(
      ['/1', '/2', '/3'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''),
    );
    const received = await client.until((text) => text.includes('</3>'));
    expect(received.match(/<\/\d>/g)).toEqual(['</1>', '</2>', '</3>']);
  });

  it('end when a later one is malformed, and its refusal never replaces an earlier response', async () => {
    const port = await webServer((_request, response) => void setTimeout(() => response.end('first'), 100));
    const gateway = await startGateway(port);
    const received = await new RawClient(gateway.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\nBROKEN\r\n\r\n').end();
    expect(received).not.toContain('400');
  });

  it('are not affected when WordPress closes the idle connection', async () => {
    let [connections, closed] = [0, 0];
    const port = await rawServer((socket) => {
      connections++;
      socket.on('close', () => closed++);
      socket.on('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        setTimeout(() => socket.end(), 20);
      });
    });
    const gateway = await startGateway(port);
    for (let i = 1; i <= 3; i++) {
      expect(toStatus(await exchange(gateway.port, closing('GET / HTTP/1.1')))).toBe(200);
      await expect.poll(() => closed).toBe(i);
    }
    expect(connections).toBe(3);
  });

  /** A web server that closes each connection during its second request, as nginx does when it is reloaded. */
  const closingUnderSecond = async () => {
    const received: string[] = [];
    const port = await rawServer((socket) => {
      let requests = 0;
      socket.on('data', (data) => {
        received.push(data.toString('latin1').split(' ')[0] as string);
        if (++requests === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        else socket.destroy();
      });
    });
    const gateway = await startGateway(port);
    return { gateway, received };
  };

  it.each(['GET', 'HEAD'])(
    'are not lost when the web server closes a persistent connection during one: %s',
    async (method) => {
      for (const credentials of ['', '\r\nAuthorization: Basic YTpi']) {
        const { gateway, received } = await closingUnderSecond();
        expect(toStatus(await exchange(gateway.port, closing('GET / HTTP/1.1')))).toBe(200);
        const head = `${method} /again HTTP/1.1${credentials}`;
        expect(toStatus(await exchange(gateway.port, closing(head)))).toBe(200);
        // The second request was sent twice: the web server may have closed the connection without reading it.
        expect(received).toEqual(['GET', method, method]);
      }
    },
  );

  it.each([
    ['a request with effects', 'POST / HTTP/1.1\r\nContent-Length: 0', ''],
    ['a request with a body', 'GET / HTTP/1.1\r\nContent-Length: 2', 'ab'],
  ])('are sent once where repeating is not safe: %s', async (_what, head, body) => {
    const { gateway, received } = await closingUnderSecond();
    expect(toStatus(await exchange(gateway.port, closing('GET / HTTP/1.1')))).toBe(200);
    // 200 if so much time has passed that it was sent on a fresh connection.
    expect([200, 502]).toContain(toStatus(await exchange(gateway.port, closing(head, body))));
    expect(received).toEqual(['GET', head.split(' ')[0]]);
  });

  it('are sent once where the response has begun, or the connection was new', async () => {
    let received = 0;
    const port = await rawServer((socket) => {
      let requests = 0;
      socket.on('data', () => {
        received++;
        if (++requests === 1 && received === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        else socket.end('HTTP/1.1 2');
      });
    });
    const gateway = await startGateway(port);
    expect(toStatus(await exchange(gateway.port, closing('GET / HTTP/1.1')))).toBe(200);
    for (const round of [2, 3]) {
      expect(toStatus(await exchange(gateway.port, closing('GET / HTTP/1.1')))).toBe(502);
      expect(received).toBe(round);
    }
  });

  it('continue after a response in many small chunks to a slow visitor', async () => {
    const chunks = `10000\r\n${'x'.repeat(65536)}\r\n`.repeat(40);
    const { port } = await scriptedServer(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
    const gateway = await startGateway(port, { limits: { upstreamConnections: 1 } });
    for (let i = 0; i < 3; i++) {
      const client = new RawClient(gateway.port);
      client.socket.pause();
      client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await new Promise((resolve) => setTimeout(resolve, 100));
      client.socket.resume();
      await client.until((text) => text.endsWith('0\r\n\r\n'));
      client.socket.destroy();
    }
  });
});
