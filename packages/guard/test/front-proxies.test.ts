import { once } from 'node:events';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { connect as connectByTls } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../src/config/load-config.js';
import { noopObserver } from '../src/gateway/observer.js';
import { RawClient } from './raw-client.js';
import { type GatewayOptions, rawServer, recordingServer, startGateway } from './running-gateway.js';
import { fakeConnector } from './support/fake-connector.js';
import {
  areInstalled,
  certificate,
  freePort,
  getByTls,
  readExample,
  runNginx,
  runProxy,
  runServer,
} from './support/front-proxy.js';
import { dataFolderFor, runningGuard } from './support/running-guard.js';
import { eventually, scratchFolder, TIMEOUT_MS } from './support/scratch.js';

/**
 * Starts a proxy from its example, in front of guard on this port, with further texts replaced in it.
 * @returns its port for TLS
 */
type Start = (guard: number, replaced?: Readonly<Record<string, string>>) => Promise<number>;

const startHaproxy: Start = async (guard, replaced = {}) => {
  const { folder, key, crt } = await certificate();
  const [tls, plain] = [await freePort(), await freePort()];
  const config = await readExample('haproxy.cfg', {
    'bind :443': `bind 127.0.0.1:${tls}`,
    'bind :80': `bind 127.0.0.1:${plain}`,
    'crt /etc/ssl/private/example.com.pem': `crt ${join(folder, 'site.pem')}`,
    'server guard 127.0.0.1:8080': `server guard 127.0.0.1:${guard}`,
    'maxconn 20000': 'maxconn 100',
    ...replaced,
  });
  await writeFile(join(folder, 'site.pem'), (await readFile(key, 'utf8')) + (await readFile(crt, 'utf8')));
  await writeFile(join(folder, 'haproxy.cfg'), config);
  await runProxy('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], tls);
  return tls;
};

const startCaddy: Start = async (guard) => {
  const { folder, key, crt } = await certificate();
  const tls = await freePort();
  const site = await readExample('Caddyfile', {
    'example.com {': `https://example.com:${tls} {\n\tbind 127.0.0.1\n\ttls ${crt} ${key}`,
    '127.0.0.1:8080': `127.0.0.1:${guard}`,
  });
  const config = `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`;
  await writeFile(join(folder, 'Caddyfile'), config);
  const env = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  await runProxy('caddy', ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'], tls, env);
  return tls;
};

const startApache: Start = async (guard) => {
  const { folder, key, crt } = await certificate();
  const tls = await freePort();
  const site = await readExample('apache-tls.conf', {
    '*:443': `127.0.0.1:${tls}`,
    '/etc/ssl/example.com.crt': crt,
    '/etc/ssl/private/example.com.key': key,
    '127.0.0.1:8080': `127.0.0.1:${guard}`,
  });
  const modules = ['mpm_event', 'authz_core', 'socache_shmcb', 'ssl', 'headers', 'proxy', 'proxy_http'];
  const config = [
    ...modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
    ...[`ServerRoot ${folder}`, `DefaultRuntimeDir ${folder}`, `PidFile ${folder}/pid`, `ErrorLog ${folder}/log`],
    ...[`Listen 127.0.0.1:${tls}`, 'ServerName example.com'],
    ...(process.getuid?.() === 0 ? ['User www-data', 'Group www-data'] : []),
    site,
  ];
  await writeFile(join(folder, 'apache.conf'), config.join('\n'));
  await runProxy('apache2', ['-X', '-f', join(folder, 'apache.conf')], tls);
  return tls;
};

const startNginx: Start = async (guard) => {
  const { folder, key, crt } = await certificate();
  const tls = await freePort();
  const site = await readExample('nginx-tls.conf', {
    ...nginxNames(tls, key, crt),
    '127.0.0.1:8080': `127.0.0.1:${guard}`,
  });
  await runNginx(folder, [site], tls);
  return tls;
};

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

const nginxNames = (tls: number, key: string, crt: string) => ({
  'listen 443 ssl': `listen 127.0.0.1:${tls} ssl`,
  '/etc/ssl/example.com.crt': crt,
  '/etc/ssl/private/example.com.key': key,
});

const proxies: readonly (readonly [name: string, program: string, Start, GatewayOptions])[] = [
  ['HAProxy', 'haproxy', startHaproxy, { proxyProtocol: true }],
  ['Caddy', 'caddy', startCaddy, {}],
  ['Apache', 'apache2', startApache, {}],
  ['nginx', 'nginx', startNginx, {}],
];

/** A web server that accepts a WebSocket and echoes its data. @returns its port, and the heads of its requests */
async function echo(): Promise<{ port: number; heads: string[] }> {
  const heads: string[] = [];
  const port = await rawServer((socket) => {
    let isOpen = false;
    socket.on('data', (data) => {
      if (isOpen) {
        socket.write(data);
        return;
      }
      heads.push(data.toString('latin1'));
      isOpen = /^upgrade: websocket\r$/im.test(heads.at(-1) as string);
      socket.write(
        isOpen
          ? 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n'
          : 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nplain',
      );
    });
  });
  return { port, heads };
}

const HANDSHAKE =
  'GET /ws HTTP/1.1\r\nHost: example.com\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n';

for (const [name, program, start, options] of proxies) {
  describe.skipIf(!areInstalled(program, 'openssl'))(`guard behind ${name}, as in docs/operator/examples`, () => {
    it('gets the visitor’s address and scheme, whatever the visitor claims, and the unchanged target', async () => {
      const { port, seen } = await recordingServer();
      const gateway = await startGateway(port, { trustedProxies: ['127.0.0.1'], ...options });
      const tls = await start(gateway.port);
      // Visitors at 127.0.0.2 are not proxies.
      const forged = { 'X-Forwarded-For': '198.51.100.99', 'X-Forwarded-Proto': 'http', 'X-Real-IP': '198.51.100.98' };
      expect(await getByTls(tls, '/a//b/%41?c=%2f', forged, '127.0.0.2')).toBe(200);
      const { url, headers } = seen.at(-1) ?? {};
      expect([url, headers]).toEqual([
        '/a//b/%41?c=%2f',
        expect.objectContaining({ 'x-forwarded-for': '127.0.0.2', 'x-forwarded-proto': 'https', host: 'example.com' }),
      ]);
      expect(JSON.stringify(headers)).not.toContain('198.51.100');
      gateway.rule({ blocked: ['127.0.0.2'] });
      expect(await getByTls(tls, '/', forged, '127.0.0.2')).toBe(403);
    });

    it('accepts a WebSocket of the visitor', async () => {
      const { port, heads } = await echo();
      const gateway = await startGateway(port, { trustedProxies: ['127.0.0.1'], ...options });
      const visitor = { host: '127.0.0.1', localAddress: '127.0.0.2', rejectUnauthorized: false };
      const socket = connectByTls({ ...visitor, port: await start(gateway.port), servername: 'example.com' });
      onTestFinished(() => void socket.destroy());
      let received = '';
      socket.on('data', (data) => {
        received += data.toString('latin1');
      });
      socket.write(HANDSHAKE);
      await expect.poll(() => received, { timeout: TIMEOUT_MS }).toContain('101 Switching Protocols');
      socket.write('data');
      await expect.poll(() => received, { timeout: TIMEOUT_MS }).toMatch(/data$/);
      expect(heads.at(-1)).toMatch(/^x-forwarded-for: 127\.0\.0\.2\r$/im);
      // Apache would wait for it before it ends.
      socket.end();
      await once(socket, 'close');
    });
  });
}

describe.skipIf(!areInstalled('haproxy', 'openssl'))(
  'the health check of HAProxy, as in docs/operator/examples',
  () => {
    it('finds guard up, and down once guard has stopped, and leaves nothing in guard’s logs', async () => {
      const { port, seen } = await recordingServer();
      const refused: string[] = [];
      const observer = { ...noopObserver, refused: (rule: string) => void refused.push(rule) };
      const gateway = await startGateway(port, { trustedProxies: ['127.0.0.1'], proxyProtocol: true, observer });
      const stats = join(await scratchFolder(), 'stats.sock');
      const tls = await startHaproxy(gateway.port, {
        'maxconn 20000': `maxconn 100\n  stats socket ${stats}`,
        ' check ': ' check inter 100ms ',
        'timeout connect 5s': 'timeout connect 5s\n  timeout check 5s',
      });
      // The proxy was awaited with one visit.
      const visits = gateway.visits.length;
      const isLastCheck = async (pattern: RegExp) => pattern.test(await askHaproxy(stats));
      await eventually(() => isLastCheck(/^UP L7OK 200$/));
      expect(await getByTls(tls, '/page', {}, '127.0.0.2')).toBe(200);
      expect([gateway.visits.length - visits, seen.length - visits, refused]).toEqual([1, 1, []]);
      await gateway.server.close();
      await eventually(() => isLastCheck(/^DOWN L4/));
      expect([gateway.visits.length - visits, refused]).toEqual([1, []]);
    });

    it('can ask for /readyz in its place, which knows whether guard can serve its site', async () => {
      const connector = await fakeConnector();
      const listen = `127.0.0.1:${await freePort()}`;
      const dataDir = await dataFolderFor(connector, {}, { metrics: { listen }, trustedProxies: ['127.0.0.1'] });
      const key = join(dataDir, 'sites', 'site.secret');
      const stats = join(await scratchFolder(), 'stats.sock');
      const guard = await runningGuard(dataDir);
      await startHaproxy(Number(new URL(guard.url).port), {
        'maxconn 20000': `maxconn 100\n  stats socket ${stats}`,
        ...{ ' check ': ` check port ${listen.split(':')[1]} inter 100ms `, ' send-proxy-v2-ssl': '' },
        ...{
          'option httpchk': 'option httpchk GET /readyz',
          'timeout connect 5s': 'timeout connect 5s\n  timeout check 5s',
        },
      });
      await eventually(async () => (await askHaproxy(stats)) === 'UP L7OK 200');
      await rename(key, `${key}-gone`);
      await guard.reload(await loadConfig({ dataDir, env: {} }));
      await eventually(async () => (await askHaproxy(stats)) === 'DOWN L7STS 503');
      await rename(`${key}-gone`, key);
      await guard.reload(await loadConfig({ dataDir, env: {} }));
      await eventually(async () => (await askHaproxy(stats)) === 'UP L7OK 200');
    });

    /** State of the server `guard`, and result and status of its last check. @param socket of HAProxy's statistics */
    async function askHaproxy(socket: string): Promise<string> {
      const text = await new RawClient(socket).send('show stat\n').end();
      const [names = '', ...lines] = text.replace(/^# /, '').split('\n');
      const row = lines
        .map((line) => line.split(','))
        .find(([proxy, server]) => proxy === 'guard' && server === 'guard');
      const get = (name: string) => row?.[names.split(',').indexOf(name)] ?? '';
      // An asterisk marks a check that is running now.
      return [get('status'), get('check_status').replace('* ', ''), get('check_code')].join(' ').trim();
    }
  },
);

describe.skipIf(!areInstalled('varnishd'))('Varnish, as in docs/operator/examples', () => {
  /** Starts it from an example. @returns its port */
  async function startVarnish(
    name: string,
    replaced: Readonly<Record<string, string>>,
    protocol = '',
  ): Promise<number> {
    const folder = await scratchFolder();
    const port = await freePort();
    await writeFile(join(folder, 'site.vcl'), await readExample(name, replaced));
    const listen = ['-F', '-n', join(folder, 'v'), '-a', `127.0.0.1:${port}${protocol}`, '-s', 'malloc,32m'];
    // The jail would change to a user who can't read the folder of the test.
    await runServer('varnishd', ['-j', 'none', ...listen, '-f', join(folder, 'site.vcl')], () => isListening(port));
    return port;
  }

  it('passes a WebSocket on, between guard and the web server', async () => {
    const { port, heads } = await echo();
    const varnish = await startVarnish('varnish.vcl', { '"8082"': `"${port}"` });
    const gateway = await startGateway(varnish);
    const client = new RawClient(gateway.port).send(HANDSHAKE);
    await client.until((text) => text.includes('101 Switching Protocols'));
    await client.send('data').until((text) => text.endsWith('data'));
    expect(heads.at(-1)).toContain('X-Security-Optimizer-Guard: 1 ');
  });

  it('passes a WebSocket on, in front of guard, with the visitor’s address and scheme', async () => {
    const { port, heads } = await echo();
    const gateway = await startGateway(port, { trustedProxies: ['127.0.0.1'] });
    const varnish = await startVarnish('varnish-front.vcl', { '"8080"': `"${gateway.port}"` }, ',PROXY');
    const forged = HANDSHAKE.replace(
      '\r\n\r\n',
      '\r\nX-Forwarded-For: 198.51.100.99\r\nX-Forwarded-Proto: https\r\n\r\n',
    );
    const client = new RawClient(varnish).send(`PROXY TCP4 203.0.113.7 127.0.0.1 40000 80\r\n${forged}`);
    await client.until((text) => text.includes('101 Switching Protocols'));
    await client.send('data').until((text) => text.endsWith('data'));
    expect(heads.at(-1)).toMatch(/^x-forwarded-for: 203\.0\.113\.7\r$/im);
    expect(heads.at(-1)).toMatch(/^x-forwarded-proto: http\r$/im);
  });
});

describe.skipIf(!areInstalled('nginx', 'openssl'))('guard between two nginx by Unix sockets, as in the guide', () => {
  /** The lines for nginx in the guide's section, which are between backticks in its sentences. */
  async function getGuideLines(): Promise<{ front: string; listen: string; address: string[] }> {
    const text = await readFile(new URL('../../../docs/operator/operations.md', import.meta.url), 'utf8');
    const section = text.split('\n## Unix sockets\n')[1]?.split('\n## ')[0] ?? '';
    const lines = [...section.matchAll(/`([a-z_]+ [^`]+;)`/g)].map(([, line = '']) => line);
    const [front = '', listen = '', ...address] = lines;
    expect([front, listen, address.length]).toEqual([
      expect.stringMatching(/^proxy_pass http:\/\/unix:/),
      expect.stringMatching(/^listen unix:/),
      2,
    ]);
    return { front, listen, address };
  }

  /**
   * Sends a request from 127.0.0.2 by TLS.
   * @returns the visitor's address and scheme as the nginx behind guard sees them
   */
  async function seenUpstream(trustedProxies: readonly string[], isAddressSet: boolean): Promise<string> {
    const { front, listen, address } = await getGuideLines();
    const { folder, key, crt } = await certificate();
    const tls = await freePort();
    const [guard, wordpress] = [join(folder, 'guard.sock'), join(folder, 'wordpress.sock')];
    const first = await readExample('nginx-tls.conf', {
      ...nginxNames(tls, key, crt),
      'proxy_pass http://guard;': front.replace('/run/security-optimizer/guard.sock', guard),
    });
    const second = `server { ${listen.replace('/run/nginx/wordpress.sock', wordpress)} ${isAddressSet ? address.join(' ') : ''}
      location / { add_header Seen "$remote_addr $http_x_forwarded_proto"; return 200 "hello"; } }`;
    await startGateway(`unix:${wordpress}`, { listen: { path: guard }, trustedProxies });
    await runNginx(folder, [first, second], tls);
    return new Promise((resolve, reject) => {
      const visitor = { localAddress: '127.0.0.2', rejectUnauthorized: false, servername: 'example.com', agent: false };
      const headers = { host: 'example.com', 'X-Forwarded-For': '198.51.100.99' };
      request({ host: '127.0.0.1', port: tls, headers, ...visitor }, (response) => {
        response.resume();
        resolve(String(response.headers.seen));
      })
        .once('error', reject)
        .end();
    });
  }

  it('identifies each visitor, and so does the nginx behind it', async () => {
    expect(await seenUpstream(['unix'], true)).toBe('127.0.0.2 https');
  });

  it('treats every visitor as this machine unless the socket is trusted, and so does the nginx behind it', async () => {
    expect(await seenUpstream([], true)).toBe('127.0.0.1 http');
  });

  it('the nginx behind it sees the name of a socket when the lines for the address are missing', async () => {
    expect(await seenUpstream(['unix'], false)).toBe('unix: https');
  });
});
