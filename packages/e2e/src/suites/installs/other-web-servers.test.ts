import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { answersHttp, findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { type Service, type ServiceOptions, startService } from '@security-optimizer/sandbox/lib/service';
import { findPrograms } from '@security-optimizer/sandbox/stacks/programs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { runAttacks } from '../../attacks/run.js';
import { AttackedSite } from '../../attacks/site.js';
import { sendRequest } from '../../http/request.js';
import { allOptions, logIn, setOptions } from '../../http/session.js';
import { securityOptimizer } from '../../stacks/guard-process.js';
import type { Stack } from '../../stacks/stack.js';
import { projectDir, replaceAll } from './helpers.js';

const MINUTES = 60_000;

/** Starts a web server in front of the stack's PHP on this port. Its folder exists and is empty. */
type Start = (stack: Stack, dir: string, port: number) => Promise<Service>;

interface WebServer {
  readonly name: string;
  readonly program: string;
  readonly start: Start;
  /** Whether it answers from a cache. */
  readonly caches?: true;
}

const SERVERS: readonly WebServer[] = [
  {
    name: 'Apache with PHP-FPM (mod_proxy_fcgi)',
    program: 'apache2',
    start: startApache('fpm'),
  },
  { name: 'Apache with mod_php', program: 'apache2', start: startApache('mod_php') },
  {
    name: 'nginx with its page cache',
    program: 'nginx',
    start: startCachingNginx,
    caches: true,
  },
  { name: 'Varnish', program: 'varnishd', start: startVarnish, caches: true },
];

/** The stack whose database and PHP they use. */
const stack = inject('stacks').find((one): one is Stack => one.kind === 'nginx-defaults' && !('problem' in one));

for (const { name, program, start, caches } of SERVERS) {
  describe.skipIf(stack === undefined || !isInstalled(program))(`WordPress on ${name}, by its example`, () => {
    const site = stack as Stack;
    const dir = join(site?.dir ?? '', 'other-server');
    let service: Service | undefined;

    const leadTo = async (port: number) => {
      const upstream = `http://127.0.0.1:${port}`;
      const args = ['--wordpress', site.wordpressDir, '--data-dir', site.guardDir];
      const attached = await securityOptimizer('attach', ...args, '--upstream', upstream);
      expect(attached).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('has taken it up') });
    };

    beforeAll(async () => {
      rmSync(dir, { recursive: true, force: true });
      mkdirSync(dir);
      const port = await findFreePort();
      service = await start(site, dir, port);
      await leadTo(port);
      await setOptions(site, await logIn(site), allOptions(1));
    });
    afterAll(async () => {
      await leadTo(site.upstreamPort);
      await service?.stop();
      rmSync(join(site.wordpressDir, '.htaccess'), { force: true });
    });

    it(
      'lets the owner log in, serves visitors, and no attack succeeds',
      async () => {
        const owner = { login: site.user, password: site.password };
        const attacked = await AttackedSite.meet({ url: site.url, owner, manyAddresses: true });
        const groups = ['spellings', 'edge', 'legitimate traffic'] as const;
        const results = await runAttacks(attacked, { groups: [...groups] });
        const faults = results.filter(({ ok }) => ok === false);
        expect(faults.map(({ attack, expected, got, twin }) => ({ attack, expected, got, twin }))).toEqual([]);
        expect(results.filter(({ ok }) => ok === true).length).toBeGreaterThan(50);
      },
      5 * MINUTES,
    );

    it.runIf(caches)(
      'serves anonymous clients from its cache, registered users never, and shows nothing of another visit',
      async () => {
        const page = async (headers = {}) => (await sendRequest(site, { target: '/', headers })).headers;
        await page();
        const cached = await page();
        // Varnish names the request that cached the page.
        expect(cached['x-cache'] === 'HIT' || /^\d+ \d+$/.test(cached['x-varnish'] ?? '')).toBe(true);
        expect(Object.keys(cached).filter((header) => header.startsWith('x-security-optimizer'))).toEqual([]);
        const { cookie } = await logIn(site);
        const mine = await sendRequest(site, { target: '/', headers: { cookie } });
        expect(mine.body).toContain('wpadminbar');
        expect((await sendRequest(site, { target: '/' })).body).not.toContain('wpadminbar');
        expect((await sendRequest(site, { target: '/wp-admin/', headers: { cookie } })).body).toContain('wpadminbar');
        expect((await sendRequest(site, { target: '/wp-admin/' })).status).toBe(302);
      },
    );
  });
}

function isInstalled(program: string): boolean {
  return spawnSync(program, ['-V']).error === undefined;
}

/** An example from the documentation, with its names replaced. */
function example(name: string, table: Readonly<Record<string, string>>): string {
  const text = readFileSync(join(projectDir, 'docs/operator/examples', name), 'utf8');
  for (const from of Object.keys(table)) expect(text).toContain(from);
  return replaceAll(text, table);
}

