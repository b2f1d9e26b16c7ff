import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type GatewayOptions, recordingServer, startGateway } from './running-gateway.js';
import {
  areInstalled,
  certificate,
  freePort,
  getByTls,
  readExample,
  runNginx,
  runProxy,
} from './support/front-proxy.js';

/**
 * Starts a proxy from its example, in front of guard on this port.
 * @returns its port for TLS
 */
type Start = (guard: number) => Promise<number>;

const startHaproxy: Start = async (guard) => {
  const { folder, key, crt } = await certificate();
  const [tls, plain] = [await freePort(), await freePort()];
  const config = await readExample('haproxy.cfg', {
    'bind :443': `bind 127.0.0.1:${tls}`,
    'bind :80': `bind 127.0.0.1:${plain}`,
    'crt /etc/ssl/private/example.com.pem': `crt ${join(folder, 'site.pem')}`,
    'server guard 127.0.0.1:8080': `server guard 127.0.0.1:${guard}`,
    'maxconn 20000': 'maxconn 100',
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
  });
}

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
