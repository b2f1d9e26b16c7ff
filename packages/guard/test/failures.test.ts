import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { closing, countResponses, exchange, RawClient, toBody, toStatus } from './raw-client.js';
import { rawServer, recordingServer, scriptedServer, startGateway, webServer } from './running-gateway.js';
import { socketSilence } from './socket-silence.js';
import { passingTime } from './support/passing-time.js';
import { eventually } from './support/scratch.js';

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('when WordPress fails', () => {
  it('to accept a connection, the visitor gets 502, as a page or a line, without internal details', async () => {
    const port = await closedPort();
    const gateway = await startGateway(port);
    const page = await exchange(gateway.port, closing('GET / HTTP/1.1\r\nAccept: text/html'));
    expect(toStatus(page)).toBe(502);
    expect(page).toContain('text/html; charset=utf-8');
    expect(page).not.toMatch(new RegExp(`ECONN|${port}|stack|wordpress|upstream`, 'i'));
    const line = await exchange(gateway.port, closing('GET / HTTP/1.1'));
    expect(toBody(line)).toBe('Not available\n');
  });

  it.each([
    ['garbage', 'nonsense\r\n\r\n'],
    ['a folded header', 'HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n'],
    ['a control character in a header', 'HTTP/1.1 200 OK\r\nA: b\x01\r\nContent-Length: 0\r\n\r\n'],
    ['an upgrade that was not requested', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nabc'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  ])('by responding with %s, the visitor gets 502', async (_what, response) => {
    const { port } = await scriptedServer(response);
    const gateway = await startGateway(port);
    const received = await exchange(gateway.port, closing('GET / HTTP/1.1'));
    expect([toStatus(received), toBody(received)]).toEqual([502, 'Not available\n']);
  });

  it('by closing the connection, the visitor gets 502 and the request is not sent twice', async () => {
    let requests = 0;
    const port = await rawServer((socket) => {
      socket.once('data', () => {
        requests++;
        socket.destroy();
      });
    });
    const gateway = await startGateway(port);
    expect(toStatus(await exchange(gateway.port, closing('POST / HTTP/1.1\r\nContent-Length: 2', 'ab')))).toBe(502);
    expect(requests).toBe(1);
  });

  it('to respond in time, the visitor gets 504', async () => {
    const gateway = await startGateway(await webServer(() => {}), { limits: { upstreamSeconds: 0.3 } });
    const received = await new RawClient(gateway.port).send(closing('GET / HTTP/1.1')).end();
    expect(toStatus(received)).toBe(504);
  });

  it('to respond in time, each site has its own timeout', async () => {
    let respondToSecond: (() => void) | undefined;
    const port = await webServer((request, response) => {
      if (request.headers.host === 'two.example') respondToSecond = () => void response.end('ok');
    });
    const upstream = `http://127.0.0.1:${port}`;
    const gateway = await startGateway(upstream, {
      limits: { upstreamSeconds: 30 },
      sites: [
        { id: 'one', hosts: ['one.example'], upstream, limits: { upstreamSeconds: 0.3 } },
        { id: 'two', hosts: ['two.example'], upstream },
      ],
    });
    const send = (host: string) =>
      new RawClient(gateway.port).send(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    const two = send('two.example');
    await eventually(() => respondToSecond !== undefined);
    expect(toStatus(await send('one.example').end())).toBe(504);
    // It has waited longer by now than the timeout of the other site.
    expect(two.closed).toBe(false);
    respondToSecond?.();
    expect(toStatus(await two.end())).toBe(200);
  });

  it('to respond at once, each site has its own limit of connections', async () => {
    let [concurrent, maxConcurrent] = [0, 0];
    const together: (() => void)[] = [];
    const port = await webServer((request, response) => {
      if (request.headers.host === 'two.example') {
        // Each gets a response when the other one has arrived.
        if (together.push(() => response.end('ok')) === 2) for (const finish of together) finish();
        return;
      }
      maxConcurrent = Math.max(maxConcurrent, ++concurrent);
      setTimeout(() => {
        concurrent--;
        response.end('ok');
      }, 200);
    });
    const upstream = `http://127.0.0.1:${port}`;
    const gateway = await startGateway(port, {
      sites: [
        { id: 'one', hosts: ['one.example'], upstream, limits: { upstreamConnections: 1 } },
        { id: 'two', hosts: ['two.example'], upstream },
      ],
    });
    const responses = ['one.example', 'two.example', 'one.example', 'two.example'].map((host) =>
      new RawClient(gateway.port).send(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`).end(),
    );
    expect((await Promise.all(responses)).map(toStatus)).toEqual([200, 200, 200, 200]);
    expect(maxConcurrent).toBe(1);
  });

  /** A server that sends its response byte by byte. */
  const dripping = (response: string, ms: number) =>
    rawServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', async () => {
        for (const byte of response) {
          if (socket.destroyed) return;
          socket.write(byte);
          await sleep(ms);
        }
      });
    });

  it('to complete the head of its response in time, the visitor gets 504', async () => {
    const port = await dripping(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(300)}`, 20);
    const gateway = await startGateway(port, { limits: { upstreamSeconds: 0.5 } });
    const received = await new RawClient(gateway.port).send(closing('GET / HTTP/1.1')).end();
    expect(toStatus(received)).toBe(504);
  });

  it('to send the body quickly, the visitor gets it as it arrives', async () => {
    const silence = socketSilence();
    let write = (_bytes: string): void => {};
    const port = await rawServer((socket) => {
      write = (bytes) => void socket.write(bytes);
      socket.once('data', () => write('HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nx'));
    });
    const gateway = await startGateway(port, { limits: { upstreamSeconds: 2 } });
    const client = new RawClient(gateway.port).send(closing('GET / HTTP/1.1'));
    for (let pieces = 1; pieces <= 20; pieces++) {
      await client.until((text) => text.includes('\r\n\r\n') && toBody(text).length === pieces);
      silence.pass(1900);
      if (pieces < 20) write('x');
    }
    expect(toBody(await client.end())).toBe('x'.repeat(20));
  });

  it('to respond at once, early hints extend the time', async () => {
    const silence = socketSilence();
    let write = (_bytes: string): void => {};
    let onRequest = false;
    const port = await rawServer((socket) => {
      write = (bytes) => void socket.write(bytes);
      socket.once('data', () => {
        onRequest = true;
      });
    });
    const gateway = await startGateway(port, { limits: { upstreamSeconds: 2.5 } });
    const client = new RawClient(gateway.port).send(closing('GET / HTTP/1.1'));
    await eventually(() => onRequest);
    for (let hints = 1; hints <= 3; hints++) {
      silence.pass(2000);
      write('HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n');
      await client.until((text) => countResponses(text) === hints);
    }
    silence.pass(2000);
    write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    expect(await client.end()).toMatch(/HTTP\/1.1 200 OK[\s\S]*ok$/);
  });

  it('in the middle of its response, the visitor’s connection is closed', async () => {
    const silence = socketSilence();
    const port = await webServer((_request, response) => void response.write('some'));
    const gateway = await startGateway(port, { limits: { upstreamSeconds: 1.5 } });
    const client = new RawClient(gateway.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until((text) => text.includes('some'));
    silence.pass(1500);
    expect(await client.end()).not.toContain('\r\n0\r\n');
  });

  it('to respond fast enough, visitors wait in the queue, and those beyond it get 503', async () => {
    let free = (): void => {};
    const freed = new Promise<void>((resolve) => {
      free = resolve;
    });
    const port = await webServer((_request, response) => void freed.then(() => response.end('ok')));
    const gateway = await startGateway(port, { limits: { upstreamConnections: 1 } });
    const clients = Array.from({ length: 12 }, () => new RawClient(gateway.port).send(closing('GET / HTTP/1.1')));
    await expect.poll(() => clients.filter(({ closed }) => closed).length).toBe(3);
    free();
    const responses = (await Promise.all(clients.map((client) => client.end()))).map(toStatus);
    expect(responses.filter((status) => status === 200)).toHaveLength(9);
    expect(responses.filter((status) => status === 503)).toHaveLength(3);
  });

  it('to respond fast enough, a request from the queue is signed with the current time', async () => {
    const { pass } = passingTime();
    const times: number[] = [];
    let respond = (): void => {};
    const port = await webServer((request, response) => {
      times.push(Number(String(request.headers['x-security-optimizer-guard']).split(' ')[2]));
      respond = () => void response.end('ok');
    });
    const gateway = await startGateway(port, { limits: { upstreamConnections: 1 } });
    const clients = Array.from({ length: 2 }, () => new RawClient(gateway.port).send(closing('GET / HTTP/1.1')));
    await eventually(() => gateway.server.connections === 2 && times.length === 1);
    // Guard responds to this one itself. By then the earlier request waits in the queue.
    expect(toStatus(await new RawClient(gateway.port).send('GET / HTTP/1.1\r\n\r\n').end())).toBe(400);
    pass(2100);
    respond();
    await eventually(() => times.length === 2);
    respond();
    await Promise.all(clients.map((client) => client.end()));
    expect((times[1] as number) - (times[0] as number)).toBeGreaterThanOrEqual(2);
  });
});

describe('a slow visitor', () => {
  it('may pause a download for longer than WordPress may pause its response', async () => {
    const silence = socketSilence();
    const size = 30_000_000;
    const port = await webServer((_request, response) => void response.end(Buffer.alloc(size, 120)));
    const gateway = await startGateway(port, { limits: { upstreamSeconds: 4, idleSeconds: 30 } });
    const client = new RawClient(gateway.port);
    const reader = client.pauseAfterFirst();
    client.send(closing('GET / HTTP/1.1'));
    await eventually(() => reader.getReceivedBytes() > 0 && silence.to(port)?.isPaused() === true);
    silence.pass(8000);
    reader.resume();
    await client.end();
    expect(reader.getReceivedBytes()).toBeGreaterThan(size);
  });

  it('that reads nothing for the idle time is disconnected', async () => {
    let closed = false;
    const port = await webServer((_request, response) => {
      response.on('close', () => {
        closed = true;
      });
      response.write(Buffer.alloc(30_000_000));
    });
    const gateway = await startGateway(port, { limits: { idleSeconds: 0.4 } });
    const client = new RawClient(gateway.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    client.socket.pause();
    await expect.poll(() => closed).toBe(true);
  });

  it('that reads nothing is disconnected even if the rest of the upload arrives', async () => {
    let closed = false;
    const port = await webServer((_request, response) => {
      response.on('close', () => {
        closed = true;
      });
      response.write(Buffer.alloc(30_000_000));
    });
    const gateway = await startGateway(port, { limits: { idleSeconds: 0.6 } });
    const client = new RawClient(gateway.port).send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc');
    client.socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 300));
    client.send('def');
    await expect.poll(() => closed).toBe(true);
  });

  it('that stops an upload is disconnected even if an early response had to wait for it', async () => {
    const silence = socketSilence();
    const port = await webServer((_request, response) => void response.write(Buffer.alloc(30_000_000)));
    const gateway = await startGateway(port, { limits: { idleSeconds: 30 } });
    const client = new RawClient(gateway.port);
    const reader = client.pauseAfterFirst();
    client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc');
    await eventually(() => reader.getReceivedBytes() > 0 && silence.to(port)?.isPaused() === true);
    reader.resume();
    await eventually(() => reader.getReceivedBytes() > 30_000_000 && silence.to(port)?.isPaused() === false);
    silence.pass(30_000);
    await client.end();
  });

  it('may pause an upload for longer than WordPress may pause its response', async () => {
    const silence = socketSilence();
    let body = '';
    const port = await webServer((request, response) => {
      request.on('data', (piece: Buffer) => {
        body += piece;
      });
      request.on('end', () => response.end('ok'));
    });
    const gateway = await startGateway(port, { limits: { upstreamSeconds: 4, idleSeconds: 30 } });
    const client = new RawClient(gateway.port).send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc');
    await eventually(() => body === 'abc');
    silence.pass(8000);
    await client.send('def').until((text) => text.includes('200 OK'));
    expect(body).toBe('abcdef');
  });

  it('that stops an upload is disconnected', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port, { limits: { idleSeconds: 0.4 } });
    const client = new RawClient(gateway.port).send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc');
    await client.end();
    expect(seen).toEqual([]);
  });

  it('that stops a refused upload is disconnected', async () => {
    const { port } = await recordingServer();
    const gateway = await startGateway(port, { limits: { idleSeconds: 0.4 } });
    gateway.rule({ options: { disable_xml_rpc: 1 } });
    const client = new RawClient(gateway.port).send(
      'POST /xmlrpc.php HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc',
    );
    expect(toStatus(await client.end())).toBe(403);
  });

  it('is not disconnected while WordPress is slow to read an upload', async () => {
    const silence = socketSilence();
    let take: (() => void) | undefined;
    const port = await webServer((request, response) => {
      take = () => void request.resume().on('end', () => response.end('ok'));
    });
    const gateway = await startGateway(port, { limits: { idleSeconds: 20, upstreamSeconds: 300 } });
    const client = new RawClient(gateway.port)
      .send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 20000000\r\n\r\n`)
      .send(Buffer.alloc(20_000_000));
    await eventually(() => take !== undefined && silence.to(port)?.writableNeedDrain === true);
    silence.pass(45_000);
    take?.();
    await client.until((text) => text.includes('200 OK'));
  });
});

describe('a request beyond the limits', () => {
  it.each([
    ['a long address', `GET /${'a'.repeat(9000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414],
    ['long headers', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
    ['many headers', `GET / HTTP/1.1\r\nHost: a\r\n${'X: aaaaaaa\r\n'.repeat(4000)}\r\n`, 431],
  ])('with %s gets the status for that limit', async (_what, bytes, status) => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    expect(toStatus(await exchange(gateway.port, bytes))).toBe(status);
    expect(seen).toEqual([]);
  });

  it('with headers that take too long gets 408', async () => {
    const { port } = await recordingServer();
    const gateway = await startGateway(port, { limits: { headerSeconds: 0.5 } });
    const client = new RawClient(gateway.port).send('GET / HTTP/1.1\r\nHost: a\r\n');
    expect(toStatus(await client.end())).toBe(408);
  });

  it('is not one with three thousand short headers, which all reach WordPress', async () => {
    const { port, received } = await scriptedServer('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    const gateway = await startGateway(port);
    await exchange(gateway.port, closing(`GET / HTTP/1.1\r\n${'X: a\r\n'.repeat(3000)}Last: 1`));
    expect(received()).toContain('Last: 1');
  });
});
