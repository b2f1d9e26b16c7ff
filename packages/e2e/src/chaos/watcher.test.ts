import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { addedMs } from './verdict.js';
import { samplePage, watchPage } from './watcher.js';

const closings: (() => void)[] = [];
afterEach(() => {
  for (const close of closings.splice(0)) close();
});

/** A web server that answers after so many milliseconds; null closes the connection without an answer. */
async function answering(ms: number, status: number | null = 200): Promise<number> {
  const server = createServer(async (request, response) => {
    await sleep(ms);
    if (status === null) request.socket.destroy();
    else response.writeHead(status).end('a page');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closings.push(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function watched(guard: Parameters<typeof answering>, upstream: Parameters<typeof answering>) {
  const [guardPort, upstreamPort] = [await answering(...guard), await answering(...upstream)];
  return { guardPort, upstreamPort, host: 'example.com', from: '127.0.0.9' };
}

describe.runIf(process.platform === 'linux')('the watcher', () => {
  it('measures the time that guard adds', async () => {
    const sample = await samplePage(await watched([1500], [0]), 'at the end');
    expect(sample).toMatchObject({ when: 'at the end', status: 200 });
    expect(sample.ms).toBeGreaterThanOrEqual(1490);
    expect(addedMs(sample)).toBe(sample.ms - sample.directMs);
  });

  it('does not count the time that the web server itself takes', async () => {
    const sample = await samplePage(await watched([100], [1500]), 'at the end');
    expect(sample.directMs).toBeGreaterThanOrEqual(1490);
    expect(addedMs(sample)).toBe(0);
  });

  it('reports a refusal and a missing response', async () => {
    expect(await samplePage(await watched([0, 503], [0]), 'at the end')).toMatchObject({ status: 503 });
    expect(await samplePage(await watched([0, null], [0]), 'at the end')).toMatchObject({ status: null });
  });

  it('sends requests until the run is over', async () => {
    let requests = 0;
    const samples = await watchPage(await watched([0], [0]), () => requests++ === 2);
    expect(samples.map(({ when }) => when)).toEqual(['during chaos', 'during chaos']);
  });
});
