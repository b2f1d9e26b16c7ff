import { describe, expect, it } from 'vitest';
import { version } from '../src/lib/version.js';
import { createInspection, INSPECTION_HEADER, readArrival } from '../src/wordpress/inspection.js';
import { closing, exchange, toBody, toStatus } from './raw-client.js';
import { recordingServer, startGateway } from './running-gateway.js';
import { OTHER_SECRET } from './support/fake-connector.js';
import { SECRET } from './support/site-config.js';

async function inspect(port: number, header: string, more = ''): Promise<string> {
  return exchange(port, closing(`GET /missing?x=1 HTTP/1.1\r\n${INSPECTION_HEADER}: ${header}${more}`));
}

describe('a request for inspection', () => {
  it('gets a report on how it arrived, signed for this request only', async () => {
    const { port } = await recordingServer();
    const gateway = await startGateway(port, { trustedProxies: ['127.0.0.1'] });
    const { header, nonce } = createInspection(SECRET, Date.now());
    const forwarded = '\r\nX-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https';
    const body = toBody(await inspect(gateway.port, header, forwarded));
    expect(readArrival(SECRET, nonce, body)).toMatchObject({
      version,
      client: '192.0.2.7',
      peer: '127.0.0.1',
      peerPort: expect.any(Number),
      isPeerTrusted: true,
      scheme: 'https',
      host: 'example.com',
      forwardedFor: '192.0.2.7',
      forwardedProto: 'https',
      refusedBy: null,
    });
    expect(readArrival(SECRET, '00'.repeat(16), body)).toBeNull();
    expect(readArrival(SECRET, nonce, body.replace('192.0.2.7', '192.0.2.8'))).toBeNull();
  });

  it('reports that the peer is a trusted proxy of the site only', async () => {
    const { port } = await recordingServer();
    const upstream = `http://127.0.0.1:${port}`;
    const own = { id: 'site', hosts: ['*'], upstream, trustedProxies: ['127.0.0.1'] };
    const gateway = await startGateway(port, { sites: [own] });
    const { header, nonce } = createInspection(SECRET, Date.now());
    const body = toBody(await inspect(gateway.port, header, '\r\nX-Forwarded-For: 192.0.2.7'));
    expect(readArrival(SECRET, nonce, body)).toMatchObject({ client: '192.0.2.7', isPeerTrusted: true });
  });

  it('neither reaches WordPress nor counts as a visit', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    expect(toStatus(await inspect(gateway.port, createInspection(SECRET, Date.now()).header))).toBe(200);
    expect(seen).toEqual([]);
    expect(gateway.visits).toEqual([]);
  });

  it('gets a response even when a rule refuses its sender, and the response names the rule', async () => {
    const gateway = await startGateway((await recordingServer()).port);
    gateway.rule({ blocked: ['127.0.0.1'] });
    const { header, nonce } = createInspection(SECRET, Date.now());
    const arrival = readArrival(SECRET, nonce, toBody(await inspect(gateway.port, header)));
    expect(arrival).toMatchObject({ scheme: 'http', isPeerTrusted: false, refusedBy: 'blocked-visitor' });
  });

  it.each([
    ['with another key', () => createInspection(OTHER_SECRET, Date.now()).header],
    ['from two minutes ago', () => createInspection(SECRET, Date.now() - 120_000).header],
    [
      'with a changed nonce',
      () => createInspection(SECRET, Date.now()).header.replace(/ [0-9a-f]{32} /, ` ${'0'.repeat(32)} `),
    ],
    ['without a signature', () => '1'],
  ])('%s is an ordinary visit, and WordPress does not see the header', async (_which, header) => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    const response = await inspect(gateway.port, header());
    expect(seen).toHaveLength(1);
    expect(Object.keys(seen[0]?.headers ?? {})).not.toContain(INSPECTION_HEADER);
    expect(readArrival(SECRET, header().split(' ')[3] ?? '', toBody(response))).toBeNull();
    expect(gateway.visits).toHaveLength(1);
  });
});
