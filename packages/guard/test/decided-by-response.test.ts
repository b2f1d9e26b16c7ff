import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { closing, exchange, toStatus } from './raw-client.js';
import { rawServer, recordingServer, type SeenRequest, startGateway, type TestGateway } from './running-gateway.js';
import { SECRET } from './support/site-config.js';

const mac = (text: string): string => createHmac('sha256', SECRET).update(text).digest('hex');
const KEY = createHash('sha256').update(`security-optimizer key id\n${SECRET}`).digest('hex').slice(0, 8);

/** Signs a response as the connector does. */
function sign(request: IncomingMessage, response: ServerResponse): void {
  const requestId = String(request.headers['x-security-optimizer-guard']).split(' ')[3];
  const fields = `1 ${KEY} ${requestId} - 0.1.0 -`;
  response.setHeader('X-Security-Optimizer-Signal', `${fields} ${mac(`connector-signal\n${fields}`)}`);
}

/** A site whose web server responds as the query specifies: signed by WordPress or from a file, and with which type. */
async function site(): Promise<TestGateway & { seen: SeenRequest[] }> {
  const { port, seen } = await recordingServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://site').searchParams;
    if (query.has('wordpress')) sign(request, response);
    const type = query.get('type');
    if (type !== null) response.setHeader('Content-Type', type);
    response.end('what was asked for');
  });
  const gateway = await startGateway(port);
  const options = { disable_feed: 1, lock_system_folders: 1, delete_readme: 1, wp_remove_version: 1 } as const;
  gateway.rule({ options });
  return { ...gateway, seen };
}

const get = (gateway: TestGateway, target: string, method = 'GET', headers = '') =>
  exchange(gateway.port, closing(`${method} ${target} HTTP/1.1${headers}`));

describe('a path with the name of a protected file', () => {
  it.each(['/search/.htaccess/', '/search/backup.sql', '/error_log/', '/docs/composer.json/', '/search/license.txt'])(
    'is allowed when WordPress responds, and refused when the web server does: %s',
    async (target) => {
      const gateway = await site();
      const page = await get(gateway, `${target}?wordpress`);
      expect([toStatus(page), page.includes('what was asked for')]).toEqual([200, true]);
      for (const [method, headers] of [
        ['GET', ''],
        ['HEAD', ''],
        ['GET', '\r\nRange: bytes=0-3'],
        ['GET', '\r\nConnection: Upgrade\r\nUpgrade: websocket'],
      ] as const) {
        const file = await get(gateway, target, method, headers);
        expect([method, file.includes('what was')]).toEqual([method, false]);
        expect([403, 404]).toContain(toStatus(file));
      }
    },
  );

  it('is recorded with the rule that refused it', async () => {
    const gateway = await site();
    await get(gateway, '/error_log/');
    expect(gateway.visits).toMatchObject([{ status: 403, target: '/error_log/', rule: 'system-folders' }]);
  });

  it('is refused when the signature is not the connector’s', async () => {
    const { port } = await recordingServer((_request, response) => {
      response.setHeader('X-Security-Optimizer-Signal', `1 ${KEY} 0123456789abcdef - 0.1.0 - ${'0'.repeat(64)}`);
      response.end('what was asked for');
    });
    const gateway = await startGateway(port);
    gateway.rule({ options: { lock_system_folders: 1 } });
    expect(toStatus(await get(gateway, '/error_log/'))).toBe(403);
  });
});

describe('a file that is refused', () => {
  it('is not read to its end', async () => {
    const ended: boolean[] = [];
    const port = await rawServer((socket) => {
      socket.on('error', () => {});
      socket.on('close', () => ended.push(true));
      socket.on('data', () => {
        const write = (): void => {
          while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
        };
        socket.on('drain', write);
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n');
        write();
      });
    });
    const gateway = await startGateway(port);
    gateway.rule({ options: { lock_system_folders: 1 } });
    expect(toStatus(await get(gateway, '/error_log'))).toBe(403);
    await expect.poll(() => ended).toEqual([true]);
  });
});

describe('a path with the name of a feed', () => {
  const send = (type: string, wordpress = true): string =>
    `/topics/rss/?${wordpress ? 'wordpress&' : ''}type=${encodeURIComponent(type)}`;

  it.each(['text/html; charset=UTF-8', 'application/xhtml+xml', 'application/json', 'image/png'])(
    'is allowed with the type %s',
    async (type) => {
      const gateway = await site();
      expect(toStatus(await get(gateway, send(type)))).toBe(200);
      expect(toStatus(await get(gateway, send(type, false)))).toBe(200);
    },
  );

  it.each([
    'application/rss+xml; charset=UTF-8',
    'application/atom+xml',
    'APPLICATION/RDF+XML',
    'text/xml',
    'application/xml',
  ])('is refused with the type %s, also from a cache', async (type) => {
    const gateway = await site();
    for (const wordpress of [true, false]) {
      const response = await get(gateway, send(type, wordpress));
      expect([toStatus(response), response.includes('what was')]).toEqual([404, false]);
    }
    expect(gateway.visits.map(({ rule }) => rule)).toEqual(['feeds', 'feeds']);
  });
});

describe('a path that some program may interpret differently', () => {
  it.each([
    '/caf%E9/%e9',
    '/caf%c3%a9/',
    '/50%25de/a%252fb',
    '/a%5Cb/c%09d',
    '/x;y=1/z%3Bq%3Fr',
    '/search/%3F/',
    '/.../%20/',
    '//a/./b/../c//',
  ])('is forwarded byte by byte: %s', async (target) => {
    const gateway = await site();
    expect(toStatus(await get(gateway, `${target}?q=%E9&r=%2525`))).toBe(200);
    expect(gateway.seen.map(({ url }) => url)).toEqual([`${target}?q=%E9&r=%2525`]);
  });

  it.each([
    ['/readme%252ehtml', 'double-encoding'],
    ['/feed%5C', 'backslash'],
    ['/feed%09', 'control-character'],
    ['/%E9.php', 'bad-utf8'],
    ['/x.jpg;.php', 'two-names'],
    ['/x%00', 'control-character'],
    ['/x%0d%0aSet-Cookie:a', 'control-character'],
    ['/%2e%2e%255c%252e%252e/x', 'double-encoding'],
  ])('is refused when that interpretation is protected: %s', async (target, reason) => {
    const gateway = await site();
    expect(toStatus(await get(gateway, target))).toBe(400);
    expect(gateway.seen).toEqual([]);
    expect(gateway.visits).toMatchObject([{ status: 400, rule: `ambiguous:${reason}` }]);
  });
});
