import { readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closing, countResponses, RawClient } from './raw-client.js';
import { type ServeProcess, serve } from './support/command-line.js';
import { fakeConnector } from './support/fake-connector.js';
import { fakeWordPress } from './support/fake-wordpress.js';
import { callApi, dataFolderFor } from './support/running-guard.js';
import { eventually } from './support/scratch.js';
import { SECRET } from './support/site-config.js';

type Guard = Awaited<ReturnType<typeof serve>>;

/** A guard of two worker processes in front of the fake WordPress. */
async function start(config: object = {}) {
  const connector = await fakeConnector();
  const dataDir = await dataFolderFor(connector, {}, { processes: 2, trustedProxies: ['127.0.0.1'], ...config });
  const guard = await serve(dataDir);
  await eventually(() => connector.policy !== null);
  return { connector, dataDir, guard, port: Number(new URL(guard.url).port) };
}

/** Ids of the processes that a process has started. */
function listChildren({ child }: ServeProcess): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === child.pid;
      } catch {
        return false;
      }
    });
}

/** A guard of two worker processes in front of a web server that holds the requests for one page. */
async function startHolding(siteConfig: object) {
  const held: ServerResponse[] = [];
  const upstream = createServer((incoming, response) => {
    if (incoming.url === '/held/') held.push(response);
    else response.end('hello');
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void upstream.close());
  const address = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const config = { processes: 2, trustedProxies: ['127.0.0.1'] };
  const guard = await serve(await dataFolderFor({ upstream: address }, siteConfig, config));
  return { guard, held };
}

interface Sent {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a request over a connection of its own, which either worker accepts. */
function send(
  { url }: Pick<Guard, 'url'>,
  path: string,
  options: { method?: string; from?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Sent> {
  const { method = 'GET', from = '192.0.2.1', headers = {}, body } = options;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${url}${path}`,
      { method, agent: false, headers: { 'X-Forwarded-For': from, ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('latin1').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode as number, headers: response.headers, body: text }),
        );
        response.on('error', reject);
      },
    );
    outgoing.on('error', reject).end(body);
  });
}

const times = <Result>(count: number, run: (i: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => run(i)));

/** The fake WordPress accepts no request with a login context, which simultaneous views of one address have. */
const visitor = (i: number): string => `198.51.100.${i + 1}`;

const LOGIN = { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } };

describe('several processes', () => {
  it('refuse attacks and forward views, and the Activity Log has each visit once', async () => {
    const { guard } = await start();
    const refused = await times(60, (i) => send(guard, '//xmlrpc.php', { method: 'POST', from: `192.0.2.${i + 1}` }));
    const viewed = await times(60, (i) => send(guard, `/page-${i}/`, { from: visitor(i) }));
    expect([new Set(refused.map(({ status }) => status)), new Set(viewed.map(({ status }) => status))]).toEqual([
      new Set([403]),
      new Set([200]),
    ]);
    const list = async (preset: string) =>
      (await callApi(guard.url, `/activity-unknown${preset}`, { method: 'GET' })).body.data as { total: number };
    await eventually(async () => (await list('')).total === 120);
    expect((await list('?preset=blocked')).total).toBe(60);
  });

  it('check at most as many wrong passwords as the limit allows, however many arrive at once', async () => {
    const { guard, connector } = await start();
    await callApi(guard.url, '/limit-login-attempts', { body: JSON.stringify({ login_attempts: 5 }) });
    let checks = 0;
    connector.onRequest = (_command, { url, method }) => {
      if (method === 'POST' && url === '/wp-login.php') checks++;
    };
    const sent = await times(100, () => send(guard, '/wp-login.php', { ...LOGIN, body: 'log=owner&pwd=wrong' }));
    expect(checks).toBeLessThanOrEqual(5);
    expect(sent.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(95);
    expect((await send(guard, '/wp-login.php', { ...LOGIN, body: 'log=owner&pwd=wrong' })).status).toBe(429);
    expect((await send(guard, '/wp-login.php', { from: '192.0.2.2' })).status).toBe(200);
  });

  it('enforce a change as soon as it is confirmed', async () => {
    const { guard } = await start();
    for (const [value, status] of [
      [0, 200],
      [1, 403],
      [0, 200],
    ] as const) {
      const set = await callApi(guard.url, '/disable-xml-rpc', { body: JSON.stringify({ disable_xml_rpc: value }) });
      expect(set.http).toBe(200);
      const sent = await times(20, (i) => send(guard, '/xmlrpc.php', { from: visitor(i) }));
      expect(new Set(sent.map((each) => each.status))).toEqual(new Set([status]));
    }
  });

  it('use at most the configured number of connections to WordPress together', async () => {
    let [running, most] = [0, 0];
    const waiting: (() => void)[] = [];
    const upstream = createServer((_request, response) => {
      most = Math.max(most, ++running);
      waiting.push(() => {
        running--;
        response.end('done');
      });
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void upstream.close());
    const { port } = upstream.address() as AddressInfo;
    const dataDir = await dataFolderFor(
      { upstream: `http://127.0.0.1:${port}` },
      { limits: { upstreamConnections: 6 } },
      { processes: 2, trustedProxies: ['127.0.0.1'] },
    );
    const starting = serve(dataDir);
    const released = setInterval(() => waiting.shift()?.(), 5);
    onTestFinished(() => clearInterval(released));
    const guard = await starting;
    const sent = await times(40, (i) => send(guard, `/page-${i}/`, { from: `192.0.2.${i + 1}` }));
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([200]));
    expect(most).toBeLessThanOrEqual(6);
    expect(most).toBeGreaterThan(3);
  });

  it('pass every kind of request to WordPress unchanged', async () => {
    const seen: { method: string; url: string; headers: string[]; body: string }[] = [];
    const upstream = createServer(async (incoming, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const { method = '', url = '', rawHeaders } = incoming;
      const body = Buffer.concat(chunks).toString('latin1');
      seen.push({ method, url, headers: rawHeaders, body });
      response.setHeader('Set-Cookie', ['a=1', 'b=2']).setHeader('X-Seen', method);
      response.end(method === 'HEAD' ? undefined : body || 'hello');
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void upstream.close());
    const address = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const exchange = async (processes: number) => {
      const dataDir = await dataFolderFor({ upstream: address }, {}, { processes, trustedProxies: ['127.0.0.1'] });
      const guard = await serve(dataDir);
      const { port } = new URL(guard.url);
      const before = seen.length;
      const texts: string[] = [];
      for (const bytes of [
        closing('GET /a//b/%41?c=%2f&d=é HTTP/1.1\r\nX-One: 1\r\nx-one: 2'),
        closing('HEAD /head HTTP/1.1'),
        'GET /old HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n',
        `${closing('POST /form HTTP/1.1\r\nContent-Length: 5')}a=1&b`,
        `${closing('POST /chunks HTTP/1.1\r\nTransfer-Encoding: chunked')}3\r\nabc\r\n0\r\n\r\n`,
        closing('POST /empty HTTP/1.1\r\nContent-Length: 0'),
        `${closing('PUT /put HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue')}xyz`,
        closing('DELETE /gone HTTP/1.1'),
        closing('POST /listed HTTP/1.1\r\nContent-Length: 0\r\nX-Hop: secret').replace(
          'Connection: close',
          'Connection: close, X-Hop',
        ),
      ]) {
        const received = await new RawClient(Number(port)).send(bytes).end();
        texts.push(received.replace(/^Date: .*\r\n/gim, ''));
      }
      guard.child.kill('SIGKILL');
      const variable = /^(?:x-security-optimizer-guard|host|x-forwarded-host)$/i;
      const requests = seen.slice(before).filter(({ url }) => !url.includes('rest_route') && !url.startsWith('/?'));
      return {
        texts,
        requests: requests.map(({ headers, ...rest }) => ({
          ...rest,
          headers: headers.flatMap((name, i) =>
            i % 2 === 0 && !variable.test(name) ? [`${name}: ${headers[i + 1]}`] : [],
          ),
        })),
      };
    };
    const [one, two] = [await exchange(1), await exchange(2)];
    expect(two.requests).toEqual(one.requests);
    expect(two.texts.map((text) => text.split('\r\n').sort())).toEqual(
      one.texts.map((text) => text.split('\r\n').sort()),
    );
  });

  it('believe no header with which a visitor claims to be relayed', async () => {
    const { guard, connector, dataDir } = await start();
    const key = 'ab'.repeat(32);
    const forged = { 'X-Security-Optimizer-Relayed': `${key} 1.1 https 198.51.100.9 - -` };
    const seen: string[] = [];
    connector.onRequest = (_command, { headers }) => seen.push(JSON.stringify(headers));
    for (const method of ['GET', 'POST']) await send(guard, '/page/', { method, headers: forged });
    expect(seen.join()).not.toContain('198.51.100.9');
    const outsider = new RawClient(join(dataDir, 'processes.sock'));
    const received = await outsider
      .send(closing(`GET / HTTP/1.1\r\nX-Security-Optimizer-Relayed: ${key} 1.1 http 192.0.2.1 - -`))
      .end();
    expect(received).toBe('');
    await eventually(() => guard.log().includes('relayed-request-refused'));
  });

  it('limit the connections of one address together', async () => {
    const { port } = await start({ trustedProxies: [], limits: { connectionsPerAddress: 20 } });
    const held = Array.from({ length: 60 }, () => new RawClient(port).send('GET / HTTP/1.1\r\nHost: x'));
    await eventually(() => held.filter(({ closed }) => !closed).length <= 20);
    const open = held.filter(({ closed }) => !closed).length;
    // One of another address is not affected.
    expect(open).toBeGreaterThan(0);
    for (const client of held) client.socket.destroy();
    await eventually(async () => (await new RawClient(port).send(closing('GET / HTTP/1.1')).end()) !== '');
  });

  it('report their metrics together', async () => {
    const { guard, port } = await start({ metrics: { listen: '127.0.0.1:0' } });
    const url = /"url":"(http:[^"]+)","msg":"Metrics/.exec(guard.log())?.[1] as string;
    await times(40, (i) => send(guard, '/xmlrpc.php', { method: 'POST', from: visitor(i) }));
    await times(30, (i) => send(guard, '/page/', { from: visitor(i) }));
    const client = new RawClient(port).send('GET /open/ HTTP/1.1\r\nHost: example.com\r\n\r\n');
    await client.until((text) => countResponses(text) === 1);
    await eventually(async () => {
      const text = await (await fetch(`${url}/metrics`)).text();
      const value = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
      return (
        value('security_optimizer_requests_total') === 71 &&
        value('security_optimizer_requests_refused_total\\{rule="xml-rpc"\\}') === 40 &&
        value('security_optimizer_upstream_response_seconds_count\\{status="2xx"\\}') === 31 &&
        value('security_optimizer_connections') === 1
      );
    });
  });

  describe('and a plugin that reads passwords from the address', () => {
    async function startPlugin() {
      const wordpress = await fakeWordPress(SECRET);
      const dataDir = await dataFolderFor(wordpress, {}, { processes: 2, trustedProxies: ['127.0.0.1'] });
      const guard = await serve(dataDir);
      const view = (query: string, from = visitor(0)) => send(guard, `/plugin/?log=owner&${query}`, { from });
      return { wordpress, guard, view };
    }

    it('have no password checked in a view without a permit, and grant one from then on', async () => {
      const { wordpress, view } = await startPlugin();
      await view('code=right');
      expect([wordpress.checks.length, wordpress.refused]).toEqual([0, 1]);
      await eventually(async () => {
        await view('code=right');
        return wordpress.checks.length > 0;
      });
    });

    it('count the guesses of all processes together', async () => {
      const { wordpress, guard, view } = await startPlugin();
      await times(60, () => view('password=wrong'));
      // A view never gets the last permit, which is for a login that certainly holds a password.
      await eventually(async () => {
        await view('password=wrong');
        return wordpress.checks.length === 4;
      });
      const last = await send(guard, '/wp-login.php', { ...LOGIN, from: visitor(0), body: 'log=owner&pwd=wrong' });
      expect([last.status, wordpress.checks.length]).toEqual([200, 5]);
      const { refused } = wordpress;
      await times(20, () => view('password=right'));
      await times(20, () => view('code=right'));
      expect([wordpress.checks.length, wordpress.refused - refused]).toEqual([5, 40]);
      await eventually(async () => {
        await view('password=right', visitor(1));
        return wordpress.checks.length === 6;
      });
    });

    it('ask for the second factor after a right password', async () => {
      const { wordpress, view } = await startPlugin();
      wordpress.factor = true;
      const response = await view('password=right');
      expect(wordpress.checks).toHaveLength(1);
      expect(response.headers['set-cookie']?.join() ?? '').not.toContain('must-not-leave');
      expect(`${response.headers.location}`).toContain('action=second-factor');
    });
  });

  it('forward the handshake of a WebSocket', async () => {
    const upstream = createServer();
    upstream.on('upgrade', (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      socket.pipe(socket);
      socket.on('error', () => {});
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void upstream.close());
    const address = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const guard = await serve(await dataFolderFor({ upstream: address }, {}, { processes: 2 }));
    const client = new RawClient(Number(new URL(guard.url).port)).send(
      'GET /chat HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
    await client.until((text) => text.includes('101'));
    client.send('echo');
    await client.until((text) => text.endsWith('echo'));
  });

  it('replace one that ends, while the others serve', async () => {
    const { guard } = await start();
    const before = listChildren(guard);
    expect(before).toHaveLength(2);
    process.kill(before[0] as number, 'SIGKILL');
    await eventually(() => guard.log().includes('worker-ended'));
    await eventually(() => guard.log().includes('worker-replaced'));
    expect(listChildren(guard)).toHaveLength(2);
    const sent = await times(20, (i) => send(guard, '/page/', { from: visitor(i) }));
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('complete running requests when guard stops, and end with it', async () => {
    const { guard, held } = await startHolding({});
    const workers = listChildren(guard);
    const sent = [send(guard, '/held/'), send(guard, '/held/', { method: 'POST', body: 'a=1' })];
    await eventually(() => held.length === 2);
    guard.child.kill('SIGTERM');
    await eventually(() => guard.log().includes('guard-stopping'));
    for (const response of held) response.end('done');
    expect((await Promise.all(sent)).map(({ body }) => body)).toEqual(['done', 'done']);
    await eventually(() => guard.child.exitCode !== null);
    expect(guard.child.exitCode).toBe(0);
    for (const pid of workers) expect(() => process.kill(pid, 0)).toThrow();
  });

  it('release what a process held that was killed', async () => {
    const { guard, held } = await startHolding({ limits: { upstreamConnections: 4 } });
    const lost = times(4, (i) => send(guard, '/held/', { from: visitor(i) }).catch(() => null));
    await eventually(() => held.length === 4);
    for (const [i, pid] of listChildren(guard).entries()) {
      process.kill(pid, 'SIGKILL');
      await eventually(() => guard.log().split('worker-replaced').length === i + 2);
    }
    expect(await lost).toEqual([null, null, null, null]);
    const sent = times(4, (i) => send(guard, '/held/', { from: visitor(i) }));
    await eventually(() => held.length === 8);
    for (const response of held.slice(4)) response.end('done');
    expect((await sent).map(({ body }) => body)).toEqual(['done', 'done', 'done', 'done']);
  });

  it('serve the sites of a changed configuration', async () => {
    const { guard, dataDir, connector } = await start();
    const file = join(dataDir, 'guard.json');
    const config = JSON.parse(await readFile(file, 'utf8'));
    config.sites[0].hosts = ['127.0.0.1', 'one.example.com'];
    await writeFile(file, JSON.stringify(config));
    connector.home = 'https://one.example.com';
    guard.child.kill('SIGHUP');
    await eventually(() => guard.log().includes('sites-changed'));
    const statuses = await times(10, (i) =>
      send(guard, '/', { from: visitor(i), headers: { Host: 'other.example.com' } }),
    );
    expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([404]));
    const served = await times(10, (i) => send(guard, '/', { from: visitor(i), headers: { Host: 'one.example.com' } }));
    expect(new Set(served.map(({ status }) => status))).toEqual(new Set([200]));
  });
});
