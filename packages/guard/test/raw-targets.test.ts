import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noopObserver } from '../src/gateway/observer.js';
import { closing, countResponses, RawClient, toBody, toStatus } from './raw-client.js';
import { type GatewayOptions, rawServer, recordingServer, startGateway, webServer } from './running-gateway.js';
import { PASSWORD } from './support/fake-wordpress.js';
import { startLoginGateway } from './support/login-gateway.js';
import { recordedLog } from './support/logs.js';
import { scratchFolder } from './support/scratch.js';

/** `é` as its bytes: UTF-8, and Latin-1. */
const E8 = '\xc3\xa9';
const E1 = '\xe9';
const V1 = 'PROXY TCP4 192.0.2.7 198.51.100.1 4711 80\r\n';
const keepAliveRequest = (line: string, more = '') => `${line} HTTP/1.1\r\nHost: a${more}\r\n\r\n`;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function start(options: GatewayOptions = {}) {
  const upstream = await recordingServer();
  const refused: string[] = [];
  let requests = 0;
  const observer = {
    ...noopObserver,
    requested: () => void requests++,
    refused: (rule: string) => void refused.push(rule),
  };
  const gateway = await startGateway(upstream.port, { observer, ...options });
  /** Sends pieces in separate packets, and returns everything that is received. */
  const send = async (...pieces: string[]) => {
    const client = new RawClient(gateway.port);
    for (const piece of pieces) {
      client.send(piece);
      if (pieces.length > 1) await pause(30);
    }
    return client.end();
  };
  return { ...upstream, gateway, refused, send, requests: () => requests };
}

