import { createServer } from 'node:http';
import { type AddressInfo, createServer as createRawServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseAddress } from '../src/lib/address.js';
import { forward, type ResponseHandler } from '../src/upstream/forward.js';
import { UpstreamPool } from '../src/upstream/upstream-pool.js';
import { closing, exchange, RawClient, toStatus } from './raw-client.js';
import { rawServer, recordingServer } from './running-gateway.js';
import { eventually } from './support/scratch.js';

/**
 * A server that forwards everything with this handler and records failures. A request may set its address by `X-From`.
 */
async function forwarding(upstream: number, watch: Partial<ResponseHandler>) {
  const failures: unknown[] = [];
  const pool = new UpstreamPool({ host: '127.0.0.1', port: upstream }, 2);
  const server = createServer((request, response) => {
    forward({
      request,
      response,
      pool,
      address: parseAddress(String(request.headers['x-from'] ?? '192.0.2.1')) as never,
      target: request.url as string,
      toForwardedClient: () => ({
        address: '192.0.2.1',
        scheme: 'http',
        host: 'a',
        signed: ['X-A', 'b'],
        trustedHeaders: null,
        context: null,
      }),
      strippedHeaders: null,
      timeoutMs: 5000,
      idleMs: 5000,
      expectsContinue: false,
      editHeaders() {},
      onSignal() {},
      onResponse() {},
      handler: {
        outlivesClient: false,
        onLoginReport: () => null,
        onHead: () => false,
        onNoResponse: () => null,
        ...watch,
      },
      onFailure(_kind, cause, started) {
        failures.push(cause);
        if (started) response.destroy();
        else response.writeHead(502).end();
      },
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    pool.destroy();
  });
  return { port: (server.address() as AddressInfo).port, failures, pool };
}

const broken = new Error('could not be stored');

it('a response that waits for a failing task ends the connection of its client only, and is reported', async () => {
  const { port: upstream } = await recordingServer();
  let fails = true;
  const onLoginReport = (): Promise<void> | null => (fails ? Promise.reject(broken) : null);
  const { port, failures } = await forwarding(upstream, { onLoginReport });
  expect(await exchange(port, closing('GET / HTTP/1.1'))).toBe('');
  expect(failures).toEqual([broken]);
  fails = false;
  expect(toStatus(await exchange(port, closing('GET / HTTP/1.1')))).toBe(200);
});

it('a response that fails after its wait ends the connection of its client only, and is reported', async () => {
  const { port: upstream } = await recordingServer();
  const { port, failures } = await forwarding(upstream, {
    onLoginReport: async () => {},
    onHead() {
      throw broken;
    },
  });
  expect(await exchange(port, closing('GET / HTTP/1.1'))).toBe('');
  expect(failures).toEqual([broken]);
});

it('a failure of WordPress that waits for a failing task ends the connection, and is reported', async () => {
  const upstream = await rawServer((socket) => void socket.once('data', () => socket.destroy()));
  const { port, failures } = await forwarding(upstream, { onNoResponse: () => Promise.reject(broken) });
  expect(await exchange(port, closing('GET / HTTP/1.1'))).toBe('');
  expect(failures).toEqual([broken]);
});

describe('a request that was sent completely on a persistent connection, and must be sent again', () => {
  /** A persistent connection with a request that gets no response, and the reports of requests without a response. */
  async function repeating() {
    const open: Socket[] = [];
    const lines: string[] = [];
    const server = createRawServer((socket) => {
      open.push(socket);
      socket.on('error', () => {});
      socket.on('data', (data) => {
        const text = data.toString('latin1');
        lines.push(...(text.match(/^GET \S+/gm) ?? []));
        if (text.startsWith('GET /first')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const stop = (): void => {
      server.close();
      for (const socket of open) socket.destroy();
    };
    onTestFinished(stop);
    const reported: string[] = [];
    const { port, pool } = await forwarding((server.address() as AddressInfo).port, {
      onNoResponse(sent) {
        reported.push(sent);
        return null;
      },
    });
    await exchange(port, closing('GET /first HTTP/1.1'));
    const client = new RawClient(port).send(closing('GET /again HTTP/1.1'));
    await eventually(() => lines.includes('GET /again'));
    /** Sends a request from another address, which waits for a response or for a connection. */
    const sendFrom = (address: string) =>
      new RawClient(port).send(closing(`GET /other HTTP/1.1\r\nX-From: ${address}`));
    return { client, pool, server, stop, reported: reported, lines, sendFrom, endFirst: () => void open[0]?.end() };
  }

  it('is reported as sent completely when the pool is closed', async () => {
    const { client, pool, reported, endFirst } = await repeating();
    pool.close();
    endFirst();
    expect(toStatus(await client.end())).toBe(502);
    expect(reported).toEqual(['whole']);
  });

  it('is reported as sent completely when the web server has disconnected', async () => {
    const { client, server, reported, endFirst } = await repeating();
    server.close();
    endFirst();
    expect(toStatus(await client.end())).toBe(502);
    expect(reported).toEqual(['whole']);
  });

  it('is reported as sent completely when its client disconnects while it waits', async () => {
    const { client, pool, reported, lines, sendFrom, endFirst } = await repeating();
    sendFrom('192.0.2.2');
    await eventually(() => lines.includes('GET /other'));
    sendFrom('198.51.100.3');
    await eventually(() => pool.waiting === 1);
    endFirst();
    // The other waiting request has got the place, and this one waits.
    await eventually(() => lines.filter((line) => line === 'GET /other').length === 2 && pool.waiting === 1);
    client.socket.destroy();
    await eventually(() => reported.length === 1);
    expect(reported).toEqual(['whole']);
  });
});
