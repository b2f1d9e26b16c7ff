import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished } from 'vitest';
import { countResponses, RawClient, toStatus } from './raw-client.js';
import { rawServer, recordingServer, startGateway, type TestGateway } from './running-gateway.js';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const CLOSING = 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const post = (body: string): string => `POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
/** Requests that may be read before guard stops: the one under way and those that wait. */
const READ_MAX = 101;

/** Counts the requests that Node's servers in this process read. */
function countRequests(): () => number {
  let count = 0;
  const add = (): void => void count++;
  subscribe('http.server.request.start', add);
  onTestFinished(() => void unsubscribe('http.server.request.start', add));
  return () => count;
}

/** A web server that never responds. */
const silentServer = (): Promise<number> => rawServer((socket) => void socket.on('data', () => {}));

async function expectServing(gateway: TestGateway): Promise<void> {
  const other = new RawClient(gateway.port).send('GET /xmlrpc.php HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  expect(toStatus(await other.end())).toBe(403);
}

describe('a connection with more requests than guard keeps', () => {
  it.each([
    ['GET', GET.repeat(100_000)],
    ['POST', post('a=1').repeat(50_000)],
    ['GET with a long head', GET.replace('\r\n\r\n', `\r\nX-A: ${'a'.repeat(8000)}\r\n\r\n`).repeat(400)],
    ['GET after a POST', post('x'.repeat(100)) + GET.repeat(100_000)],
    ['GET after the last request', CLOSING + GET.repeat(100_000)],
    [
      'WebSocket handshakes',
      GET.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n').repeat(30_000),
    ],
  ])('is not read further, and ended when the client continues to send: %s', async (_what, bytes) => {
    const gateway = await startGateway(await silentServer());
    gateway.rule({ options: { disable_xml_rpc: 1 } });
    const read = countRequests();
    const client = new RawClient(gateway.port).send(bytes);
    await client.end();
    expect(read()).toBeLessThanOrEqual(READ_MAX);
    await expectServing(gateway);
    await expect.poll(() => gateway.server.connections).toBe(0);
  });

  it.each([
    ['forwarded', GET, 200],
    ['refused', 'GET /xmlrpc.php HTTP/1.1\r\nHost: a\r\n\r\n', 403],
  ])(
    'gets the responses to the requests that were read, the last with Connection: close: %s',
    async (_what, request, status) => {
      const { port } = await recordingServer();
      const gateway = await startGateway(port);
      gateway.rule({ options: { disable_xml_rpc: 1 } });
      const read = countRequests();
      const received = await new RawClient(gateway.port).send(request.repeat(2000)).end();
      expect(toStatus(received)).toBe(status);
      expect(countResponses(received)).toBeGreaterThan(50);
      // Requests that reached the web server are counted as well.
      expect(read()).toBeLessThanOrEqual(2 * READ_MAX);
      expect(received.slice(received.lastIndexOf('HTTP/1.1 '))).toContain('Connection: close');
      await expectServing(gateway);
    },
  );

  it('limits long heads by their size as well', async () => {
    const gateway = await startGateway(await silentServer());
    const read = countRequests();
    const long = GET.replace('\r\n\r\n', `\r\nX-A: ${'a'.repeat(30_000)}\r\n\r\n`);
    const client = new RawClient(gateway.port).send(long.repeat(20));
    await expect.poll(read).toBeGreaterThan(2);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(read()).toBeLessThan(6);
    client.socket.destroy();
    await expect.poll(() => gateway.server.connections).toBe(0);
  });

  it('is released completely when its client resets it afterwards', async () => {
    const gateway = await startGateway(await silentServer(), { limits: { upstreamSeconds: 300 } });
    const clients = Array.from({ length: 5 }, () => new RawClient(gateway.port).send(GET.repeat(5000)));
    await expect.poll(() => gateway.server.connections).toBe(5);
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const { socket } of clients) socket.resetAndDestroy();
    await expect.poll(() => gateway.server.connections).toBe(0);
  });

  it('gets a long response completely when it reads slowly', async () => {
    const size = 20_000_000;
    const { port } = await recordingServer((_request, response) => void response.end(Buffer.alloc(size, 120)));
    const gateway = await startGateway(port);
    const client = new RawClient(gateway.port);
    const { getReceivedBytes, resume } = client.pauseAfterFirst();
    client.send(CLOSING.replace('Connection: close\r\n', '') + GET.repeat(1000));
    await expect.poll(getReceivedBytes).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 100));
    resume();
    await expect.poll(getReceivedBytes, { timeout: 30_000 }).toBeGreaterThan(2 * size);
    client.socket.destroy();
  });
});
