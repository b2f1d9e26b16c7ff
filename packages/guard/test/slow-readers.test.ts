import { describe, expect, it } from 'vitest';
import { RawClient, toStatus } from './raw-client.js';
import { startGateway, webServer } from './running-gateway.js';

const get = (path: string, address: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\n\r\n`;
/** More than the system's buffers of two connections hold. */
const SIZE = 40_000_000;

describe('visitors who read nothing of a long response', () => {
  it.each([
    ['from many addresses', (i: number) => `192.0.2.${i}`],
    ['from one address', () => '192.0.2.1'],
  ])('delay no other client: %s', async (_what, address) => {
    const port = await webServer((request, response) => {
      response.end(request.url === '/long' ? Buffer.alloc(SIZE, 120) : 'page');
    });
    const gateway = await startGateway(port, { trustedProxies: ['127.0.0.1'], limits: { upstreamConnections: 2 } });
    for (let i = 0; i < 4; i++) new RawClient(gateway.port).send(get('/long', address(i))).socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const other = new RawClient(gateway.port).send(get('/page', '192.0.2.99'));
    await other.until((text) => toStatus(text) === 200);
  });

  it('get all of it when they continue to read', async () => {
    const port = await webServer((_request, response) => void response.end(Buffer.alloc(SIZE, 120)));
    const gateway = await startGateway(port, { limits: { upstreamConnections: 1 } });
    const client = new RawClient(gateway.port);
    const received = client.readSlowly(1500);
    client.send(get('/long', '').replace('\r\nHost', '\r\nConnection: close\r\nHost'));
    await client.end();
    expect(received()).toBeGreaterThan(SIZE);
  });
});