/** Starts it, and waits until it serves a file of WordPress. */
function run(dir: string, port: number, options: Pick<ServiceOptions, 'name' | 'command' | 'args'>): Promise<Service> {
  return startService({
    ...options,
    pidFile: join(dir, 'service.json'),
    logFile: join(dir, 'log'),
    ready: () => answersHttp(`http://127.0.0.1:${port}/wp-includes/css/buttons.min.css`),
    readySeconds: 90,
  });
}

const phpSocket = ({ dir }: Stack) => join(dir, 'run/php-fpm.sock');

/** Apache never serves as root, so its user must have access to WordPress, PHP and the database. */
function openFolders(site: Stack): void {
  const { dir, wordpressDir } = site;
  for (const folder of [dirname(dir), dir, join(dir, 'run'), wordpressDir]) chmodSync(folder, 0o755);
  chmodSync(phpSocket(site), 0o666);
  chmodSync(join(dir, 'tmp'), 0o777);
}

const HTACCESS = `RewriteEngine On
RewriteRule .* - [E=HTTP_AUTHORIZATION:%{HTTP:Authorization}]
RewriteBase /
RewriteRule ^index\\.php$ - [L]
RewriteCond %{REQUEST_FILENAME} !-f
RewriteCond %{REQUEST_FILENAME} !-d
RewriteRule . /index.php [L]
`;

function startApache(php: 'fpm' | 'mod_php'): Start {
  return async (site, dir, port) => {
    openFolders(site);
    chmodSync(dir, 0o755);
    // As written by WordPress on Apache.
    writeFileSync(join(site.wordpressDir, '.htaccess'), HTACCESS);
    let server = example('apache-wordpress.conf', {
      '127.0.0.1:8081': `127.0.0.1:${port}`,
      '/srv/www/example.com': site.wordpressDir,
      '/run/php/php-fpm.sock': phpSocket(site),
    });
    const common = ['authz_core', 'dir', 'mime', 'rewrite', 'env', 'setenvif', 'remoteip'];
    const modules = [...common, ...(php === 'fpm' ? ['mpm_event', 'proxy', 'proxy_fcgi'] : ['mpm_prefork'])];
    const lines = modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`);
    if (php === 'mod_php') {
      server = server.replace(/ {2}# PHP-FPM\.[\s\S]*<\/FilesMatch>\n/, '').replace(/ {2}ProxyTimeout.*\n/, '');
      lines.push('LoadModule php_module /usr/lib/apache2/modules/libphp8.2.so');
      lines.push('<FilesMatch "\\.php$">\n  SetHandler application/x-httpd-php\n</FilesMatch>');
    }
    const asUser = process.getuid?.() === 0 ? ['User www-data', 'Group www-data'] : [];
    const paths = [`ServerRoot ${dir}`, `DefaultRuntimeDir ${dir}`, `PidFile ${dir}/pid`, `ErrorLog ${dir}/errors`];
    const file = join(dir, 'apache.conf');
    writeFileSync(
      file,
      [...lines, ...paths, ...asUser, 'ServerName localhost', 'TypesConfig /etc/mime.types', server].join('\n'),
    );
    return run(dir, port, { name: 'Apache', command: 'apache2', args: ['-DFOREGROUND', '-f', file] });
  };
}

async function startCachingNginx(site: Stack, dir: string, port: number): Promise<Service> {
  const programs = findPrograms();
  if (typeof programs === 'string') throw new Error(programs);
  const server = example('nginx-wordpress-cache.conf', {
    '127.0.0.1:8081': `127.0.0.1:${port}`,
    '/srv/www/example.com': site.wordpressDir,
    '/run/php/php-fpm.sock': phpSocket(site),
    '/var/cache/nginx/wordpress': join(dir, 'cache'),
    'include fastcgi.conf': 'include /etc/nginx/fastcgi.conf',
  });
  const user = process.getuid?.() === 0 ? 'user root;\n' : '';
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path "${dir}/${kind}";`)
    .join('\n');
  const http = `include /etc/nginx/mime.types;\naccess_log off;\n${temporary}\n${server}`;
  const file = join(dir, 'nginx.conf');
  writeFileSync(file, `${user}daemon off;\npid ${dir}/pid;\nevents {}\nhttp {\n${http}\n}\n`);
  const args = ['-c', file, '-p', dir, '-e', 'stderr'];
  return run(dir, port, { name: 'nginx', command: programs.nginx, args });
}

/** Varnish in front of the web server of the stack. */
async function startVarnish(site: Stack, dir: string, port: number): Promise<Service> {
  const file = join(dir, 'site.vcl');
  writeFileSync(file, example('varnish.vcl', { '"8082"': `"${site.upstreamPort}"` }));
  const parameters = /varnishd (-p .*)$/m.exec(
    readFileSync(join(projectDir, 'docs/operator/examples/varnish.vcl'), 'utf8'),
  )?.[1];
  if (parameters === undefined) throw new Error('The example names no parameters.');
  const args = ['-F', '-n', join(dir, 'varnish'), '-a', `127.0.0.1:${port}`, '-f', file, '-s', 'malloc,32m'];
  // The jail would change to a user who can't read the folder of the test.
  return run(dir, port, {
    name: 'Varnish',
    command: 'varnishd',
    args: ['-j', 'none', ...args, ...parameters.split(' ')],
  });
}
