import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { certificate, freePort, runServer, writeNginxConfig } from './front-proxy.js';
import { scratchFolder } from './scratch.js';

/** Page caches as providers run them: nginx with `proxy_cache`, and Varnish. */

/** Whether a program accepts connections on a port of this machine. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('close', () => socket.destroy());
    socket.once('connect', () => socket.end());
  });
}

/** Lines of nginx that store responses under a key, except those that forbid it. */
const cacheLines = (key: string, more: readonly string[] = []) => [
  'proxy_cache pages;',
  `proxy_cache_key "${key}";`,
  'proxy_cache_valid 200 301 302 10m;',
  'add_header X-Cache $upstream_cache_status;',
  ...more,
];

/** Headers as the guides set them for a server behind another proxy. */
const FORWARDED = [
  'proxy_set_header Host $http_host;',
  'proxy_set_header X-Forwarded-For $http_x_forwarded_for;',
  'proxy_set_header X-Forwarded-Proto $http_x_forwarded_proto;',
];

/**
 * Starts nginx with a cache of one server.
 * @param key `proxy_cache_key`
 * @returns the origin of nginx
 */
export async function nginxCache(server: string, key: string): Promise<string> {
  const [folder, port] = [await scratchFolder(), await freePort()];
  const lines = [
    `listen 127.0.0.1:${port};`,
    'location / {',
    `proxy_pass ${server};`,
    ...FORWARDED,
    ...cacheLines(key),
    '}',
  ];
  const args = await writeNginxConfig(folder, [toZone(folder), 'server {', ...lines, '}']);
  await runServer('nginx', args, () => accepts(port));
  return `http://127.0.0.1:${port}`;
}

/**
 * Starts nginx with TLS and a cache in front of guard. It also hands on visits by http.
 * @param key `proxy_cache_key`
 * @param options `lines`: further lines of nginx. `forwardedFor`: the `X-Forwarded-For` that it sets
 * @returns where it listens for https and for http, as options of `doctor`
 */
export async function nginxInFront(
  guard: string,
  key: string,
  options: { readonly lines?: readonly string[]; readonly forwardedFor?: string } = {},
) {
  const { lines: more = [], forwardedFor = '$remote_addr' } = options;
  const { folder, key: keyFile, crt } = await certificate();
  const [port, httpPort] = [await freePort(), await freePort()];
  const lines = [
    `listen 127.0.0.1:${port} ssl;`,
    `listen 127.0.0.1:${httpPort};`,
    `ssl_certificate ${crt};`,
    `ssl_certificate_key ${keyFile};`,
    'location / {',
    `proxy_pass ${guard};`,
    'proxy_set_header Host $http_host;',
    `proxy_set_header X-Forwarded-For ${forwardedFor};`,
    'proxy_set_header X-Forwarded-Proto $scheme;',
    ...cacheLines(key, more),
    '}',
  ];
  const args = await writeNginxConfig(folder, [toZone(folder), 'server {', ...lines, '}']);
  await runServer('nginx', args, async () => (await accepts(port)) && (await accepts(httpPort)));
  const ca = await readFile(crt, 'utf8');
  return { connect: { host: '127.0.0.1', port, ca }, connectByHttp: { host: '127.0.0.1', port: httpPort } };
}

const toZone = (folder: string) => `proxy_cache_path ${folder}/pages keys_zone=pages:1m;`;

/**
 * Starts Varnish in front of one server.
 * @param hasScheme whether the scheme is in its key
 * @returns the origin of Varnish
 */
export async function varnishCache(server: string, hasScheme: boolean): Promise<string> {
  const [folder, port] = [await scratchFolder(), await freePort()];
  const { hostname, port: serverPort } = new URL(server);
  const vcl = [
    'vcl 4.1;',
    `backend default { .host = "${hostname}"; .port = "${serverPort}"; }`,
    'sub vcl_recv { if (req.http.X-Security-Optimizer-Command) { return (pass); } }',
    ...(hasScheme ? ['sub vcl_hash { hash_data(req.http.X-Forwarded-Proto); }'] : []),
  ];
  await mkdir(join(folder, 'varnish'));
  await writeFile(join(folder, 'pages.vcl'), vcl.join('\n'));
  const args = ['-F', '-n', join(folder, 'varnish'), '-a', `127.0.0.1:${port}`, '-f', join(folder, 'pages.vcl')];
  // Without its sandbox, which needs users that not every machine has; memory alone, since the folder is removed.
  await runServer('varnishd', [...args, '-j', 'none', '-s', 'default,8m', '-T', 'none'], () => accepts(port));
  return `http://127.0.0.1:${port}`;
}
