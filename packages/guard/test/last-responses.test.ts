import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { countResponses, RawClient, toStatus } from './raw-client.js';
import { recordingServer, startGateway } from './running-gateway.js';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const LAST_REQUEST = 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const RAW = 'GET /?\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n';

/** A client that keeps its side open when guard has ended its own, and records errors of the connection. */
function halfOpenClient(port: number) {
  const client = new RawClient(port);
  client.socket.allowHalfOpen = true;
  const faults: string[] = [];
  client.socket.on('error', ({ message }) => faults.push(message));
  const ended = new Promise<void>((resolve) => client.socket.once('end', resolve));
  return { client, faults, ended };
}

/** How long guard continues to read after a last response, milliseconds. */
const LINGER_MS = 2000;

/** Extends it to an hour until the test ends, since a busy machine may take longer to send. */
function extendLinger(): void {
  const { setTimeout: set } = globalThis;
  const begin = (run: () => void, ms?: number): NodeJS.Timeout => set(run, ms === LINGER_MS ? 3_600_000 : ms);
  const changed = vi.spyOn(globalThis, 'setTimeout').mockImplementation(begin as typeof setTimeout);
  onTestFinished(() => changed.mockRestore());
}

/**
 * Sends more after the end of the responses, and then more than one read accepts. Closing a connection with unread
 * bytes resets it, which destroys responses that the client has not read yet.
 */
async function continueSending(client: RawClient, bytes: string): Promise<void> {
  for (const piece of [...(bytes.match(/.{1,2000}/gs) ?? []), GET.repeat(4000), GET.repeat(4000)]) {
    client.send(piece);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('the last response of a connection', () => {
  const kinds: [string, string, string][] = [
    ['a request that ends the connection, followed by another', LAST_REQUEST, GET],
    ['an HTTP/1.0 request, followed by another', 'GET / HTTP/1.0\r\nHost: a\r\n\r\n', GET],
    [
      'an upgrade request for another protocol',
      GET.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'),
      GET,
    ],
    ['raw bytes in a target, followed by another request', LAST_REQUEST.replace('/last', '/?\xc3\xa9'), GET],
    ['raw bytes after two requests', GET + GET + RAW, RAW],
    ['raw bytes after a request with raw bytes', RAW + GET + RAW, GET],
    ['an invalid request', 'BROKEN\r\n\r\n', GET],
    [
      'a body of a refused request',
      `${LAST_REQUEST.replace('GET /last', 'POST /xmlrpc.php').slice(0, -2)}Content-Length: 4000\r\n\r\nab`,
      'x'.repeat(3998),
    ],
    [
      'a chunked body of a refused request',
      `${LAST_REQUEST.replace('GET /last', 'POST /xmlrpc.php').slice(0, -2)}Transfer-Encoding: chunked\r\n\r\n`,
      `ff0\r\n${'x'.repeat(4080)}\r\n0\r\n\r\n`,
    ],
    [
      'WebSocket handshakes after it',
      LAST_REQUEST,
      GET.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    ],
    ['bytes after it that are not HTTP', LAST_REQUEST, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ];

  it.each(kinds)('reaches a client that is still sending: %s', async (_what, bytes, more) => {
    extendLinger();
    const { port } = await recordingServer();
    const gateway = await startGateway(port);
    gateway.rule({ options: { disable_xml_rpc: 1 } });
    const { client, faults, ended } = halfOpenClient(gateway.port);
    client.send(bytes);
    await ended;
    const responses = countResponses(client.received);
    expect(responses).toBeGreaterThan(0);
    await continueSending(client, more);
    expect(faults).toEqual([]);
    client.socket.end();
    await client.end();
    expect(faults).toEqual([]);
    // Requests after the last response got none.
    expect(countResponses(client.received)).toBe(responses);
    await expect.poll(() => gateway.server.connections).toBe(0);
  });

  it.each(['before', 'after'])('arrives when guard ends its connections %s it', async (when) => {
    extendLinger();
    let respond = () => {};
    const { port, seen } = await recordingServer((_request, response) => {
      respond = () => void response.end('hello');
    });
    const gateway = await startGateway(port);
    const { client, faults, ended } = halfOpenClient(gateway.port);
    client.send(when === 'before' ? GET : LAST_REQUEST);
    await expect.poll(() => seen.length).toBe(1);
    let closed = when === 'before' ? gateway.server.close() : null;
    respond();
    await ended;
    closed ??= gateway.server.close();
    expect(toStatus(client.received)).toBe(200);
    await continueSending(client, GET + GET);
    expect(faults).toEqual([]);
    client.socket.end();
    await Promise.all([client.end(), closed]);
    expect(faults).toEqual([]);
    expect(countResponses(client.received)).toBe(1);
  });

  it('ends the connection of a client that never stops sending', async () => {
    const { port } = await recordingServer();
    const gateway = await startGateway(port);
    for (const more of [Buffer.alloc(100_000), Buffer.from(GET.repeat(3000))]) {
      const { client, ended } = halfOpenClient(gateway.port);
      client.send(LAST_REQUEST);
      await ended;
      for (let n = 0; n < 20 && !client.closed; n++) client.send(more);
      await expect.poll(() => gateway.server.connections).toBe(0);
    }
  });
});