describe('a request line with raw bytes', () => {
  it.each([
    ['UTF-8 in the path', `GET /caf${E8}/`, '/caf%C3%A9/'],
    ['UTF-8 in the query', `GET /?s=caf${E8}`, '/?s=caf%C3%A9'],
    ['Latin-1 in the query', `GET /?s=caf${E1}`, '/?s=caf%E9'],
    [
      'every byte that is not ASCII',
      `GET /?${String.fromCharCode(...Array(128).keys()).replace(/./gs, (c) => String.fromCharCode(c.charCodeAt(0) + 128))}`,
      `/?${[...Array(128).keys()].map((n) => `%${(n + 128).toString(16).toUpperCase()}`).join('')}`,
    ],
    ['bytes that are encoded already', `GET /%C3%A9${E8}?%zz=${E8}&a=%25`, '/%C3%A9%C3%A9?%zz=%C3%A9&a=%25'],
    ['after empty lines', `\r\n\r\nGET /?${E8}`, '/?%C3%A9'],
  ])('is served as if it were percent-encoded: %s', async (_what, line, target) => {
    const { send, seen, gateway, refused, requests } = await start();
    const received = await send(closing(`${line} HTTP/1.1`));
    expect(toStatus(received)).toBe(200);
    expect(toBody(received)).toContain('hello');
    expect(seen).toMatchObject([{ method: 'GET', url: target, headers: { host: 'example.com' } }]);
    expect(gateway.visits).toMatchObject([{ address: '127.0.0.1', target, status: 200, rule: null }]);
    expect([requests(), refused]).toEqual([1, []]);
    await expect.poll(() => gateway.server.connections).toBe(0);
  });

  it('may name the host as a URL', async () => {
    const { send, seen } = await start();
    expect(toStatus(await send(closing(`GET http://example.com/caf${E8}/?${E1} HTTP/1.1`)))).toBe(200);
    expect(seen[0]?.url).toBe('/caf%C3%A9/?%E9');
  });

  it('may be one of HTTP/1.0, or of HEAD', async () => {
    const { send, seen } = await start();
    expect(toStatus(await send(`GET /?${E8} HTTP/1.0\r\nHost: a\r\n\r\n`))).toBe(200);
    const head = await send(closing(`HEAD /?${E8} HTTP/1.1`));
    expect([toStatus(head), toBody(head)]).toEqual([200, '']);
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /?%C3%A9', 'HEAD /?%C3%A9']);
  });

  it('may be split after its first raw byte, byte by byte', async () => {
    const { send, seen } = await start();
    const bytes = closing(`GET /?s=${E8}${E1}x${E8} HTTP/1.1\r\nX-A: ${E8}`);
    expect(toStatus(await send(bytes.slice(0, 9), ...bytes.slice(9)))).toBe(200);
    expect(seen).toMatchObject([{ url: '/?s=%C3%A9%E9x%C3%A9', headers: { 'x-a': E8 } }]);
  });

  it('does not change headers and body, even those that arrive later', async () => {
    const { gateway, seen } = await start();
    const body = Array.from({ length: 300_000 }, (_, n) => String.fromCharCode(n % 256)).join('');
    const head = `POST /?${E8} HTTP/1.1\r\nHost: a\r\nX-A: caf${E8}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
    const client = new RawClient(gateway.port).send(head + body.slice(0, 1000));
    await pause(30);
    client.send(body.slice(1000, 200_000));
    await pause(30);
    client.send(body.slice(200_000));
    expect(toStatus(await client.end())).toBe(200);
    expect(seen[0]?.headers['x-a']).toBe(`caf${E8}`);
    expect(seen[0]?.body === body).toBe(true);
  });

  it('may have a body in chunks, or one after 100 Continue', async () => {
    const { send, seen, gateway } = await start();
    const chunks = `3\r\n${E8}\n\r\n0\r\n\r\n`;
    expect(toStatus(await send(`${closing(`POST /?${E8} HTTP/1.1\r\nTransfer-Encoding: chunked`)}${chunks}`))).toBe(
      200,
    );
    const client = new RawClient(gateway.port).send(
      closing(`POST /?${E8} HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2`),
    );
    await client.until((text) => text.startsWith('HTTP/1.1 100'));
    client.send(E8);
    await client.end();
    expect(seen.map(({ body }) => body)).toEqual([`${E8}\n`, E8]);
  });
});

describe('a connection with raw targets', () => {
  it('is reused for further requests, with raw bytes and without', async () => {
    const { gateway, seen, requests } = await start();
    const client = new RawClient(gateway.port);
    const lines = ['GET /a', `GET /${E8}`, 'GET /b', `GET /?${E1}`, `GET /?2${E8}`, 'GET /c'];
    for (const [n, line] of lines.entries()) {
      client.send(keepAliveRequest(line));
      await client.until((text) => countResponses(text) === n + 1 && text.endsWith('hello'));
      expect(gateway.server.connections).toBe(1);
    }
    expect(seen.map(({ url }) => url)).toEqual(['/a', '/%C3%A9', '/b', '/?%E9', '/?2%C3%A9', '/c']);
    expect(requests()).toBe(6);
    client.socket.end();
    await client.end();
    await expect.poll(() => gateway.server.connections).toBe(0);
  });

  it('may send a body with each of them', async () => {
    const { gateway, seen } = await start();
    const client = new RawClient(gateway.port);
    for (let n = 0; n < 5; n++) {
      client.send(keepAliveRequest(`POST /?${n}${E8}`, '\r\nContent-Length: 3')).send('\n');
      await pause(10);
      client.send(E8);
      await client.until((text) => countResponses(text) === n + 1 && text.endsWith('hello'));
    }
    expect(seen.map(({ body }) => body)).toEqual(Array(5).fill(`\n${E8}`));
  });

  it('gets the responses to requests that were sent before one with raw bytes, and ends', async () => {
    for (const first of ['GET /a', `GET /?${E8}`]) {
      const { gateway, seen, refused } = await start();
      const client = new RawClient(gateway.port).send(
        keepAliveRequest(first) + keepAliveRequest('GET /b') + keepAliveRequest(`GET /?last${E8}`),
      );
      await pause(20);
      client.send(keepAliveRequest('GET /behind')).send(keepAliveRequest(`GET /behind${E8}`));
      const received = await client.end();
      expect(countResponses(received)).toBe(2);
      expect(received.slice(received.lastIndexOf('HTTP/1.1 '))).toContain('Connection: close');
      expect(seen.map(({ url }) => url)).toEqual([first.slice(4).replace(E8, '%C3%A9'), '/b']);
      expect(refused).toEqual([]);
      await expect.poll(() => gateway.server.connections).toBe(0);
    }
  });

  it('gets responses to plain requests that were sent after one with raw bytes', async () => {
    const { send, seen } = await start();
    const received = await send(
      keepAliveRequest(`GET /?${E8}`) + keepAliveRequest('GET /b') + closing('GET /c HTTP/1.1'),
    );
    expect(countResponses(received)).toBe(3);
    expect(seen.map(({ url }) => url)).toEqual(['/?%C3%A9', '/b', '/c']);
  });

  it('counts once against the limits of connections', async () => {
    const { gateway, seen } = await start({ limits: { connections: 3, connectionsPerAddress: 3 } });
    const clients = Array.from({ length: 3 }, () => new RawClient(gateway.port));
    for (let round = 1; round < 4; round++) {
      for (const client of clients) {
        client.send(keepAliveRequest(`GET /?${E8}`));
        await client.until((text) => countResponses(text) === round && text.endsWith('hello'));
      }
    }
    expect(seen).toHaveLength(9);
    expect(gateway.server.connections).toBe(3);
    // The connection that has been idle longest is closed.
    expect(toStatus(await new RawClient(gateway.port).send(closing(`GET /?${E8} HTTP/1.1`)).end())).toBe(200);
    await clients[0]?.end();
    await expect.poll(() => gateway.server.connections).toBe(2);
  });

  it('is closed when the client stops sending, or while its head or body is late', async () => {
    const limits = { idleSeconds: 1, headerSeconds: 1 };
    const { gateway } = await start({ limits });
    const head = new RawClient(gateway.port).send(`GET /?${E8} HTTP/1.1\r\nHost: a\r\n`);
    const line = new RawClient(gateway.port).send(`GET /?${E8}`);
    const body = new RawClient(gateway.port).send(keepAliveRequest(`POST /?${E8}`, '\r\nContent-Length: 9'));
    expect(toStatus(await head.end())).toBe(408);
    expect(toStatus(await line.end())).toBe(408);
    await body.end();
    await expect.poll(() => gateway.server.connections).toBe(0);
  });

  it('may wait for its response, and send its body, for longer than a head may take', async () => {
    const body = 'x'.repeat(30);
    const { gateway, seen } = await start({ limits: { headerSeconds: 1 } });
    const client = new RawClient(gateway.port).send(
      keepAliveRequest(`POST /?${E8}`, `\r\nContent-Length: ${body.length}`),
    );
    for (const byte of body) {
      client.send(byte);
      await pause(100);
    }
    await client.until((text) => text.endsWith('hello'));
    expect(seen[0]?.body).toBe(body);
    client.send(keepAliveRequest('GET /b'));
    await client.until((text) => countResponses(text) === 2);
  });

  it('gets a long response completely, however slowly it reads', async () => {
    const length = 20_000_000;
    const port = await webServer((_request, response) => void response.end(Buffer.alloc(length, 'abc')));
    const gateway = await startGateway(port);
    const client = new RawClient(gateway.port).send(closing(`GET /?${E8} HTTP/1.1`));
    const received = client.readSlowly(500);
    await client.end();
    expect(received()).toBeGreaterThan(length);
  });

  it('stops reading from a client that sends more than WordPress reads', async () => {
    let reads = () => {};
    const go = new Promise<void>((resolve) => (reads = resolve));
    let length = 0;
    const port = await webServer((request, response) => {
      void go.then(() => {
        request.on('data', (piece: Buffer) => (length += piece.length));
        request.on('end', () => response.end('hello'));
      });
    });
    const gateway = await startGateway(port);
    const size = 50_000_000;
    const client = new RawClient(gateway.port);
    client.send(closing(`POST /?${E8} HTTP/1.1\r\nContent-Length: ${size}`)).send(Buffer.alloc(size));
    await pause(500);
    expect(client.socket.writableLength).toBeGreaterThan(0);
    reads();
    expect(toStatus(await client.end())).toBe(200);
    expect(length).toBe(size);
  });

  it.each(['ascii', E8])('is ended like others when its client ends its side: %s', async (query) => {
    let ended = () => {};
    const go = new Promise<void>((resolve) => (ended = resolve));
    const port = await webServer((_request, response) => void go.then(() => response.end('hello')));
    const gateway = await startGateway(port);
    const client = new RawClient(gateway.port).send(keepAliveRequest(`GET /?${query}`));
    client.socket.end();
    expect(await client.end()).toBe('');
    ended();
    await expect.poll(() => gateway.server.connections).toBe(0);
  });

  it('may become a WebSocket', async () => {
    const port = await rawServer((socket) => {
      socket.once('data', (head) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n');
        socket.write('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n');
        expect(head.toString('latin1')).toMatch(/^GET \/live\?%C3%A9 /);
        socket.on('data', (piece) => socket.write(piece));
      });
    });
    const gateway = await startGateway(port);
    const handshake = keepAliveRequest(
      `GET /live?${E8}`,
      '\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    );
    const client = new RawClient(gateway.port).send(handshake);
    await client.until((text) => text.startsWith('HTTP/1.1 101') && text.includes('\r\n\r\n'));
    client.send(`echo ${E8}\n${E1}`);
    await client.until((text) => text.endsWith(`echo ${E8}\n${E1}`));
    client.socket.destroy();
    await expect.poll(() => gateway.server.connections).toBe(0);
  });
});

describe('a target with raw bytes is still refused', () => {
  it.each([
    ['a raw byte in the method', `G${E1}T / HTTP/1.1`],
    ['a raw byte in the version', `GET / HTTP/1.${E1}`],
    ['raw bytes in the version and the target', `GET /?${E8} HTTP/1.${E1}`],
    ['raw bytes in the protocol’s name and the target', `GET /?${E8} H${E1}TP/1.1`],
    ['a raw byte in the authority', `GET http://ex${E8}mple.com/ HTTP/1.1`],
    ['a raw byte instead of an authority', `GET http://${E8}/ HTTP/1.1`],
    ['a raw byte at the start of the target', `GET ${E8}/ HTTP/1.1`],
    ['a raw byte in the name of a header', `GET /?${E8} HTTP/1.1\r\nX-${E8}: 1`],
    ['an unknown method', `GETS /?${E8} HTTP/1.1`],
    ['NUL before it', `GET /\0?${E8} HTTP/1.1`],
    ['NUL after it', `GET /?${E8}\0 HTTP/1.1`],
    ['DEL after it', `GET /?${E8}\x7f HTTP/1.1`],
    ['a space after it', `GET /?${E8} x HTTP/1.1`],
    ['a tab after it', `GET /?${E8}\tx HTTP/1.1`],
    ['a bare CR after it', `GET /?${E8}\rX: 1 HTTP/1.1`],
    ['two lengths', `POST /?${E8} HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked`],
  ])('with %s', async (_what, line) => {
    const { send, seen, gateway, refused, requests } = await start();
    expect(toStatus(await send(closing(line)))).toBe(400);
    expect(seen).toEqual([]);
    expect(requests()).toBe(1);
    expect(refused).toHaveLength(1);
    expect(gateway.visits).toMatchObject([{ status: 400, rule: 'malformed:400' }]);
    await expect.poll(() => gateway.server.connections).toBe(0);
  });

  it('in a line of HTTP/0.9', async () => {
    const { send, gateway } = await start();
    expect(toStatus(await send(closing(`GET /?${E8}`)))).toBe(400);
    expect(gateway.visits).toMatchObject([{ rule: 'ambiguous:framing' }]);
  });

  it('when the line began in an earlier packet', async () => {
    const { send, seen } = await start();
    expect(toStatus(await send('GET /caf', `${E8}/ HTTP/1.1\r\nHost: a\r\n\r\n`))).toBe(400);
    expect(seen).toEqual([]);
  });

  it('when it is too long once it is encoded', async () => {
    const { send, seen, gateway } = await start({ limits: { targetBytes: 1000 } });
    expect(toStatus(await send(closing(`GET /?${E1.repeat(332)} HTTP/1.1`)))).toBe(200);
    expect(toStatus(await send(closing(`GET /?${E1.repeat(333)} HTTP/1.1`)))).toBe(414);
    expect(seen).toHaveLength(1);
    expect(gateway.visits.map(({ status }) => status)).toEqual([200, 414]);
  });

  it('when the head is too long', async () => {
    const { send } = await start();
    expect(toStatus(await send(closing(`GET /?${E1.repeat(20_000)} HTTP/1.1`)))).toBe(431);
    expect(toStatus(await send(closing(`GET /?${E1} HTTP/1.1\r\nX-A: ${'a'.repeat(40_000)}`)))).toBe(431);
  });
});

