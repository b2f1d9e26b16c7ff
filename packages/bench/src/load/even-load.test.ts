import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { evenLoad } from './even-load.js';

async function server(respond: (response: ServerResponse, at: number) => void) {
  const seen: { at: number; target: string; from: string }[] = [];
  const listening = createServer((request, response) => {
    const at = performance.now();
    seen.push({ at, target: request.url ?? '', from: String(request.headers['x-forwarded-for']) });
    respond(response, at);
  });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void listening.close().closeAllConnections());
  return { url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}/`, seen };
}

describe('an even load', () => {
  it('sends the given number of requests, from each address in turn, never twice for the same target', async () => {
    const { url, seen } = await server((response) => response.writeHead(403).end('no'));
    const load = {
      url,
      seconds: 1,
      perSecond: 400,
      connections: 8,
      addresses: 10,
      priority: 'load',
      expect: 'refused',
    } as const;
    const { requests, skipped } = await evenLoad(load);
    expect(requests).toBe(seen.length);
    expect(requests + skipped).toBeGreaterThan(380);
    expect(requests + skipped).toBeLessThan(420);
    expect(new Set(seen.map(({ target }) => target)).size).toBe(seen.length);
    expect(new Set(seen.map(({ from }) => from)).size).toBe(10);
  });

  it('omits requests that a stalled server could not receive in time, and sends no burst afterwards', async () => {
    let still: Promise<unknown> | undefined;
    const { url, seen } = await server(async (response) => {
      still ??= sleep(500);
      await still;
      response.end('yes');
    });
    const load = { url, seconds: 1, perSecond: 400, connections: 4, priority: 'probe', expect: 'allowed' } as const;
    const { requests, skipped, p99 } = await evenLoad(load);
    expect(requests).toBeLessThan(260);
    expect(skipped).toBeGreaterThan(150);
    expect(p99).toBeGreaterThan(400);
    const [first] = seen;
    const soonAfter = seen.filter(({ at }) => at - (first?.at ?? 0) > 490 && at - (first?.at ?? 0) < 530);
    expect(soonAfter.length).toBeLessThan(40);
  });

  it('fails when a response is not the expected one', async () => {
    const { url } = await server((response) => response.end('yes'));
    const load = { url, seconds: 0.1, perSecond: 100, connections: 1, priority: 'probe', expect: 'refused' } as const;
    await expect(evenLoad(load)).rejects.toThrow('were not refused');
  });
});
