import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { RawClient } from './raw-client.js';
import { rawServer, startGateway } from './running-gateway.js';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const BODY = 'x'.repeat(500_000);
const POST = `POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: ${2 * BODY.length}\r\n\r\n${BODY}`;
const HANDSHAKE = 'GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

describe('a reset while guard reads nothing from the connection, and WordPress is silent', () => {
  it.each([
    ['a POST after another request', GET + POST],
    ['a POST after several requests', GET.repeat(3) + POST],
    [
      'a chunked POST after another request',
      `${GET}POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n7A120\r\n${BODY}`,
    ],
    ['a POST that WordPress does not read', POST],
    ['bytes after a WebSocket handshake', HANDSHAKE + BODY],
  ])('is detected: %s', async (_what, bytes) => {
    const open = new Set<Socket>();
    const port = await rawServer((socket) => {
      socket.pause();
      open.add(socket);
      socket.on('close', () => open.delete(socket));
    });
    const gateway = await startGateway(port, { limits: { upstreamSeconds: 300, idleSeconds: 300 } });
    const client = new RawClient(gateway.port).send(bytes);
    await expect.poll(() => open.size).toBe(1);
    // Long enough for all buffers to fill.
    await new Promise((resolve) => setTimeout(resolve, 300));
    client.socket.resetAndDestroy();
    await expect.poll(() => gateway.server.connections, { timeout: 10_000 }).toBe(0);
  });
});
