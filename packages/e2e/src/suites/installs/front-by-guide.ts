import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { type Service, startService } from '@security-optimizer/sandbox/lib/service';
import { type RawResponse, sendRaw } from '../../http/raw.js';
import { type TypedRequest, toBytes } from '../../http/request.js';
import { projectDir, replaceAll } from './helpers.js';
import { HOST, type SiteBehind } from './site-behind.js';

/** The guide's examples for the web server in front of guard, with TLS, for a site behind it. */

export interface Front {
  readonly service: Service;
  /** Port of this machine with TLS, whose server forwards to guard. */
  readonly port: number;
  /** Sends a request to the front that forwards to guard. */
  readonly request: (request: TypedRequest) => Promise<RawResponse>;
  /** Sends a request to the same front, which forwards to the web server behind instead. */
  readonly requestWithoutGuard: (request: TypedRequest) => Promise<RawResponse>;
}

/** @param lines further lines of the server block */
export type Configure = (location: { dir: string; tls: number; to: number; lines: string; name: string }) => string;

const example = (file: string, table: Readonly<Record<string, string>>) =>
  replaceAll(readFileSync(join(projectDir, 'docs/operator/examples', file), 'utf8'), table);

export const certificateNames = (dir: string) => ({
  '/etc/ssl/example.com.crt': join(dir, 'site.crt'),
  '/etc/ssl/private/example.com.key': join(dir, 'site.key'),
  'example.com': HOST,
});

export const nginxServer: Configure = ({ dir, tls, to, lines, name }) =>
  example('nginx-tls.conf', {
    ...certificateNames(dir),
    'listen 443 ssl': `listen 127.0.0.1:${tls} ssl`,
    '127.0.0.1:8080': `127.0.0.1:${to}`,
    'upstream guard': `upstream ${name}`,
    'http://guard': `http://${name}`,
    $guard_connection: `$${name}_connection`,
    '\n  location / {': `\n${lines}\n  location / {`,
  });

export const apacheServer: Configure = ({ dir, tls, to, lines }) =>
  `Listen 127.0.0.1:${tls}\n${example('apache-tls.conf', {
    ...certificateNames(dir),
    '*:443': `127.0.0.1:${tls}`,
    '127.0.0.1:8080': `127.0.0.1:${to}`,
    '</VirtualHost>': `${lines}\n</VirtualHost>`,
  })}`;

/** Starts nginx or Apache in front, with two servers that differ only in their upstream. */
export async function startFront(site: SiteBehind, program: 'nginx' | 'apache2', lines: string): Promise<Front> {
  const dir = join(site.dir, `front-${program}`);
  mkdirSync(dir, { recursive: true });
  const [crt, key] = [join(dir, 'site.crt'), join(dir, 'site.key')];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${HOST}`, '-days', '2'];
  execFileSync('openssl', [...made, '-keyout', key, '-out', crt], { stdio: 'ignore' });
  const [tls, straight] = [await findFreePort(), await findFreePort()];
  const configure = program === 'nginx' ? nginxServer : apacheServer;
  const servers = [
    configure({ dir, tls, to: site.port, lines, name: 'guard' }),
    configure({ dir, tls: straight, to: site.upstreamPort, lines, name: 'behind' }),
  ].join('\n');
  const file = join(dir, 'front.conf');
  writeFileSync(file, program === 'nginx' ? nginxFile(dir, servers) : apacheFile(dir, servers));
  const ca = readFileSync(crt, 'utf8');
  const requestAt = (port: number, request: TypedRequest) => sendRaw(port, toBytes(site, request), { tls: HOST, ca });
  const service = await startService({
    ...{ name: program, command: program, readySeconds: 90 },
    args: program === 'nginx' ? ['-c', file, '-p', dir, '-e', 'stderr'] : ['-DFOREGROUND', '-f', file],
    pidFile: join(dir, 'front.json'),
    logFile: join(dir, 'front.log'),
    ready: () =>
      requestAt(straight, { target: '/wp-includes/css/buttons.min.css' }).then(
        ({ status }) => status === 200,
        () => false,
      ),
  });
  return {
    service,
    port: tls,
    request: (request) => requestAt(tls, request),
    requestWithoutGuard: (request) => requestAt(straight, request),
  };
}

export function nginxFile(dir: string, servers: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path "${dir}/${kind}";`,
  );
  const user = process.getuid?.() === 0 ? 'user root;\n' : '';
  const http = ['access_log off;', ...temporary, servers].join('\n');
  return `${user}daemon off;\npid "${dir}/pid";\nevents {}\nhttp {\n${http}\n}\n`;
}

export function apacheFile(dir: string, servers: string): string {
  const modules = ['mpm_event', 'authz_core', 'socache_shmcb', 'ssl', 'headers', 'proxy', 'proxy_http'];
  return [
    ...modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
    ...[`ServerRoot ${dir}`, `DefaultRuntimeDir ${dir}`, `PidFile ${dir}/pid`, `ErrorLog ${dir}/errors`],
    ...(process.getuid?.() === 0 ? ['User www-data', 'Group www-data'] : []),
    ...['ServerName localhost', servers],
  ].join('\n');
}
