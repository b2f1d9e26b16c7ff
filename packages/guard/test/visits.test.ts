import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { closing, exchange, RawClient, toStatus } from './raw-client.js';
import { rawServer, recordingServer, startGateway, type TestGateway } from './running-gateway.js';
import { startLoginGateway } from './support/login-gateway.js';
import { SECRET } from './support/site-config.js';

const mac = (text: string): string => createHmac('sha256', SECRET).update(text).digest('hex');
const KEY = createHash('sha256').update(`security-optimizer key id\n${SECRET}`).digest('hex').slice(0, 8);

/** Signs a response as the connector does. */
function sign(request: IncomingMessage, response: ServerResponse, flags: string): void {
  const requestId = String(request.headers['x-security-optimizer-guard']).split(' ')[3];
  const fields = `1 ${KEY} ${requestId} - 0.1.0 ${flags}`;
  response.setHeader('X-Security-Optimizer-Signal', `${fields} ${mac(`connector-signal\n${fields}`)}`);
}

/** A gateway in front of a WordPress that responds with the status and the signal that the query specifies. */
async function site(): Promise<TestGateway> {
  const { port } = await recordingServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://site');
    if (url.pathname !== '/wp-content/style.css') sign(request, response, url.searchParams.get('flags') ?? '-');
    response.writeHead(Number(url.searchParams.get('status') ?? 200)).end('hello');
  });
  return startGateway(port);
}

const get = (gateway: TestGateway, target: string, headers = '') =>
  exchange(gateway.port, closing(`GET ${target} HTTP/1.1${headers}`));
const summarize = ({ visits }: TestGateway) => visits.map(({ status, target, rule }) => `${status} ${target} ${rule}`);

