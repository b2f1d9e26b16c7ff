import { Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { exchange, RawClient, toStatus } from './raw-client.js';
import { type GatewayOptions, recordingServer, startGateway } from './running-gateway.js';

const POST = 'POST /wp-comments-post.php HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na=1';
const HANDSHAKE = 'GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
const API = 'GET /wp-json/security-optimizer/v1/status HTTP/1.1\r\nHost: a\r\n\r\n';

/**
 * Removes the address of a connection, as a reset before the connection is accepted does, while its bytes can still be
 * read. Real resets have this effect only sometimes.
 */
function withoutAddresses(): void {
  // Node reads the address with this method; the property itself can't be replaced.
  const node = Socket.prototype as unknown as { _getpeername(): { address?: string } };
  const spy = vi.spyOn(node, '_getpeername').mockReturnValue({});
  onTestFinished(() => spy.mockRestore());
}

describe('a connection whose address can no longer be read', () => {
  it.each<[string, string, GatewayOptions]>([
    ['a comment', POST, {}],
    ['a WebSocket', HANDSHAKE, {}],
    ['an API request', API, {}],
    ['a request through a trusted proxy', `X`, { trustedProxies: ['0.0.0.0/0', '::/0'] }],
    ['a request after a PROXY header', 'PROXY', { trustedProxies: ['0.0.0.0/0', '::/0'], proxyProtocol: true }],
  ])('is never served: %s', async (_what, bytes, options) => {
    const { port, seen } = await recordingServer();
    const api = vi.fn();
    const gateway = await startGateway(port, { ...options, api });
    const sent =
      bytes === 'PROXY'
        ? `PROXY TCP4 192.0.2.1 192.0.2.2 5000 80\r\n${POST}`
        : bytes === 'X'
          ? POST.replace('Host: a', 'Host: a\r\nX-Forwarded-For: 192.0.2.7')
          : bytes;
    withoutAddresses();
    const received = await new RawClient(gateway.port).send(sent).end();
    expect([received, seen, api.mock.calls]).toEqual(['', [], []]);
    await expect.poll(() => gateway.server.connections).toBe(0);
    vi.restoreAllMocks();
    const next = options.proxyProtocol === true ? `PROXY TCP4 192.0.2.1 192.0.2.2 5000 80\r\n${POST}` : POST;
    expect(toStatus(await exchange(gateway.port, next))).toBe(200);
  });

  it('does not bypass a block by resetting at any moment', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    gateway.rule({ blocked: ['127.0.0.0/8'] });
    for (let round = 0; round < 30; round++) {
      const clients = Array.from({ length: 50 }, () => new RawClient(gateway.port).send(POST));
      await new Promise((resolve) => setImmediate(resolve));
      for (const { socket } of clients) socket.resetAndDestroy();
    }
    await expect.poll(() => gateway.server.connections).toBe(0);
    expect(seen).toEqual([]);
    expect(gateway.visits.filter(({ address }) => address === '0.0.0.0')).toEqual([]);
  });
});
