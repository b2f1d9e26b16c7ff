import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { loginGateUnderTest } from '../src/testing/login-gate.js';
import { SECRET } from '../src/testing/site-config.js';
import { closing, exchange, RawClient, statusOf } from './raw-client.js';
import { type Gate, rawServer, recordingServer, runningGate } from './running-gate.js';

const mac = (text: string): string => createHmac('sha256', SECRET).update(text).digest('hex');
const KEY = createHash('sha256').update(`security-optimizer key id\n${SECRET}`).digest('hex').slice(0, 8);

/** Signs an answer as the connector does. */
function sign(request: IncomingMessage, response: ServerResponse, flags: string): void {
  const requestId = String(request.headers['x-security-optimizer-guard']).split(' ')[3];
  const fields = `1 ${KEY} ${requestId} - 0.1.0 ${flags}`;
  response.setHeader('X-Security-Optimizer-Signal', `${fields} ${mac(`connector-signal\n${fields}`)}`);
}

/** A gate before a WordPress that answers with the status named in the query and says what its path asks for. */
async function site(): Promise<Gate> {
  const { port } = await recordingServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://site');
    if (url.pathname !== '/wp-content/style.css') sign(request, response, url.searchParams.get('flags') ?? '-');
    response.writeHead(Number(url.searchParams.get('status') ?? 200)).end('hello');
  });
  return runningGate(port);
}

const get = (gate: Gate, target: string, headers = '') =>
  exchange(gate.port, closing(`GET ${target} HTTP/1.1${headers}`));
const told = ({ visits }: Gate) => visits.map(({ status, target, rule }) => `${status} ${target} ${rule}`);