describe('the Activity Log gets', () => {
  it('the requested target of a visitor, with the status of the response, once', async () => {
    const gateway = await site();
    await get(gateway, '/shop?status=404', '\r\nUser-Agent: Browser/1.0');
    await get(gateway, '/');
    expect(gateway.visits).toEqual([
      { site: 'site', address: '127.0.0.1', target: '/shop?status=404', status: 404, rule: null, agent: 'Browser/1.0' },
      { site: 'site', address: '127.0.0.1', target: '/', status: 200, rule: null, agent: null },
    ]);
  });

  it('visitors who only claim a session by a cookie, and no user whom the connector confirms', async () => {
    const gateway = await site();
    await get(gateway, '/?who=claims', '\r\nCookie: wordpress_logged_in_x=1');
    await get(gateway, '/?flags=m', '\r\nCookie: wordpress_logged_in_x=1');
    await get(gateway, '/?flags=om');
    expect(summarize(gateway)).toEqual(['200 /?who=claims null']);
  });

  it('the site’s own cron requests marked as such, and any other one as a visitor’s, whatever it claims', async () => {
    const upstream = await recordingServer((request, response) => {
      if (request.url !== '/wp-cron.php?doing_wp_cron=slow') response.end('hello');
    });
    const gateway = await startGateway(upstream.port);
    const proof = (target: string, time = Math.floor(Date.now() / 1000)) => {
      const signed = `1 ${KEY} ${time}`;
      return `\r\nX-Security-Optimizer-Cron: ${signed} ${mac(`own-cron\n${signed}\nPOST ${target}`)}`;
    };
    const call = (target: string, headers: string, method = 'POST') =>
      exchange(
        gateway.port,
        closing(`${method} ${target} HTTP/1.1\r\nContent-Length: 0\r\nUser-Agent: WordPress/7.1${headers}`),
      );
    const own = '/wp-cron.php?doing_wp_cron=1700000000.12';
    await call(own, proof(own));
    const minutesAgo = Math.floor(Date.now() / 1000) - 61;
    for (const [target, headers, method] of [
      [own, ''],
      ['/wp-cron.php', proof(own)],
      [`${own}3`, proof(own)],
      [own, proof(own, minutesAgo)],
      [own, proof(own), 'GET'],
      ['/wp-login.php', proof(own)],
      [own, `${proof(own)}0`],
      [own, `${proof(own)}${proof(own)}`],
      [own, '\r\nX-Security-Optimizer-Cron: 1'],
    ] as const) {
      await call(target, headers, method);
    }
    expect(gateway.visits.map(({ isOwnCron }) => isOwnCron ?? false)).toEqual([true, ...Array(9).fill(false)]);
    // Neither WordPress nor the client gets the header.
    expect(JSON.stringify(upstream.seen)).not.toMatch(/security-optimizer-cron/i);
    // WordPress does not wait for the response to such a request.
    const slow = '/wp-cron.php?doing_wp_cron=slow';
    const client = new RawClient(gateway.port).send(
      closing(`POST ${slow} HTTP/1.1\r\nContent-Length: 0${proof(slow)}`),
    );
    await expect.poll(() => upstream.seen.length).toBe(11);
    client.socket.destroy();
    await expect.poll(() => gateway.visits.at(-1)).toMatchObject({ status: 499, isOwnCron: true });
  });

  it('a refused cron request as a visitor’s, with the rule’s name', async () => {
    const gateway = await site();
    gateway.rule({ blocked: ['127.0.0.1'] });
    const signed = `1 ${KEY} ${Math.floor(Date.now() / 1000)}`;
    const target = '/wp-cron.php?doing_wp_cron=1';
    await exchange(
      gateway.port,
      closing(
        `POST ${target} HTTP/1.1\r\nContent-Length: 0\r\nX-Security-Optimizer-Cron: ${signed} ${mac(`own-cron\n${signed}\nPOST ${target}`)}`,
      ),
    );
    expect(gateway.visits).toMatchObject([{ target, status: 403, rule: 'blocked-visitor' }]);
    expect(gateway.visits[0]).not.toHaveProperty('isOwnCron');
  });

  it('clients that disconnect before the response, but no recently confirmed member', async () => {
    const { port, seen } = await recordingServer((request, response) => {
      if (request.url === '/slow') return;
      sign(request, response, 'm');
      response.end('hello');
    });
    const gateway = await startGateway(port);
    const member = '\r\nCookie: a=b; wordpress_logged_in_x=owner%7C1';
    await get(gateway, '/', member);
    for (const [before, cookie] of [member, '\r\nCookie: wordpress_logged_in_x=made-up', ''].entries()) {
      const client = new RawClient(gateway.port).send(closing(`GET /slow HTTP/1.1${cookie}`));
      await expect.poll(() => seen.filter(({ url }) => url === '/slow')).toHaveLength(before + 1);
      client.socket.destroy();
    }
    await expect.poll(() => gateway.server.connections).toBe(0);
    expect(summarize(gateway)).toEqual(['499 /slow null', '499 /slow null']);
  });

  it('no files that the web server sends by itself, but PHP’s responses in their place', async () => {
    const gateway = await site();
    await get(gateway, '/wp-content/style.css?ver=1');
    await get(gateway, '/missing.css?status=404');
    expect(summarize(gateway)).toEqual(['404 /missing.css?status=404 null']);
  });

  it('refusals with the rule’s name, including those of members', async () => {
    const gateway = await site();
    gateway.rule({ options: { disable_xml_rpc: 1, lock_system_folders: 1 } });
    await get(gateway, '/xmlrpc.php', '\r\nCookie: wordpress_logged_in_x=1');
    await get(gateway, '/wp-content/uploads/shell.php?c=id');
    expect(summarize(gateway)).toEqual([
      '403 /xmlrpc.php xml-rpc',
      '403 /wp-content/uploads/shell.php?c=id system-folders',
    ]);
  });

  it('requests that are refused before any rule, as they were sent', async () => {
    const gateway = await site();
    await get(gateway, '/%2577p-login.php');
    await exchange(gateway.port, closing('TRACE /trace HTTP/1.1'));
    await get(gateway, `/${'a'.repeat(9000)}`);
    expect(summarize(gateway).map((line) => line.slice(0, 40))).toEqual([
      '400 /%2577p-login.php ambiguous:double-e',
      '405 /trace ambiguous:method',
      `414 /${'a'.repeat(35)}`,
    ]);
  });

  it('requests that no parser accepts', async () => {
    const gateway = await site();
    await exchange(gateway.port, 'GET /bad HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n');
    await exchange(gateway.port, '\x16\x03\x01\x02\x00\r\n\r\n');
    await exchange(gateway.port, 'CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(summarize(gateway)).toEqual([
      '400 /bad malformed:400',
      '400 - malformed:400',
      '405 example.com:443 ambiguous:method',
    ]);
  });

  it('clients that stop in the middle of a request, but none that sent nothing', async () => {
    const { port } = await recordingServer();
    const gateway = await startGateway(port, { limits: { headerSeconds: 0.5 } });
    const idle = new RawClient(gateway.port);
    const silent = new RawClient(gateway.port).send('GET /half HTTP/1.1\r\nHost: a\r\n');
    expect(toStatus(await silent.end())).toBe(408);
    expect(toStatus(await idle.end())).toBe(408);
    expect(summarize(gateway)).toEqual(['408 - malformed:408']);
  });

  it('no malformed request from a trusted proxy, since its client is unknown', async () => {
    const { port } = await recordingServer();
    const gateway = await startGateway(port, { trustedProxies: ['127.0.0.1'] });
    await exchange(gateway.port, 'GET /bad HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n');
    await get(gateway, '/good', '\r\nX-Forwarded-For: 192.0.2.9');
    expect(gateway.visits.map(({ address, target }) => [address, target])).toEqual([['192.0.2.9', '/good']]);
  });

  describe('malformed requests from a trusted proxy, for the client that the proxy names', () => {
    const behindProxy = async (...requests: readonly string[]) => {
      const { port } = await recordingServer();
      const gateway = await startGateway(port, { trustedProxies: ['127.0.0.1', '203.0.113.0/24'] });
      for (const request of requests) await exchange(gateway.port, request);
      return gateway.visits.map(({ address, target, rule }) => [address, target, rule]);
    };

    it.each([
      ['an invalid length', 'GET /bad HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\nX-Forwarded-For: 192.0.2.9\r\n\r\n'],
      [
        'two lengths',
        'GET /bad HTTP/1.1\r\nX-Forwarded-For: 192.0.2.9\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      ],
      ['another protocol', 'GET /bad HTTP/9.9\r\nx-forwarded-for:192.0.2.9\r\n\r\n'],
      [
        'a chain of addresses',
        'GET /bad HTTP/1.1\r\nX-Forwarded-For: 10.0.0.1, 192.0.2.9, 203.0.113.7\r\nBad Name: 1\r\n\r\n',
      ],
    ])('with %s', async (_what, request) => {
      expect(await behindProxy(request)).toEqual([['192.0.2.9', '/bad', 'malformed:400']]);
    });

    it('a CONNECT request', async () => {
      const request = 'CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 198.51.100.1, 192.0.2.9\r\n\r\n';
      expect(await behindProxy(request)).toEqual([['192.0.2.9', 'example.com:443', 'ambiguous:method']]);
    });

    it.each([
      ['twice', 'X-Forwarded-For: 192.0.2.9\r\nX-Forwarded-For: 198.51.100.1'],
      ['hidden after a bare line feed', 'X-Forwarded-For: 192.0.2.9\r\nUser-Agent: a\nX-Forwarded-For: 198.51.100.1'],
      ['hidden after NUL', 'X-Forwarded-For: 192.0.2.9\r\nUser-Agent: a\0X-Forwarded-For: 198.51.100.1'],
      ['only after a bare line feed', 'User-Agent: a\nX-Forwarded-For: 198.51.100.1'],
      ['in a folded line', 'User-Agent: a\r\n X-Forwarded-For: 198.51.100.1\r\nX-Forwarded-For: 192.0.2.9'],
    ])('for no client where the address is sent %s', async (_what, lines) => {
      expect(await behindProxy(`GET /bad HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n${lines}\r\n\r\n`)).toEqual([]);
    });

    it('for no client where a body is malformed, since it may hold any text', async () => {
      const body = 'GET /bad HTTP/1.1\r\nX-Forwarded-For: 198.51.100.1\r\n\r\n';
      const { port } = await recordingServer();
      const gateway = await startGateway(port, { trustedProxies: ['127.0.0.1'] });
      const client = new RawClient(gateway.port);
      await client
        .send('POST /xmlrpc HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.9\r\nTransfer-Encoding: chunked\r\n\r\n')
        .until(() => true);
      await client.send(body).end();
      expect(gateway.visits.filter(({ address }) => address === '198.51.100.1')).toEqual([]);
    });
  });

  it('every request of a blocked address, and malformed requests', async () => {
    const gateway = await site();
    const open = new RawClient(gateway.port);
    await open.send('GET /first HTTP/1.1\r\nHost: a\r\n\r\n').until((text) => text.includes('hello'));
    gateway.rule({ blocked: ['127.0.0.1'] });
    await open
      .send('GET /second HTTP/1.1\r\nHost: a\r\nUser-Agent: Bad\r\n\r\n')
      .until((text) => text.includes(' 403 '));
    await exchange(gateway.port, closing('GET /third HTTP/1.1\r\nUser-Agent: Bad/2.0 '));
    await exchange(gateway.port, 'nonsense\r\n\r\n');
    expect(gateway.visits.map(({ status, target, rule, agent }) => [status, target, rule, agent])).toEqual([
      [200, '/first', null, null],
      [403, '/second', 'blocked-visitor', 'Bad'],
      [403, '/third', 'blocked-visitor', 'Bad/2.0'],
      [400, '-', 'malformed:400', null],
    ]);
  });

  it('responses that guard sends in place of WordPress', async () => {
    const closing = await rawServer((socket) => socket.destroy());
    const gateway = await startGateway(closing);
    expect(toStatus(await get(gateway, '/page'))).toBe(502);
    await get(gateway, '/wp-json/security-optimizer-connector/v1/hello');
    expect(summarize(gateway)).toEqual(['502 /page null', '404 /wp-json/security-optimizer-connector/v1/hello null']);
  });

  it('visitors who disconnect before the response', async () => {
    let onRequest = false;
    const silent = await rawServer((socket) => {
      socket.once('data', () => {
        onRequest = true;
      });
    });
    const gateway = await startGateway(silent);
    const client = new RawClient(gateway.port).send('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
    await expect.poll(() => onRequest).toBe(true);
    client.socket.destroy();
    await expect.poll(() => summarize(gateway)).toEqual(['499 /slow null']);
  });

  it('WebSockets, accepted or refused', async () => {
    const upstream = await rawServer((socket) => {
      socket.once('data', (data) => {
        const agreed = data.toString().startsWith('GET /ws');
        socket.write(
          agreed
            ? 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'
            : 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n',
        );
      });
    });
    const gateway = await startGateway(upstream);
    const head = 'HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    await new RawClient(gateway.port).send(`GET /ws ${head}`).until((text) => text.includes(' 101 '));
    await new RawClient(gateway.port).send(`GET /no ${head}`).until((text) => text.includes(' 404 '));
    expect(summarize(gateway)).toEqual(['101 /ws null', '404 /no null']);
  });

  it('visits of the site that the host name belongs to, and nothing for an unknown host', async () => {
    const { port } = await recordingServer();
    const upstream = `http://127.0.0.1:${port}`;
    const sites = [
      { id: 'one', hosts: ['one.example.com'], upstream },
      { id: 'two', hosts: ['two.example.com'], upstream },
    ];
    const gateway = await startGateway(port, { sites });
    await exchange(gateway.port, 'GET /2 HTTP/1.1\r\nHost: two.example.com\r\nConnection: close\r\n\r\n');
    await exchange(gateway.port, 'GET /%00 HTTP/1.1\r\nHost: one.example.com\r\nConnection: close\r\n\r\n');
    await exchange(gateway.port, 'GET /3 HTTP/1.1\r\nHost: three.example.com\r\nConnection: close\r\n\r\n');
    expect(gateway.visits.map(({ site: id, target }) => [id, target])).toEqual([
      ['two', '/2'],
      ['one', '/%00'],
    ]);
  });

  it('an anonymous client’s API requests, and none of a member’s', async () => {
    const { port } = await recordingServer();
    const gateway = await startGateway(port, {
      api(request, response, call) {
        if (call.route === '/by-a-member') call.onRegisteredUser();
        // As Fastify does when it finds the route.
        request.url = '/elsewhere';
        response.writeHead(403).end();
      },
    });
    for (const route of ['by-a-member', 'by-nobody']) await get(gateway, `/wp-json/security-optimizer/v1/${route}`);
    await expect.poll(() => summarize(gateway)).toEqual(['403 /wp-json/security-optimizer/v1/by-nobody null']);
  });
});

describe('around the login, the Activity Log gets', () => {
  it('requests for the hidden login as they were sent, with the status of the missing page', async () => {
    const gateway = await startLoginGateway({ login_url: { type: 'custom', login: 'my-door', signup: 'my-sign-up' } });
    gateway.wordpress.custom = true;
    await gateway.send('/wp-login.php?x=1');
    await gateway.send('/members');
    await gateway.send('/my-door');
    expect(gateway.visits).toEqual(['404 /wp-login.php?x=1 null', '404 /members null', '200 /my-door null']);
  });

  it('clients that wait for the end of a lock, and pages of the second factor', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    const body = 'log=owner&pwd=wrong';
    for (let i = 0; i < 4; i++) await gateway.send('/wp-login.php', { method: 'POST', body });
    gateway.wordpress.factor = true;
    await gateway.send('/wp-login.php', { method: 'POST', body: 'log=owner&pwd=right', from: '192.0.2.2' });
    await gateway.send('/wp-login.php?action=second-factor', { from: '192.0.2.2' });
    await expect.poll(() => gateway.visits.length).toBe(6);
    expect(gateway.visits).toEqual([
      '200 /wp-login.php null',
      '200 /wp-login.php null',
      '200 /wp-login.php null',
      '429 /wp-login.php login-limit',
      '302 /wp-login.php null',
      '200 /wp-login.php?action=second-factor null',
    ]);
  });

  it('login requests while the owner is away', async () => {
    const gateway = await startLoginGateway({ away_mode: { type: 'daily', from_hour: '00:00', to_hour: '23:00' } });
    gateway.advance(12 * 3600_000 - (Date.now() % (24 * 3600_000)));
    await gateway.send('/wp-login.php');
    expect(gateway.visits).toEqual(['403 /wp-login.php away-mode']);
  });
});