describe('the rules apply to raw targets', () => {
  it.each([
    ['before it', `/caf${E8}/../xmlrpc.php`],
    ['in its query', `//xmlrpc.php?${E8}`],
    ['after it', `/xmlrpc.php/${E8}`],
    ['as a parameter', `/xmlrpc.php;${E8}`],
  ])('of xmlrpc.php with raw bytes %s', async (_where, target) => {
    const { send, seen, gateway } = await start();
    gateway.rule({ options: { disable_xml_rpc: 1 } });
    expect(toStatus(await send(closing(`POST ${target} HTTP/1.1\r\nContent-Length: 0`)))).toBe(403);
    expect(seen).toEqual([]);
    expect(gateway.visits).toMatchObject([{ status: 403, target: target.replaceAll(E8, '%C3%A9') }]);
  });

  it('so that no second request can hide in one', async () => {
    const { send, seen, gateway } = await start();
    gateway.rule({ options: { disable_xml_rpc: 1 } });
    const received = await send(keepAliveRequest(`GET /?${E8}`) + closing('GET /xmlrpc.php HTTP/1.1'));
    expect(received).toMatch(/^HTTP\/1\.1 200 .*HTTP\/1\.1 403 /s);
    expect(seen.map(({ url }) => url)).toEqual(['/?%C3%A9']);
  });

  it('so that wrong passwords are counted at the login', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    const guess = (password: string) => {
      const body = `log=owner&pwd=${password}`;
      const type = 'Content-Type: application/x-www-form-urlencoded';
      const head = closing(`POST /wp-login.php?x=${E8} HTTP/1.1\r\n${type}\r\nContent-Length: ${body.length}`);
      return new RawClient(gateway.port).send(head + body).end();
    };
    for (let n = 0; n < 6; n++) await guess(`wrong${n}`);
    expect(gateway.wordpress.checks).toHaveLength(3);
    expect(toStatus(await guess(PASSWORD))).not.toBe(302);
    expect(gateway.wordpress.checks).toHaveLength(3);
  });

  it('so that a hidden login stays hidden', async () => {
    const gateway = await startLoginGateway({ login_url: { type: 'custom', login: 'my-door', signup: 'join' } });
    gateway.wordpress.custom = true;
    const getPath = async (path: string) => {
      const received = await new RawClient(gateway.port).send(closing(`GET ${path} HTTP/1.1`)).end();
      return [toStatus(received), toBody(received).replace(/\/[^ ]*\?%C3%A9/, '<path>')];
    };
    const missing = await getPath(`/xy-abcde.php?${E8}`);
    expect(missing[0]).toBe(404);
    expect(await getPath(`/wp-login.php?${E8}`)).toEqual(missing);
    expect((await getPath(`/my-door?${E8}`))[0]).toBe(200);
  });
});

