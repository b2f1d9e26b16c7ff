import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { type Service, startService } from '@security-optimizer/sandbox/lib/service';
import { createPhpRunner } from '@security-optimizer/sandbox/php/native';
import { replaceSiteUrl } from '@security-optimizer/sandbox/wordpress/config-file';
import { installWordPress } from '@security-optimizer/sandbox/wordpress/install';
import type { RawResponse } from '../../http/raw.js';
import { sendRequest, sendUpstream, type TypedRequest } from '../../http/request.js';
import { type CommandOutcome, securityOptimizer, stopGuard } from '../../stacks/guard-process.js';
import { makeTree, removeLayouts } from '../../stacks/layouts.js';
import type { Stack } from '../../stacks/stack.js';
import { projectDir, replaceAll } from './helpers.js';

/** A site with https on its own web server with the guide's examples, on the PHP and the database of a stack. */

export const HOST = 'shop.example';

export interface SiteBehind extends Stack {
  /** Socket of PHP-FPM. */
  readonly php: string;
}

export const MOD_PHP = '/usr/lib/apache2/modules/libphp8.2.so';

/** Installs WordPress in its own folder. Its web server and guard are not started yet. */
export async function installSite(stack: Stack, dir: string, prefix: string): Promise<SiteBehind> {
  removeLayouts(dir);
  for (const name of ['logs', 'tmp', 'mail', 'run', 'owner']) mkdirSync(join(dir, name), { recursive: true });
  const wordpressDir = join(dir, 'tree');
  makeTree(stack, wordpressDir);
  const text = replaceSiteUrl(readFileSync(join(stack.wordpressDir, 'wp-config.php'), 'utf8'), `https://${HOST}`);
  writeFileSync(
    join(wordpressDir, 'wp-config.php'),
    text.replace("$table_prefix = 'wp_'", `$table_prefix = '${prefix}_'`),
  );
  const runPhp = createPhpRunner(dir);
  const dataDir = join(dir, 'owner');
  const owner = await installWordPress({ wordpressDir, dataDir, siteUrl: `https://${HOST}`, runPhp });
  const [port, upstreamPort] = [await findFreePort(), await findFreePort()];
  const own = { dir, wordpressDir, guardDir: join(dir, 'guard'), url: `https://${HOST}`, port, upstreamPort };
  return { ...stack, ...owner, ...own, php: join(stack.dir, 'run/php-fpm.sock') };
}

/** Attaches it with a new data folder, as on a machine without guard. @param names host names; none for every host */
export async function attachAnew(site: SiteBehind, names: readonly string[]): Promise<CommandOutcome> {
  await stopGuard(site);
  if (existsSync(site.guardDir)) await securityOptimizer('sites', 'remove', '--data-dir', site.guardDir);
  rmSync(site.guardDir, { recursive: true, force: true });
  return attachAgain(site, ['--listen', `127.0.0.1:${site.port}`, ...names.flatMap((name) => ['--host', name])]);
}

export function attachAgain(site: SiteBehind, more: readonly string[] = []): Promise<CommandOutcome> {
  const options = ['--wordpress', site.wordpressDir, '--data-dir', site.guardDir];
  const behind = ['--upstream', `http://127.0.0.1:${site.upstreamPort}`, '--trusted-proxy', '127.0.0.1'];
  return securityOptimizer('attach', ...options, ...behind, ...more);
}

interface Status {
  readonly sites: readonly {
    readonly id: string;
    readonly connector: string;
    readonly wordpress: string;
    readonly redirectLoop: string | null;
    /** Whether the web server behind sees the address of each visitor. */
    readonly visitors: string | null;
    readonly openPages: readonly { readonly path: string }[];
    readonly cachePastGuard: string | null;
  }[];
  readonly warnings: readonly string[];
  readonly problems: readonly string[];
}

export async function readStatus(site: SiteBehind): Promise<Status> {
  return JSON.parse((await securityOptimizer('status', '--data-dir', site.guardDir, '--json')).stdout);
}

/** A visit through guard, as forwarded by the server that terminates TLS. */
export function visit(
  site: SiteBehind,
  target: string,
  scheme: 'http' | 'https' = 'https',
  more: Partial<TypedRequest> = {},
): Promise<RawResponse> {
  const headers = { 'x-forwarded-for': '127.0.90.9', 'x-forwarded-proto': scheme, ...more.headers };
  return sendRequest(site, { ...more, target, headers });
}

