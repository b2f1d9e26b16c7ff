import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { countResponses, RawClient, toStatus } from './raw-client.js';
import { recordingServer, startGateway } from './running-gateway.js';

const post = (length: number, address = '192.0.2.1') =>
  `POST /up HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\nContent-Length: ${length}\r\n\r\n`;
const GET = 'GET /page HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.99\r\n\r\n';
const kilobytes = (count: number) => 'x'.repeat(count * 1024);

describe('visitors who send their bodies slowly', () => {
  it.each([
    ['a short one, byte by byte', 9000, 'x'],
    ['a long one, whose beginning arrives fast', 900_000, kilobytes(20)],
  ])('delay no other client: %s', async (_what, length, beginning) => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port, { trustedProxies: ['127.0.0.1'], limits: { upstreamConnections: 4 } });
    const slow = Array.from({ length: 12 }, (_, i) =>
      new RawClient(gateway.port).send(`${post(length, `192.0.2.${i}`)}${beginning}`),
    );
    // Long enough for each of them to get its connection.
    await new Promise((resolve) => setTimeout(resolve, 1300));
    const other = new RawClient(gateway.port).send(GET);
    await other.until((text) => toStatus(text) === 200);
    await other.send(`${post(5)}hello`).until((text) => countResponses(text) === 2);
    expect(seen.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['GET', '/page', ''],
      ['POST', '/up', 'hello'],
    ]);
    // They are served as well, one after another.
    for (const client of slow) client.send('x'.repeat(length - beginning.length));
    for (const client of slow) await client.until((text) => toStatus(text) === 200);
    expect(seen.filter(({ body }) => body.length === length)).toHaveLength(12);
  });

  it('and then stop leave room for the uploads of all other clients, whatever addresses they have', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port, { trustedProxies: ['127.0.0.1'], limits: { upstreamConnections: 128 } });
    const stalled = Array.from({ length: 4 * 145 }, (_, i) =>
      new RawClient(gateway.port).send(`${post(900_000, `192.0.2.${i % 4}`)}${kilobytes(20)}`),
    );
    await expect.poll(() => gateway.server.connections).toBe(stalled.length);
    await new Promise((resolve) => setTimeout(resolve, 1300));
    const others = ['198.51.100.1', '198.51.100.2', '203.0.113.3'].map((address) =>
      new RawClient(gateway.port).send(`${post(60 * 1024, address)}${kilobytes(20)}`),
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const other of others) other.send(kilobytes(40));
    for (const other of others) await other.until((text) => toStatus(text) === 200);
    expect(seen.map(({ body }) => body.length)).toEqual(others.map(() => 60 * 1024));
  });

  it('are told apart from those whose bytes guard had no time to read', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port, { trustedProxies: ['127.0.0.1'], limits: { upstreamConnections: 2 } });
    const uploading = new RawClient(gateway.port).send(`${post(100 * 1024)}${kilobytes(20)}`);
    await expect.poll(() => gateway.server.connections).toBe(1);
    const waiting = new RawClient(gateway.port).send(`${post(60 * 1024, '198.51.100.1')}${kilobytes(20)}`);
    await expect.poll(() => gateway.server.connections).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, 200));
    vi.advanceTimersByTime(1000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    // The next check comes when bytes have arrived and before they are read, as on a busy machine.
    uploading.send(kilobytes(40));
    vi.advanceTimersByTime(1000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    uploading.send(kilobytes(40));
    waiting.send(kilobytes(40));
    for (const client of [uploading, waiting]) await client.until((text) => toStatus(text) === 200);
    // The web server may read the end of the first one later.
    expect(new Set(seen.map(({ body }) => body.length))).toEqual(new Set([100 * 1024, 60 * 1024]));
  });

  it('leave room when they disconnect', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port, { trustedProxies: ['127.0.0.1'], limits: { upstreamConnections: 2 } });
    const abandoned = new RawClient(gateway.port).send(`${post(900_000)}${kilobytes(20)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const next = new RawClient(gateway.port).send(`${post(30 * 1024)}${kilobytes(20)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    abandoned.socket.destroy();
    await next.send(kilobytes(10)).until((text) => toStatus(text) === 200);
    expect(seen.map(({ body }) => body.length)).toEqual([30 * 1024]);
  });
});