describe('the client of a raw target', () => {
  it('is named by a trusted proxy, for each request of its connection', async () => {
    const { gateway, seen } = await start({ trustedProxies: ['127.0.0.1'] });
    gateway.rule({ blocked: ['192.0.2.9'] });
    const client = new RawClient(gateway.port);
    const from = (address: string) =>
      keepAliveRequest(`GET /?${E8}`, `\r\nX-Forwarded-For: ${address}\r\nX-Forwarded-Proto: https`);
    for (const [n, address] of ['192.0.2.7', '192.0.2.8', '192.0.2.9'].entries()) {
      client.send(from(address));
      await client.until((text) => countResponses(text) === n + 1);
      await pause(20);
    }
    expect(seen.map(({ headers }) => [headers['x-forwarded-for'], headers['x-forwarded-proto']])).toEqual([
      ['192.0.2.7', 'https'],
      ['192.0.2.8', 'https'],
    ]);
    expect(gateway.visits.map(({ address, status }) => [address, status])).toEqual([
      ['192.0.2.7', 200],
      ['192.0.2.8', 200],
      ['192.0.2.9', 403],
    ]);
  });

  it('is not accepted from a peer that is not a trusted proxy', async () => {
    const { send, seen } = await start();
    await send(closing(`GET /?${E8} HTTP/1.1\r\nX-Forwarded-For: 192.0.2.7`));
    expect(seen[0]?.headers['x-forwarded-for']).toBe('127.0.0.1');
  });

  it('is named by the PROXY header, in one packet with the request or before it', async () => {
    const { send, seen, gateway } = await start({ proxyProtocol: true, trustedProxies: ['127.0.0.1'] });
    const request = keepAliveRequest(`GET /caf${E8}`) + closing('GET /b HTTP/1.1\r\nX-Forwarded-For: 203.0.113.1');
    expect(countResponses(await send(V1 + request))).toBe(2);
    expect(countResponses(await send(V1, request))).toBe(2);
    expect(seen.map(({ headers }) => headers['x-forwarded-for'])).toEqual(Array(4).fill('192.0.2.7'));
    await expect.poll(() => gateway.server.connections).toBe(0);
  });

  it('is identified on a Unix socket', async () => {
    const { port, seen } = await recordingServer();
    const path = join(await scratchFolder(), 'guard.sock');
    await startGateway(port, { listen: { path }, trustedProxies: ['unix'] });
    const request = closing(`GET /caf${E8} HTTP/1.1\r\nX-Forwarded-For: 192.0.2.7`);
    expect(toStatus(await new RawClient(path).send(request).end())).toBe(200);
    expect(seen).toMatchObject([{ url: '/caf%C3%A9', headers: { 'x-forwarded-for': '192.0.2.7' } }]);
  });
});

