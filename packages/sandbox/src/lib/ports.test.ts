import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { findFreePort, isPortFree } from './ports.js';

it('finds a port that can be listened on, and that no outgoing connection is given meanwhile', async () => {
  const port = await findFreePort();
  expect(port).toBeGreaterThan(1023);
  expect(port).toBeLessThan(32_768);
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port }, resolve);
  });
  expect(await isPortFree('127.0.0.1', port)).toBe(false);
  await new Promise((resolve) => server.close(resolve));
});
