import { describe, expect, it } from 'vitest';
import { cataloguesFolder, createLanguages } from '../src/i18n/languages.js';
import { silentLogger } from '../src/lib/logger.js';
import { closing, countResponses, exchange, RawClient, toBody, toStatus } from './raw-client.js';
import { recordingServer, type SeenRequest, startGateway, type TestGateway } from './running-gateway.js';

const GET = 'GET / HTTP/1.1\r\nHost: example.com\r\n\r\n';

async function blockedGateway(): Promise<{ gateway: TestGateway; seen: SeenRequest[] }> {
  const { port, seen } = await recordingServer();
  const gateway = await startGateway(port, { limits: { headerSeconds: 1 } });
  gateway.rule({ blocked: ['127.0.0.1'], options: { xss_protection: 1, wp_remove_version: 1 } });
  return { gateway, seen };
}

describe('a blocked visitor', () => {
  it('is refused for every request on a connection', async () => {
    const { gateway, seen } = await blockedGateway();
    const client = new RawClient(gateway.port);
    for (let i = 1; i <= 5; i++)
      await client.send(GET).until((text) => countResponses(text) === i && text.endsWith('Blocked\n'));
    expect(client.received).not.toMatch(/HTTP\/1\.1 (?!403)/);
    expect(client.received).toContain('X-Content-Type-Options: nosniff');
    expect(client.received).toContain('Connection: keep-alive');
    expect(seen).toEqual([]);
  });

  it('gets one response for each of many requests sent at once, split anywhere', async () => {
    const { gateway } = await blockedGateway();
    const client = new RawClient(gateway.port);
    const bytes = GET.repeat(50);
    for (let i = 0; i < bytes.length; i += 333) {
      client.send(bytes.slice(i, i + 333));
      if (i % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await client.until((text) => countResponses(text) === 50);
  });

  it('gets a page in a browser', async () => {
    const { gateway } = await blockedGateway();
    const received = await exchange(gateway.port, closing('GET / HTTP/1.1\r\nAccept: text/html,*/*'));
    expect(toBody(received)).toContain('You are blocked from this site');
    expect(received).toContain('127.0.0.1');
    expect(received).toContain('Connection: close');
  });

  it.each([
    ['de_DE', 'Sie sind auf dieser Website gesperrt'],
    ['es_ES', 'Estás bloqueado en este sitio'],
    ['it_IT', 'Sei bloccato su questo sito'],
  ])('gets the page in the site’s language: %s', async (locale, heading) => {
    const { gateway } = await blockedGateway();
    const languages = createLanguages({ folder: cataloguesFolder, logger: silentLogger() });
    gateway.rule({ blocked: ['127.0.0.1'], language: languages(locale) });
    const head = 'GET / HTTP/1.1\r\nHost: example.com\r\nAccept: text/html\r\n\r\n';
    const client = new RawClient(gateway.port);
    client.send(head.repeat(2));
    await client.until((text) => text.split('</html>').length === 3);
    const pages = Buffer.from(client.received, 'latin1').toString();
    expect(pages.split(`<h1>${heading}</h1>`)).toHaveLength(3);
    expect(pages).toContain(`lang="${locale.replace('_', '-')}"`);
    expect(pages).not.toMatch(/#{4}|%%/);
    const lengths = [...pages.matchAll(/Content-Length: (\d+)\r\n/g)].map(([, length]) => Number(length));
    const bodies = pages.split('\r\n\r\n').slice(1);
    expect(Buffer.byteLength((bodies[0] as string).split('HTTP/1.1')[0] as string)).toBe(lengths[0]);
  });

  it('gets a separate reference with every page, even when the responses are read late', async () => {
    const { gateway } = await blockedGateway();
    const head = 'GET / HTTP/1.1\r\nHost: example.com\r\nAccept: text/html\r\n\r\n';
    const slow = new RawClient(gateway.port);
    slow.socket.pause();
    slow.send(head.repeat(100));
    // Meanwhile other clients of the same address get responses from the same bytes.
    const other = new RawClient(gateway.port);
    for (let i = 1; i <= 20; i++) await other.send(head).until((text) => text.split('</html>').length === i + 1);
    slow.socket.resume();
    await slow.until((text) => text.split('</html>').length === 101);
    const all = (slow.received + other.received).match(/[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}(?=<\/dd>)/g) ?? [];
    expect(all.length).toBe(120);
    expect(new Set(all).size).toBe(120);
  });

  it('gets no body for HEAD', async () => {
    const { gateway } = await blockedGateway();
    const received = await exchange(gateway.port, 'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect([toStatus(received), toBody(received)]).toEqual([403, '']);
  });

  it.each([
    ['that waits for 100 Continue', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n'],
    ['for a WebSocket', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
    ['over HTTP/1.0', 'GET / HTTP/1.0\r\nHost: a\r\n\r\n'],
    ['that ends the connection', closing('GET / HTTP/1.1')],
  ])('with a request %s gets one refusal, and the connection ends', async (_what, bytes) => {
    const { gateway, seen } = await blockedGateway();
    const received = await new RawClient(gateway.port).send(bytes).end();
    expect([toStatus(received), countResponses(received)]).toEqual([403, 1]);
    expect(seen).toEqual([]);
  });

  it.each([
    ['a length', 'Content-Length: 39', 'GET /hidden HTTP/1.1\r\nHost: a\r\n\r\nabcdef'],
    ['chunks', 'Transfer-Encoding: chunked', '3\r\nabc\r\n0\r\n\r\n'],
  ])(
    'with a request whose body has %s gets one refusal, and the body is not read as another request',
    async (_what, header, body) => {
      const { gateway, seen } = await blockedGateway();
      const client = new RawClient(gateway.port).send(`POST / HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n${body}`);
      await client.send(closing('GET /next HTTP/1.1')).end();
      expect(countResponses(client.received)).toBe(2);
      expect(client.received).not.toMatch(/HTTP\/1\.1 (?!403)/);
      expect(gateway.visits.map(({ target }) => target)).toEqual(['/', '/next']);
      expect(seen).toEqual([]);
    },
  );

  it('with bytes that no parser accepts gets 400, and the connection ends', async () => {
    const { gateway, seen } = await blockedGateway();
    const received = await new RawClient(gateway.port).send('nonsense\r\n\r\n').end();
    expect([toStatus(received), countResponses(received)]).toEqual([400, 1]);
    expect(seen).toEqual([]);
  });

  it('that never completes a head, or sends nothing, is disconnected', async () => {
    const { gateway } = await blockedGateway();
    expect(toStatus(await new RawClient(gateway.port).send(`GET / HTTP/1.1\r\nX: ${'a'.repeat(40_000)}`).end())).toBe(
      431,
    );
    expect(toStatus(await new RawClient(gateway.port).end())).toBe(408);
  });

  it('that sends requests endlessly and reads no response gets a bounded number, and the connection ends', async () => {
    const { gateway } = await blockedGateway();
    const client = new RawClient(gateway.port);
    client.socket.pause();
    client.send(GET.repeat(5000));
    await expect.poll(() => gateway.server.connections).toBe(0);
    expect(gateway.visits.length).toBeLessThan(200);
  });

  it('is served on the same connection once the owner unblocks the address, with bytes already sent', async () => {
    const { gateway, seen } = await blockedGateway();
    const client = new RawClient(gateway.port).send(GET);
    await client.until((text) => text.endsWith('Blocked\n'));
    client.send('GET /half HTTP/1.1\r\nHo');
    await new Promise((resolve) => setTimeout(resolve, 50));
    gateway.rule({});
    await client.send('st: a\r\n\r\n').until((text) => text.endsWith('hello'));
    await client
      .send('POST /more HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc')
      .until((text) => countResponses(text) === 3);
    expect(seen).toMatchObject([{ url: '/half' }, { url: '/more', body: 'abc' }]);
  });

  it('is refused on a connection that was open before the block', async () => {
    const { gateway, seen } = await blockedGateway();
    gateway.rule({});
    const client = new RawClient(gateway.port).send(GET);
    await client.until((text) => text.endsWith('hello'));
    gateway.rule({ blocked: ['127.0.0.1'] });
    await client.send(GET).until((text) => text.endsWith('Blocked\n'));
    expect(seen).toHaveLength(1);
  });

  it('does not keep guard from stopping', async () => {
    const { gateway } = await blockedGateway();
    const client = new RawClient(gateway.port).send(GET);
    await client.until((text) => text.endsWith('Blocked\n'));
    const interval = setInterval(() => client.socket.writable && client.send(GET), 50);
    const began = Date.now();
    await gateway.server.close();
    clearInterval(interval);
    expect(Date.now() - began).toBeLessThan(2000);
  });
});
