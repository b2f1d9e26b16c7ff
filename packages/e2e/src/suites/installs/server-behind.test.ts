import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { answersHttp, findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { type Service, startService } from '@security-optimizer/sandbox/lib/service';
import { findPrograms } from '@security-optimizer/sandbox/stacks/programs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { sendRaw } from '../../http/raw.js';
import { sendUpstream, toBytes } from '../../http/request.js';
import { securityOptimizer } from '../../stacks/guard-process.js';
import type { Stack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { behindProxy, visitFrom } from '../activity/helpers.js';
import { projectDir, replaceAll } from './helpers.js';

/**
 * The examples for the web server behind guard, and how it sees each visitor: first without the lines that take the
 * address from guard, then with them.
 */

/** The stack whose database and PHP they use. */
const stack = inject('stacks').find((one): one is Stack => one.kind === 'nginx-defaults' && !('problem' in one));
const programs = findPrograms();
const hasApache = spawnSync('apache2', ['-V']).error === undefined;
/** Loopback, but not 127.0.0.1, which may mean the machine. */
const ELSEWHERE = '127.0.93.7';

/** The two lines of each example that `status` recommends. */
const ADDRESS_LINES = {
  nginx: /^ *(?:set_real_ip_from|real_ip_header) .*\n/gm,
  apache: /^ *RemoteIP\w+ .*\n/gm,
};

interface SiteStatus {
  readonly visitors: string | null;
  readonly openPages: readonly { readonly name: string; readonly path: string; readonly host: string }[];
}

const phpSocket = ({ dir }: Stack) => join(dir, 'run/php-fpm.sock');

/** An example from the documentation, with its names replaced. */
function example(name: string, table: Readonly<Record<string, string>>): string {
  const text = readFileSync(join(projectDir, 'docs/operator/examples', name), 'utf8');
  for (const from of Object.keys(table)) expect(text).toContain(from);
  return replaceAll(text, table);
}

describe.skipIf(stack === undefined || typeof programs === 'string')('the web server behind guard', () => {
  const site = stack as Stack;
  const dir = join(site?.dir ?? '', 'server-behind');
  const started: Service[] = [];

  beforeAll(() => {
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir);
  });
  afterAll(async () => {
    await attachTo(site.upstreamPort);
    for (const service of started.reverse()) await service.stop();
    rmSync(join(site.wordpressDir, '.htaccess'), { force: true });
  });
  if (site !== undefined) behindProxy(site);

  async function attachTo(port: number): Promise<void> {
    const args = ['--wordpress', site.wordpressDir, '--data-dir', site.guardDir];
    const attached = await securityOptimizer('attach', ...args, '--upstream', `http://127.0.0.1:${port}`);
    expect(attached).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('has taken it up') });
  }

  async function status(): Promise<{ readonly site: SiteStatus; readonly warnings: string }> {
    const { stdout } = await securityOptimizer('status', '--data-dir', site.guardDir, '--json');
    const report = JSON.parse(stdout) as {
      readonly sites: readonly SiteStatus[];
      readonly warnings: readonly string[];
    };
    return { site: report.sites[0] as SiteStatus, warnings: report.warnings.join('\n') };
  }

  async function run(name: string, port: number, command: string, args: readonly string[]): Promise<Service> {
    const service = await startService({
      ...{ name, command, args: [...args] },
      pidFile: join(dir, `${name}.json`),
      logFile: join(dir, `${name}.log`),
      ready: () => answersHttp(`http://127.0.0.1:${port}/wp-includes/css/buttons.min.css`),
      readySeconds: 90,
    });
    started.push(service);
    return service;
  }

  const get = async (from: string, target: string, headers = {}) => {
    const { status: code, body } = await visitFrom(site, from, target, { headers });
    return [code, body] as const;
  };

  describe('nginx', () => {
    let port: number;
    let nginx: Service;
    const log = join(dir, 'access.log');
    const file = join(dir, 'nginx.conf');

    /**
     * The example, with further usual settings.
     *
     * @param isSet whether it contains the lines for the visitor's address
     */
    const configure = (name: string, isSet: boolean) => {
      const more = `
  location = /nginx_status { stub_status; allow 127.0.0.1; deny all; }
  location = /fpm-status {
    allow 127.0.0.1; deny all;
    include /etc/nginx/fastcgi.conf; fastcgi_pass unix:${dir}/status.sock;
  }
  location = /wp-login.php {
    limit_req zone=login nodelay;
    include /etc/nginx/fastcgi.conf; fastcgi_pass unix:${phpSocket(site)};
  }
  location / {`;
      let server = example(name, {
        '127.0.0.1:8081': `127.0.0.1:${port}`,
        '/srv/www/example.com': site.wordpressDir,
        '/run/php/php-fpm.sock': phpSocket(site),
        'include fastcgi.conf': 'include /etc/nginx/fastcgi.conf',
        '\n  location / {': more,
        ...(name.includes('cache') && { '/var/cache/nginx/wordpress': join(dir, 'cache') }),
      });
      if (!isSet) server = server.replace(ADDRESS_LINES.nginx, '');
      const user = process.getuid?.() === 0 ? 'user root;\n' : '';
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (kind) => `${kind}_temp_path "${dir}/${kind}";\n`,
      );
      const http = `include /etc/nginx/mime.types;\naccess_log ${log};\nlimit_req_zone $binary_remote_addr zone=login:1m rate=1r/m;\n${temporary.join('')}${server}
server { listen 127.0.0.1:${port}; server_name localhost status.internal pma.site.example; location / { stub_status; } }
server { listen 127.0.0.1:${port}; server_name old.example; return 301 ${site.url}$request_uri; }
server { listen 127.0.0.1:${port}; server_name elsewhere.example; return 301 https://www.example.org/; }`;
      writeFileSync(file, `${user}daemon off;\npid ${dir}/pid;\nevents {}\nhttp {\n${http}\n}\n`);
    };

    const reconfigure = async (name: string, isSet: boolean) => {
      configure(name, isSet);
      const workers = () => readFileSync(`/proc/${nginx.pid}/task/${nginx.pid}/children`, 'utf8').trim().split(/\s+/);
      const before = workers();
      process.kill(nginx.pid, 'SIGHUP');
      await until('nginx has read it', () => !workers().some((pid) => before.includes(pid)), 90);
    };

    /** Clients of a request in nginx's log, which it writes after the response has been sent. */
    const loggedAddresses = (target: string) =>
      until('nginx has logged the request', () => {
        const lines = readFileSync(log, 'utf8').split('\n');
        const found = lines.filter((line) => line.includes(` ${target} `));
        return found.length > 0 && found.map((line) => line.split(' ')[0]);
      });

    beforeAll(async () => {
      if (typeof programs === 'string') throw new Error(programs);
      port = await findFreePort();
      const pool = [
        ...['[global]', 'daemonize = no', 'error_log = /proc/self/fd/2', '[status]', `listen = ${dir}/status.sock`],
        ...(process.getuid?.() === 0 ? ['user = root', 'group = root'] : []),
        ...['pm = static', 'pm.max_children = 1', 'pm.status_path = /fpm-status', ''],
      ];
      writeFileSync(join(dir, 'status.conf'), pool.join('\n'));
      const asRoot = process.getuid?.() === 0 ? ['--allow-to-run-as-root'] : [];
      const fpm = await startService({
        ...{ name: 'PHP-FPM', command: programs.phpFpm },
        args: ['--nodaemonize', ...asRoot, '--fpm-config', join(dir, 'status.conf')],
        pidFile: join(dir, 'status.json'),
        logFile: join(dir, 'status.log'),
        ready: async () => existsSync(join(dir, 'status.sock')),
        readySeconds: 60,
      });
      started.push(fpm);
      configure('nginx-wordpress.conf', false);
      nginx = await run('nginx', port, programs.nginx, ['-c', file, '-p', dir, '-e', 'stderr']);
      await attachTo(port);
    });

    it('sees guard as every client without the lines of its example, and status reports that, with every open page', async () => {
      const before = await status();
      expect(before.site.visitors).toBe('hidden');
      expect(before.site.openPages.map(({ name, path }) => `${path} ${name}`)).toEqual([
        '/nginx_status the state of nginx',
        '/fpm-status the state of PHP-FPM',
      ]);
      expect(before.warnings).toContain('set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For;');
      expect((await get('203.0.113.1', '/nginx_status'))[1]).toContain('Active connections');
      expect((await get('203.0.113.1', '/fpm-status'))[1]).toContain('process manager');
      // One limit for all.
      await get('203.0.113.2', '/wp-login.php');
      expect((await get('203.0.113.3', '/wp-login.php'))[0]).toBe(503);
      await get('203.0.113.4', '/?seen=hidden');
      expect(await loggedAddresses('/?seen=hidden')).toEqual(['127.0.0.1']);
    });

    it.each(['nginx-wordpress.conf', 'nginx-wordpress-cache.conf'])(
      'with its example, counts, logs and refuses each visitor by its own address: %s',
      async (name) => {
        await reconfigure(name, true);
        const number = name.includes('cache') ? 1 : 2;
        expect(await status()).toMatchObject({
          site: { visitors: 'seen', openPages: [] },
          warnings: expect.not.stringContaining('web server behind'),
        });
        for (const page of ['/nginx_status', '/fpm-status']) {
          expect((await get('203.0.113.5', page))[0]).toBe(403);
          // A forged address of the machine is ignored.
          expect((await get('127.0.0.1, 203.0.113.5', page))[0]).toBe(403);
          expect((await get('203.0.113.5', page, { 'x-real-ip': '127.0.0.1', 'client-ip': '127.0.0.1' }))[0]).toBe(403);
        }
        // A request of the machine itself, as of a monitoring agent.
        expect((await sendUpstream({ ...site, upstreamPort: port }, { target: '/nginx_status' })).status).toBe(200);
        const [first, second, third] = [`198.51.100.${number}0`, `198.51.100.${number}1`, `2001:db8:${number}::1`];
        for (const visitor of [first, second, third]) {
          expect([visitor, (await get(visitor, '/wp-login.php'))[0]]).toEqual([visitor, 200]);
          expect([visitor, (await get(visitor, '/wp-login.php'))[0]]).toEqual([visitor, 503]);
        }
        await get(third, `/?seen=${number}`);
        expect(await loggedAddresses(`/?seen=${number}`)).toEqual([third]);
      },
    );

    it('lets no spelling of localhost reach a server block for localhost', async () => {
      const direct = await sendUpstream(
        { ...site, upstreamPort: port },
        { target: '/', headers: { host: 'localhost' } },
      );
      expect(direct.body).toContain('Active connections');
      const names = ['localhost', 'LOCALHOST', 'localhost.', 'localhost:80', 'a.localhost', 'localhost.localdomain'];
      const numbers = ['127.0.0.2', '127.1.2.3', '0x7f.2', '2130706434', '0.0.0.0', '0', '[::1]', '[::ffff:127.0.0.2]'];
      for (const host of [...names, ...numbers]) {
        const [code, body] = await get('203.0.113.5', '/', { host });
        expect([host, code, body.includes('Active connections')]).toEqual([host, 404, false]);
        const straight = await sendRaw(site.port, toBytes(site, { target: '/', headers: { host } }), {
          from: ELSEWHERE,
        });
        expect([host, straight.status]).toEqual([host, 404]);
      }
      // The site's own name, a loopback address here, still works.
      expect((await get('203.0.113.5', '/'))[0]).toBe(200);
    });

    it('lets no client reach another server block by its name, and serves the domains of the site', async () => {
      const others = [
        'status.internal',
        'STATUS.internal.',
        'status.internal:8080',
        'pma.site.example',
        'elsewhere.example',
      ];
      for (const host of others) {
        const direct = await sendUpstream({ ...site, upstreamPort: port }, { target: '/', headers: { host } });
        expect([host, /Active connections/.test(direct.body) || direct.status === 301]).toEqual([host, true]);
        for (const method of ['GET', 'POST', 'HEAD']) {
          const { status: code, body } = await visitFrom(site, '203.0.113.5', '/', { method, headers: { host } });
          expect([host, method, code, body.includes('Active connections')]).toEqual([host, method, 404, false]);
        }
        const straight = await sendRaw(site.port, toBytes(site, { target: '/', headers: { host } }), {
          from: ELSEWHERE,
        });
        expect([host, straight.status]).toEqual([host, 404]);
      }
      // The server block of the example accepts all other names, as for domains mapped to the site.
      const file = '/wp-includes/css/buttons.min.css';
      for (const host of ['mapped.example', 'de.example:8443', '[2001:db8::80]', '198.51.100.80']) {
        expect([host, (await get('203.0.113.6', file, { host }))[0]]).toEqual([host, 200]);
      }
      expect((await get('203.0.113.6', file, { host: 'old.example' }))[0]).toBe(301);
    });
  });

  describe.skipIf(!hasApache)('Apache', () => {
    let port: number;
    let apache: Service;
    const file = join(dir, 'apache.conf');

    const configure = (isSet: boolean) => {
      const pages = `<Location /server-status>\n  SetHandler server-status\n  Require local\n</Location>
<Location /server-info>\n  SetHandler server-info\n  Require local\n</Location>\n`;
      let server = example('apache-wordpress.conf', {
        '127.0.0.1:8081': `127.0.0.1:${port}`,
        '/srv/www/example.com': site.wordpressDir,
        '/run/php/php-fpm.sock': phpSocket(site),
        '</VirtualHost>': `${pages}CustomLog ${dir}/apache-access.log "%h %a %U"\n</VirtualHost>`,
      });
      if (!isSet) server = server.replace(ADDRESS_LINES.apache, '');
      const common = ['authz_core', 'authz_host', 'dir', 'mime', 'rewrite', 'env', 'setenvif'];
      const modules = [...common, 'mpm_event', 'proxy', 'proxy_fcgi', 'remoteip', 'status', 'info'];
      const lines = modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`);
      const asUser = process.getuid?.() === 0 ? ['User www-data', 'Group www-data'] : [];
      const paths = [
        `ServerRoot ${dir}`,
        `DefaultRuntimeDir ${dir}`,
        `PidFile ${dir}/apache.pid`,
        `ErrorLog ${dir}/errors`,
      ];
      const head = [...lines, ...paths, ...asUser, 'ServerName localhost', 'TypesConfig /etc/mime.types'];
      writeFileSync(file, [...head, server].join('\n'));
    };

    const start = async () => {
      apache = await run('Apache', port, 'apache2', ['-DFOREGROUND', '-f', file]);
    };

    beforeAll(async () => {
      port = await findFreePort();
      // Apache never serves as root, so its user must have access to WordPress and PHP.
      for (const folder of [dirname(site.dir), site.dir, join(site.dir, 'run'), site.wordpressDir, dir]) {
        chmodSync(folder, 0o755);
      }
      chmodSync(phpSocket(site), 0o666);
      const htaccess = `RewriteEngine On
RewriteRule ^server-(?:status|info)$ - [L]
RewriteRule ^index\\.php$ - [L]
RewriteCond %{REQUEST_FILENAME} !-f
RewriteCond %{REQUEST_FILENAME} !-d
RewriteRule . /index.php [L]
`;
      writeFileSync(join(site.wordpressDir, '.htaccess'), htaccess);
      configure(false);
      await start();
      await attachTo(port);
    });

    it('sees guard as every client without the lines of its example, and status reports that, with every open page', async () => {
      const before = await status();
      expect(before.site.visitors).toBe('hidden');
      expect(before.site.openPages.map(({ name, path }) => `${path} ${name}`)).toEqual([
        '/server-status the state of Apache',
        '/server-info the settings of Apache',
      ]);
      expect(before.warnings).toContain('RemoteIPHeader X-Forwarded-For');
      expect((await get('203.0.113.1', '/server-status'))[1]).toContain('Apache Server Status');
    });

    it('with its example, logs and refuses each visitor by its own address', async () => {
      started.splice(started.indexOf(apache), 1);
      await apache.stop();
      configure(true);
      await start();
      expect(await status()).toMatchObject({
        site: { visitors: 'seen', openPages: [] },
        warnings: expect.not.stringContaining('web server behind'),
      });
      for (const visitor of ['203.0.113.5', '2001:db8::5', '192.168.7.7', '127.0.0.1, 203.0.113.5']) {
        expect([visitor, (await get(visitor, '/server-status'))[0]]).toEqual([visitor, 403]);
      }
      expect((await sendUpstream({ ...site, upstreamPort: port }, { target: '/server-status' })).status).toBe(200);
      await get('192.168.7.8', '/seen-by-apache');
      await get('2001:db8::8', '/seen-by-apache');
      await until('Apache has written it', () => readFileSync(join(dir, 'apache-access.log'), 'utf8').includes(':8 '));
      const lines = readFileSync(join(dir, 'apache-access.log'), 'utf8').split('\n');
      const seen = lines.filter((line) => line.endsWith('/index.php') || line.endsWith('/seen-by-apache'));
      expect(seen.slice(-2).map((line) => line.split(' ').slice(0, 2))).toEqual([
        ['192.168.7.8', '192.168.7.8'],
        ['2001:db8::8', '2001:db8::8'],
      ]);
    });
  });
});