/** An example of the guide with the names of this machine. */
function example(site: SiteBehind, name: string, more: Readonly<Record<string, string>> = {}): string {
  return replaceAll(readFileSync(join(projectDir, 'docs/operator/examples', name), 'utf8'), {
    '127.0.0.1:8081': `127.0.0.1:${site.upstreamPort}`,
    '/srv/www/example.com': site.wordpressDir,
    '/run/php/php-fpm.sock': site.php,
    'example.com': HOST,
    ...more,
  });
}

const isAvailable = (site: SiteBehind): Promise<boolean> =>
  sendUpstream(site, { target: '/wp-includes/css/buttons.min.css' }).then(
    () => true,
    () => false,
  );

interface NginxOptions {
  readonly example?: 'nginx-wordpress.conf' | 'nginx-wordpress-cache.conf';
  /** Lines for its `server`. */
  readonly lines?: string;
  /** Server blocks before it, so that one of them is the default. */
  readonly before?: string;
  /** Changes the example. */
  readonly change?: (text: string) => string;
}

export async function startNginx(site: SiteBehind, options: NginxOptions = {}): Promise<Service> {
  const { dir } = site;
  const { lines = '', before = '', change = (text: string) => text } = options;
  const text = example(site, options.example ?? 'nginx-wordpress.conf', {
    '/var/cache/nginx/wordpress': join(dir, 'cache'),
    'include fastcgi.conf': 'include /etc/nginx/fastcgi.conf',
  });
  const server = change(text).replace(`server_name ${HOST};`, (found) => `${found}\n${lines}`);
  const user = process.getuid?.() === 0 ? 'user root;\n' : '';
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path "${dir}/tmp/${kind}";`)
    .join('\n');
  const file = join(dir, 'nginx.conf');
  const http = `include /etc/nginx/mime.types;\naccess_log off;\n${temporary}\n${before}\n${server}`;
  writeFileSync(file, `${user}daemon off;\npid ${dir}/run/nginx.pid;\nevents {}\nhttp {\n${http}\n}\n`);
  return startService({
    ...{ name: 'nginx', command: 'nginx', args: ['-c', file, '-p', dir, '-e', 'stderr'], readySeconds: 90 },
    pidFile: join(dir, 'run/web.json'),
    logFile: join(dir, 'logs/web.log'),
    ready: () => isAvailable(site),
  });
}

interface ApacheOptions {
  /** Lines for its `VirtualHost`. */
  readonly lines?: string;
  /** Modules in addition to those of the example. */
  readonly modules?: readonly string[];
  /** Changes the example. */
  readonly change?: (text: string) => string;
  /** What runs PHP; by default PHP-FPM. */
  readonly php?: 'fpm' | 'mod_php';
}

/** Starts Apache with the guide's example. */
export async function startApache(site: SiteBehind, options: ApacheOptions = {}): Promise<Service> {
  const { dir, wordpressDir } = site;
  // Apache never serves as root, so its user must have access to WordPress and PHP.
  for (const folder of [dirname(dirname(dir)), dirname(dir), dir, wordpressDir, dirname(site.php)])
    chmodSync(folder, 0o755);
  chmodSync(site.php, 0o666);
  const { lines = '', modules = [], change = (text: string) => text, php = 'fpm' } = options;
  const runsPhp = php === 'fpm' ? ['mpm_event', 'proxy', 'proxy_fcgi'] : ['mpm_prefork'];
  const names = [...runsPhp, 'authz_core', 'dir', 'mime', 'rewrite', 'env', 'setenvif', ...modules];
  const server = change(example(site, 'apache-wordpress.conf', { '</VirtualHost>': `${lines}\n</VirtualHost>` }));
  // Further modules of the example.
  if (/RemoteIP/.test(server)) names.push('remoteip');
  const file = join(dir, 'apache.conf');
  const config = [
    ...names.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
    ...[
      `ServerRoot ${dir}`,
      `DefaultRuntimeDir ${dir}/run`,
      `PidFile ${dir}/run/apache.pid`,
      `ErrorLog ${dir}/logs/apache`,
    ],
    ...(process.getuid?.() === 0 ? ['User www-data', 'Group www-data'] : []),
    ...(php === 'mod_php' ? [`LoadModule php_module ${MOD_PHP}`] : []),
    ...['ServerName localhost', 'TypesConfig /etc/mime.types', server],
  ];
  writeFileSync(file, config.join('\n'));
  return startService({
    ...{ name: 'Apache', command: 'apache2', args: ['-DFOREGROUND', '-f', file], readySeconds: 90 },
    pidFile: join(dir, 'run/web.json'),
    logFile: join(dir, 'logs/web.log'),
    ready: () => isAvailable(site),
  });
}
