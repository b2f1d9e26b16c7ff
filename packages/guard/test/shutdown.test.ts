import { once } from 'node:events';
import { Writable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../src/lib/logger.js';
import { closing, countResponses, exchange, RawClient } from './raw-client.js';
import { startGateway, webServer } from './running-gateway.js';
import { serve } from './support/command-line.js';
import { fakeConnector } from './support/fake-connector.js';
import { dataFolderFor } from './support/running-guard.js';
import { eventually } from './support/scratch.js';

/** A logger, and the lines with an event that it has written. */
function loggerWithLines() {
  const lines: { event: string; [field: string]: unknown }[] = [];
  const write = (chunk: unknown, _encoding: unknown, done: () => void) => {
    lines.push(JSON.parse(String(chunk)));
    done();
  };
  const find = (event: string) => lines.filter((line) => line.event === event);
  return { logger: createLogger('info', new Writable({ write })), find };
}

describe('when guard stops', () => {
  it('a running request is completed and no new connection is accepted', async () => {
    const port = await webServer((_request, response) => {
      response.write('first ');
      setTimeout(() => response.end('last'), 400);
    });
    const gateway = await startGateway(port);
    const running = new RawClient(gateway.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const idle = new RawClient(gateway.port);
    await running.until((text) => text.includes('first'));
    const closed = gateway.server.close();
    expect(await exchange(gateway.port, closing('GET / HTTP/1.1'))).toBe('');
    expect(await running.end()).toMatch(/first [\s\S]*last\r\n0\r\n\r\n$/);
    await idle.end();
    await closed;
  });

  it('requests that have already arrived get a response', async () => {
    const port = await webServer((_request, response) => void response.end('hello'));
    const gateway = await startGateway(port);
    const idle = new RawClient(gateway.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const silent = new RawClient(gateway.port);
    await idle.until((text) => text.includes('hello'));
    await eventually(() => gateway.server.connections === 2 && !silent.socket.connecting);
    // The kernel has both before this process, which is also the gateway's, can read them.
    idle.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    silent.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const closed = gateway.server.close();
    expect([countResponses(await idle.end()), countResponses(await silent.end())]).toEqual([2, 1]);
    await closed;
  });

  it('an event stream is closed at once: it may never end, and its client opens it again', async () => {
    const port = await webServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    });
    const { logger, find } = loggerWithLines();
    const gateway = await startGateway(port, { limits: { shutdownSeconds: 5 }, logger });
    const stream = new RawClient(gateway.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await stream.until((text) => text.includes('data: 1'));
    await gateway.server.close();
    await stream.end();
    expect(find('shutdown-cut-requests')).toEqual([]);
  });

  it('a request that takes too long is aborted', async () => {
    const port = await webServer((_request, response) => void response.write('first'));
    const gateway = await startGateway(port, { limits: { shutdownSeconds: 0.3 } });
    const running = new RawClient(gateway.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await running.until((text) => text.includes('first'));
    // WordPress never ends its response: without the limit this would wait until the test times out.
    await gateway.server.close();
    await running.end();
  });
});

describe('when guard stops and a part does not end', () => {
  const limits = { shutdownSeconds: 0.3 };
  const upload = 'POST /upload?token=secret HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nx';
  const page = 'GET /page?token=secret HTTP/1.1\r\nHost: a\r\n\r\n';

  it.each<[what: string, request: string, named: string, go: (client: RawClient) => void]>([
    ['a client that uploads very slowly', upload, 'POST /upload', trickle],
    ['a client to whose request WordPress never responds', page, 'GET /page', () => {}],
  ])(
    '%s is disconnected after `limits.shutdownSeconds`, and the log names its request without the query',
    async (...args) => {
      const [, request, named, go] = args;
      let onRequest = () => {};
      const reached = new Promise<void>((resolve) => (onRequest = resolve));
      const port = await webServer((received) => {
        received.resume();
        onRequest();
      });
      const { logger, find } = loggerWithLines();
      const gateway = await startGateway(port, { limits, logger });
      const client = new RawClient(gateway.port).send(request);
      await reached;
      go(client);
      await gateway.server.close();
      await client.end();
      expect(find('shutdown-cut-requests')).toMatchObject([
        { clients: { count: 1, oldest: [{ address: '127.0.0.1', request: named, seconds: expect.any(Number) }] } },
      ]);
      expect(JSON.stringify(find('shutdown-cut-requests'))).not.toContain('secret');
      expect(gateway.server.openClients).toEqual({ count: 0, oldest: [] });
    },
  );

  it('a client that has ended its side delays nothing', async () => {
    let onRequest = () => {};
    const reached = new Promise<void>((resolve) => (onRequest = resolve));
    const { logger, find } = loggerWithLines();
    const gateway = await startGateway(await webServer(() => onRequest()), { limits, logger });
    const client = new RawClient(gateway.port).send(page);
    await reached;
    client.socket.end();
    await client.end();
    await gateway.server.close();
    expect(find('shutdown-cut-requests')).toEqual([]);
  });

  it('the log names only a few of many clients', async () => {
    const port = await webServer((_request, response) => void response.write('first'));
    const { logger, find } = loggerWithLines();
    const gateway = await startGateway(port, { limits, logger });
    const clients = Array.from({ length: 8 }, () => new RawClient(gateway.port).send(page));
    await Promise.all(clients.map((client) => client.until((text) => text.includes('first'))));
    await gateway.server.close();
    const [line] = find('shutdown-cut-requests') as unknown as [{ clients: { count: number; oldest: unknown[] } }];
    expect(line.clients.count).toBe(8);
    expect(line.clients.oldest).toHaveLength(5);
  });

  it('a shutdown in time is not logged', async () => {
    const { logger, find } = loggerWithLines();
    const gateway = await startGateway(await webServer((_request, response) => response.end('page')), { logger });
    await exchange(gateway.port, closing('GET / HTTP/1.1'));
    await gateway.server.close();
    expect(find('shutdown-cut-requests')).toEqual([]);
  });

  it('the process ends with exit code 1 and reports open parts: one that hangs while it closes, a timer', async () => {
    const defects = [
      // A server that never reports its close represents any part that hangs.
      `import { Server } from 'node:net'; Server.prototype.close = function () { return this; };`,
      'setInterval(() => {}, 1000);',
    ];
    const [hanging, timer] = await Promise.all(defects.map(stopWith));
    expect(hanging).toMatchObject({ code: 1, line: { seconds: 6, clients: { count: 0 } } });
    expect(hanging?.line.pending).toEqual(expect.arrayContaining(['connections of clients', 'API', 'database']));
    expect(timer).toMatchObject({ code: 1, line: { seconds: 6, pending: [], resources: { Timeout: 1 } } });
  });
});

/** Starts a guard with a defect, stops it, and returns its exit code and its log line about the shutdown. */
async function stopWith(defect: string) {
  const dataDir = await dataFolderFor(await fakeConnector(), {}, { limits: { shutdownSeconds: 1 } });
  // Guard's threads would have the defect as well.
  const main = `import { isMainThread } from 'node:worker_threads'; if (isMainThread) await import(${dataUrl(defect)});`;
  const guard = await serve(dataDir, { NODE_OPTIONS: `--import ${dataUrl(main)}` });
  guard.child.kill('SIGTERM');
  const [code] = (await once(guard.child, 'close')) as [number | null];
  const lines = guard.log().split('\n');
  return { code, line: JSON.parse(lines.find((line) => line.includes('"shutdown-timed-out"')) ?? '{}') };
}

const dataUrl = (source: string) => `"data:text/javascript,${encodeURIComponent(source).replaceAll("'", '%27')}"`;

/** Sends a byte of the body periodically until the test ends. */
function trickle(client: RawClient): void {
  const timer = setInterval(() => client.socket.writable && client.send('x'), 20);
  onTestFinished(() => clearInterval(timer));
}
