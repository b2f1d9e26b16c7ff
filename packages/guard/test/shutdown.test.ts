import { describe, expect, it } from 'vitest';
import { closing, exchange, RawClient } from './raw-client.js';
import { runningGate, webServer } from './running-gate.js';

describe('when guard stops', () => {
  it('a running request is finished and nobody new is taken in', async () => {
    const port = await webServer((_request, response) => {
      response.write('first ');
      setTimeout(() => response.end('last'), 400);
    });
    const gate = await runningGate(port);
    const running = new RawClient(gate.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const idle = new RawClient(gate.port);
    await running.until((text) => text.includes('first'));
    const closed = gate.server.close();
    expect(await exchange(gate.port, closing('GET / HTTP/1.1'))).toBe('');
    expect(await running.end()).toMatch(/first [\s\S]*last\r\n0\r\n\r\n$/);
    await idle.end();
    await closed;
  });

  it('a request that takes too long is ended', async () => {
    const port = await webServer((_request, response) => void response.write('first'));
    const gate = await runningGate(port, { limits: { shutdownSeconds: 0.3 } });
    const running = new RawClient(gate.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await running.until((text) => text.includes('first'));
    // WordPress never ends its answer: without the limit this would wait until the test is given up.
    await gate.server.close();
    await running.end();
  });
});
