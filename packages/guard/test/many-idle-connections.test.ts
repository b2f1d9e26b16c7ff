import { describe, expect, it } from 'vitest';
import { RawClient, toStatus } from './raw-client.js';
import { recordingServer, startGateway } from './running-gateway.js';

const GET = 'GET /page HTTP/1.1\r\nHost: a\r\n\r\n';
const LIMIT = 10;

describe('idle connections of one address', () => {
  it.each([
    ['that have sent nothing', ''],
    ['that have sent part of a head', 'GET / HTTP/1.1\r\nHos'],
    ['that have received a response', GET],
  ])('are closed, oldest first, before a new one is refused: %s', async (_what, bytes) => {
    const { port } = await recordingServer();
    const gateway = await startGateway(port, { limits: { connectionsPerAddress: LIMIT } });
    const clients: RawClient[] = [];
    for (let i = 0; i < LIMIT; i++) {
      const client = new RawClient(gateway.port);
      if (bytes !== '') client.send(bytes);
      clients.push(client);
      await expect.poll(() => gateway.server.connections).toBe(i + 1);
      if (bytes === GET) await client.until((text) => text.endsWith('hello'));
    }
    const others = Array.from({ length: 3 }, () => new RawClient(gateway.port).send(GET));
    for (const other of others) await other.until((text) => toStatus(text) === 200);
    await expect.poll(() => clients.filter(({ closed }) => closed).length).toBe(3);
    expect(clients.map(({ closed }) => closed).indexOf(false)).toBe(3);
    expect(gateway.server.connections).toBe(LIMIT);
  });

  it('are not closed for other addresses', async () => {
    const { port } = await recordingServer();
    const gateway = await startGateway(port, { limits: { connectionsPerAddress: LIMIT } });
    const neighbour = new RawClient(gateway.port, '127.0.0.1').send(GET);
    await neighbour.until((text) => toStatus(text) === 200);
    for (let i = 0; i < 3 * LIMIT; i++) {
      const client = new RawClient(gateway.port).send(GET);
      await client.until((text) => toStatus(text) === 200);
    }
    expect(gateway.server.connections).toBe(LIMIT);
  });

  it('that are all busy stay open, and new ones are refused', async () => {
    const { port, seen } = await recordingServer(() => {});
    const gateway = await startGateway(port, { limits: { connectionsPerAddress: LIMIT } });
    const busy = Array.from({ length: LIMIT }, () => new RawClient(gateway.port).send(GET));
    await expect.poll(() => seen.length).toBe(LIMIT);
    const refused = new RawClient(gateway.port).send(GET);
    expect(await refused.end()).toBe('');
    expect(busy.filter(({ closed }) => closed)).toEqual([]);
  });
});