describe('the Activity Log gets', () => {
  it('what a visitor asked for, with the status they got, once', async () => {
    const gate = await site();
    await get(gate, '/shop?status=404', '\r\nUser-Agent: Browser/1.0');
    await get(gate, '/');
    expect(gate.visits).toEqual([
      { site: 'site', address: '127.0.0.1', target: '/shop?status=404', status: 404, rule: null, agent: 'Browser/1.0' },
      { site: 'site', address: '127.0.0.1', target: '/', status: 200, rule: null, agent: null },
    ]);
  });

  it('visitors who only claim a session by a cookie, and nobody for whom the connector vouches', async () => {
    const gate = await site();
    await get(gate, '/?who=claims', '\r\nCookie: wordpress_logged_in_x=1');
    await get(gate, '/?flags=m', '\r\nCookie: wordpress_logged_in_x=1');
    await get(gate, '/?flags=om');
    expect(told(gate)).toEqual(['200 /?who=claims null']);
  });

  it('who went away before there was an answer, but no member of a moment ago', async () => {
    const { port } = await recordingServer((request, response) => {
      if (request.url === '/slow') return;
      sign(request, response, 'm');
      response.end('hello');
    });
    const gate = await runningGate(port);
    const member = '\r\nCookie: a=b; wordpress_logged_in_x=owner%7C1';
    await get(gate, '/', member);
    for (const cookie of [member, '\r\nCookie: wordpress_logged_in_x=made-up', '']) {
      const client = new RawClient(gate.port).send(closing(`GET /slow HTTP/1.1${cookie}`));
      await new Promise((resolve) => setTimeout(resolve, 50));
      client.socket.destroy();
    }
    await expect.poll(() => told(gate)).toHaveLength(2);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(told(gate)).toEqual(['499 /slow null', '499 /slow null']);
  });

  it('no files that the web server sends by itself, but what PHP answers in their place', async () => {
    const gate = await site();
    await get(gate, '/wp-content/style.css?ver=1');
    await get(gate, '/missing.css?status=404');
    expect(told(gate)).toEqual(['404 /missing.css?status=404 null']);
  });

  it('refusals with the rule’s name, also of members', async () => {
    const gate = await site();
    gate.rule({ options: { disable_xml_rpc: 1, lock_system_folders: 1 } });
    await get(gate, '/xmlrpc.php', '\r\nCookie: wordpress_logged_in_x=1');
    await get(gate, '/wp-content/uploads/shell.php?c=id');
    expect(told(gate)).toEqual(['403 /xmlrpc.php xml-rpc', '403 /wp-content/uploads/shell.php?c=id system-folders']);
  });

  it('requests that are refused before any rule is asked, as they were sent', async () => {
    const gate = await site();
    await get(gate, '/%2577p-login.php');
    await exchange(gate.port, closing('TRACE /trace HTTP/1.1'));
    await get(gate, `/${'a'.repeat(9000)}`);
    expect(told(gate).map((line) => line.slice(0, 40))).toEqual([
      '400 /%2577p-login.php ambiguous:double-e',
      '405 /trace ambiguous:method',
      `414 /${'a'.repeat(35)}`,
    ]);
  });

  it('requests that no parser understands', async () => {
    const gate = await site();
    await exchange(gate.port, 'GET /bad HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n');
    await exchange(gate.port, '\x16\x03\x01\x02\x00\r\n\r\n');
    await exchange(gate.port, 'CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(told(gate)).toEqual([
      '400 /bad malformed:400',
      '400 - malformed:400',
      '405 example.com:443 ambiguous:method',
    ]);
  });

  it('whoever falls silent in the middle of a request, but nobody who opened a connection and asked nothing', async () => {
    const { port } = await recordingServer();
    const gate = await runningGate(port, { limits: { headerSeconds: 0.5 } });
    const idle = new RawClient(gate.port);
    const silent = new RawClient(gate.port).send('GET /half HTTP/1.1\r\nHost: a\r\n');
    expect(statusOf(await silent.end())).toBe(408);
    expect(statusOf(await idle.end())).toBe(408);
    expect(told(gate)).toEqual(['408 - malformed:408']);
  });

  it('nothing unreadable that a trusted proxy sent on, since nobody knows for whom', async () => {
    const { port } = await recordingServer();
    const gate = await runningGate(port, { trustedProxies: ['127.0.0.1'] });
    await exchange(gate.port, 'GET /bad HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n');
    await get(gate, '/good', '\r\nX-Forwarded-For: 192.0.2.9');
    expect(gate.visits.map(({ address, target }) => [address, target])).toEqual([['192.0.2.9', '/good']]);
  });

  it('every request of a blocked address, and what no parser understands', async () => {
    const gate = await site();
    const open = new RawClient(gate.port);
    await open.send('GET /first HTTP/1.1\r\nHost: a\r\n\r\n').until((text) => text.includes('hello'));
    gate.rule({ blocked: ['127.0.0.1'] });
    await open
      .send('GET /second HTTP/1.1\r\nHost: a\r\nUser-Agent: Bad\r\n\r\n')
      .until((text) => text.includes(' 403 '));
    await exchange(gate.port, closing('GET /third HTTP/1.1\r\nUser-Agent: Bad/2.0 '));
    await exchange(gate.port, 'nonsense\r\n\r\n');
    expect(gate.visits.map(({ status, target, rule, agent }) => [status, target, rule, agent])).toEqual([
      [200, '/first', null, null],
      [403, '/second', 'blocked-visitor', 'Bad'],
      [403, '/third', 'blocked-visitor', 'Bad/2.0'],
      [400, '-', 'malformed:400', null],
    ]);
  });

  it('answers that guard gives in WordPress’s place', async () => {
    const nobody = await rawServer((socket) => socket.destroy());
    const gate = await runningGate(nobody);
    expect(statusOf(await get(gate, '/page'))).toBe(502);
    await get(gate, '/wp-json/security-optimizer-connector/v1/hello');
    expect(told(gate)).toEqual(['502 /page null', '404 /wp-json/security-optimizer-connector/v1/hello null']);
  });

  it('visitors who leave before there is an answer', async () => {
    const silent = await rawServer(() => {});
    const gate = await runningGate(silent);
    const client = new RawClient(gate.port).send('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 50));
    client.socket.destroy();
    await expect.poll(() => told(gate)).toEqual(['499 /slow null']);
  });

  it('WebSockets, agreed to or refused', async () => {
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
    const gate = await runningGate(upstream);
    const ask = 'HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    await new RawClient(gate.port).send(`GET /ws ${ask}`).until((text) => text.includes(' 101 '));
    await new RawClient(gate.port).send(`GET /no ${ask}`).until((text) => text.includes(' 404 '));
    expect(told(gate)).toEqual(['101 /ws null', '404 /no null']);
  });

  it('for the site that the host name belongs to, and nothing for no site', async () => {
    const { port } = await recordingServer();
    const upstream = `http://127.0.0.1:${port}`;
    const sites = [
      { id: 'one', hosts: ['one.example.com'], upstream },
      { id: 'two', hosts: ['two.example.com'], upstream },
    ];
    const gate = await runningGate(port, { sites });
    await exchange(gate.port, 'GET /2 HTTP/1.1\r\nHost: two.example.com\r\nConnection: close\r\n\r\n');
    await exchange(gate.port, 'GET /%00 HTTP/1.1\r\nHost: one.example.com\r\nConnection: close\r\n\r\n');
    await exchange(gate.port, 'GET /3 HTTP/1.1\r\nHost: three.example.com\r\nConnection: close\r\n\r\n');
    expect(gate.visits.map(({ site: id, target }) => [id, target])).toEqual([
      ['two', '/2'],
      ['one', '/%00'],
    ]);
  });

  it('a stranger’s calls of guard’s own API, and none of a member’s', async () => {
    const { port } = await recordingServer();
    const gate = await runningGate(port, {
      api(request, response, call) {
        if (call.route === '/by-a-member') call.onMember();
        // As Fastify does when it finds the route.
        request.url = '/elsewhere';
        response.writeHead(403).end();
      },
    });
    for (const route of ['by-a-member', 'by-a-stranger']) await get(gate, `/wp-json/security-optimizer/v1/${route}`);
    await expect.poll(() => told(gate)).toEqual(['403 /wp-json/security-optimizer/v1/by-a-stranger null']);
  });
});