describe('no resource is leaked', () => {
  const descriptors = () => readdirSync('/proc/self/fd').length;

  it.each([
    ['in the request line', `GET /?${E8}`],
    ['in the head', `GET /?${E8} HTTP/1.1\r\nHost: a\r\n`],
    ['in the body', keepAliveRequest(`POST /?${E8}`, '\r\nContent-Length: 100000').concat('x')],
    ['before the response', keepAliveRequest(`GET /?${E8}`)],
    ['after a second request', keepAliveRequest(`GET /?${E8}`).repeat(2)],
  ])('by clients that disconnect %s', async (_where, bytes) => {
    const port = await webServer(() => {});
    const gateway = await startGateway(port, { limits: { upstreamSeconds: 1 } });
    for (const how of ['destroy', 'resetAndDestroy', 'end'] as const) {
      const client = new RawClient(gateway.port).send(bytes);
      await pause(50);
      expect(gateway.server.connections).toBe(1);
      client.socket[how]();
      await expect.poll(() => gateway.server.connections, { timeout: 5000 }).toBe(0);
    }
  });

  it('by clients that disconnect after the response', async () => {
    const { gateway } = await start();
    for (const how of ['destroy', 'resetAndDestroy', 'end'] as const) {
      const client = new RawClient(gateway.port).send(keepAliveRequest(`GET /?${E8}`));
      await client.until((text) => text.endsWith('hello'));
      client.socket[how]();
      await expect.poll(() => gateway.server.connections).toBe(0);
    }
  });

  it('by a thousand connections', async () => {
    const { gateway, seen } = await start();
    const some = () =>
      Promise.all(
        Array.from({ length: 100 }, () => new RawClient(gateway.port).send(closing(`GET /?${E8} HTTP/1.1`)).end()),
      );
    await some();
    const before = descriptors();
    for (let n = 0; n < 9; n++) await some();
    expect(seen).toHaveLength(1000);
    await expect.poll(() => gateway.server.connections).toBe(0);
    expect(gateway.server.openClients.count).toBe(0);
    await expect.poll(descriptors).toBeLessThanOrEqual(before);
  });

  it('by a thousand requests on one connection', async () => {
    const { logger } = recordedLog();
    const warnings: Error[] = [];
    const warn = (warning: Error) => void warnings.push(warning);
    process.on('warning', warn);
    const { gateway } = await start({ logger });
    const client = new RawClient(gateway.port);
    for (let n = 1; n <= 1000; n++) {
      client.received = '';
      client.send(keepAliveRequest(`GET /?${E8}`));
      await client.until((text) => text.endsWith('hello'));
    }
    await pause(20);
    process.off('warning', warn);
    expect(warnings).toEqual([]);
    expect(gateway.server.connections).toBe(1);
  });

  it('at a shutdown, which waits for the request and reports it', async () => {
    const log = recordedLog();
    const port = await webServer((request) => void request.resume());
    const limits = { shutdownSeconds: 1, headerSeconds: 1 };
    const gateway = await startGateway(port, { limits, logger: log.logger });
    const client = new RawClient(gateway.port).send(keepAliveRequest(`GET /page?${E8}`));
    // Longer than Node allows the parser that gave up to wait for a head.
    await pause(2500);
    expect(gateway.server.openClients).toMatchObject({ count: 1, oldest: [{ request: 'GET /page' }] });
    const began = Date.now();
    await gateway.server.close();
    expect(Date.now() - began).toBeGreaterThan(900);
    await client.end();
    await expect.poll(() => gateway.server.connections).toBe(0);
  });

  it('at a shutdown, which waits for the response', async () => {
    let requests = 0;
    const port = await webServer((_request, response) => {
      requests++;
      setTimeout(() => response.end('late'), 500);
    });
    const gateway = await startGateway(port);
    const client = new RawClient(gateway.port).send(keepAliveRequest(`GET /?${E8}`));
    await expect.poll(() => requests).toBe(1);
    await gateway.server.close();
    const received = await client.end();
    expect(received).toContain('Connection: close');
    expect(toBody(received)).toContain('late');
  });
});
