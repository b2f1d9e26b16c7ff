import { describe, expect, it } from 'vitest';
import { closing, exchange, RawClient } from './raw-client.js';
import { startGateway, webServer } from './running-gateway.js';

describe('when guard stops', () => {
  it('a running request is finished and nobody new is taken in', async () => {
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

  it('a request that takes too long is ended', async () => {
    const port = await webServer((_request, response) => void response.write('first'));
    const gateway = await startGateway(port, { limits: { shutdownSeconds: 0.3 } });
    const running = new RawClient(gateway.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await running.until((text) => text.includes('first'));
    // WordPress never ends its answer: without the limit this would wait until the test is given up.
    await gateway.server.close();
    await running.end();
  });
});
