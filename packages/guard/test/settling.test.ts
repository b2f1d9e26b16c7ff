import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { parseAddress } from '../src/lib/address.js';
import { forward, type ResponseHooks } from '../src/upstream/forward.js';
import { UpstreamPool } from '../src/upstream/upstream-pool.js';
import { closing, exchange, statusOf } from './raw-client.js';
import { rawServer, recordingServer } from './running-gateway.js';

/** A server that forwards everything with this watch, and says what became of it. */
async function forwarding(upstream: number, watch: Partial<ResponseHooks>) {
  const failures: unknown[] = [];
  const pool = new UpstreamPool({ host: '127.0.0.1', port: upstream }, 2);
  const server = createServer((request, response) => {
    forward({
      request,
      response,
      pool,
      address: parseAddress('192.0.2.1') as never,
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
      hooks: {
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
  return { port: (server.address() as AddressInfo).port, failures };
}

const broken = new Error('could not be stored');

it('an answer that waits for something that fails ends the connection of its client alone, and is told', async () => {
  const { port: upstream } = await recordingServer();
  let fails = true;
  const onLoginReport = (): Promise<void> | null => (fails ? Promise.reject(broken) : null);
  const { port, failures } = await forwarding(upstream, { onLoginReport });
  expect(await exchange(port, closing('GET / HTTP/1.1'))).toBe('');
  expect(failures).toEqual([broken]);
  fails = false;
  expect(statusOf(await exchange(port, closing('GET / HTTP/1.1')))).toBe(200);
});

it('an answer that cannot be given once its wait is over ends the connection of its client alone, and is told', async () => {
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

it('a failure of WordPress that waits for something that fails ends the connection, and is told', async () => {
  const upstream = await rawServer((socket) => void socket.once('data', () => socket.destroy()));
  const { port, failures } = await forwarding(upstream, { onNoResponse: () => Promise.reject(broken) });
  expect(await exchange(port, closing('GET / HTTP/1.1'))).toBe('');
  expect(failures).toEqual([broken]);
});