describe('around the log-in, the Activity Log gets', () => {
  it('the hidden login as it was asked for, with the status of the missing page', async () => {
    const gate = await loginGateUnderTest({ login_url: { type: 'custom', login: 'my-door', signup: 'my-sign-up' } });
    gate.wordpress.custom = true;
    await gate.ask('/wp-login.php?x=1');
    await gate.ask('/members');
    await gate.ask('/my-door');
    expect(gate.visits).toEqual(['404 /wp-login.php?x=1 null', '404 /members null', '200 /my-door null']);
  });

  it('whoever waits for a lock to end, and pages of the second factor', async () => {
    const gate = await loginGateUnderTest({ login_attempts: 3 });
    const body = 'log=owner&pwd=wrong';
    for (let i = 0; i < 4; i++) await gate.ask('/wp-login.php', { method: 'POST', body });
    gate.wordpress.factor = true;
    await gate.ask('/wp-login.php', { method: 'POST', body: 'log=owner&pwd=right', from: '192.0.2.2' });
    await gate.ask('/wp-login.php?action=second-factor', { from: '192.0.2.2' });
    await expect.poll(() => gate.visits.length).toBe(6);
    expect(gate.visits).toEqual([
      '200 /wp-login.php null',
      '200 /wp-login.php null',
      '200 /wp-login.php null',
      '429 /wp-login.php login-limit',
      '302 /wp-login.php null',
      '200 /wp-login.php?action=second-factor null',
    ]);
  });

  it('who comes while the owner is away', async () => {
    const gate = await loginGateUnderTest({ away_mode: { type: 'daily', from_hour: '00:00', to_hour: '23:00' } });
    gate.advance(12 * 3600_000 - (Date.now() % (24 * 3600_000)));
    await gate.ask('/wp-login.php');
    expect(gate.visits).toEqual(['403 /wp-login.php away-mode']);
  });
});
