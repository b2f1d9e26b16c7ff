import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { answersHttp, findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { type Service, startService } from '@security-optimizer/sandbox/lib/service';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { sendRequest } from '../../http/request.js';
import { securityOptimizer } from '../../stacks/guard-process.js';
import type { Stack } from '../../stacks/stack.js';

/** The stack whose WordPress they serve. */
const stack = inject('stacks').find((one): one is Stack => one.kind === 'nginx-defaults' && !('problem' in one));

interface WebServer {
  readonly name: string;
  readonly program: string;
  /** Its configuration: it answers `/kept/` itself, and keeps idle connections for a second. */
  readonly configure: (dir: string, port: number, upstreamPort: number) => string;
  readonly args: (file: string) => string[];
  /** Signal that reloads its configuration and closes idle connections. */
  readonly reload: NodeJS.Signals;
}

const asRoot = process.getuid?.() === 0;

const SERVERS: readonly WebServer[] = [
  {
    name: 'nginx with keepalive_timeout 1s',
    program: 'nginx',
    configure: (dir, port, upstreamPort) => `daemon off; pid ${dir}/nginx.pid; error_log ${dir}/errors;
      ${asRoot ? 'user root;' : ''} worker_processes 2; events {} http { access_log off; keepalive_timeout 1s;
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${dir}/${kind};`).join(' ')}
      server { listen 127.0.0.1:${port}; location /kept/ { return 200 hello; }
      location / { proxy_pass http://127.0.0.1:${upstreamPort}; proxy_set_header Host $http_host; } } }`,
    args: (file) => ['-c', file],
    reload: 'SIGHUP',
  },
  {
    name: 'Apache with KeepAliveTimeout 1',
    program: 'apache2',
    configure: (dir, port, upstreamPort) =>
      [
        ...['authz_core', 'mpm_event', 'alias', 'proxy', 'proxy_http'].map(
          (name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`,
        ),
        ...[`ServerRoot ${dir}`, `DefaultRuntimeDir ${dir}`, `PidFile ${dir}/pid`, `ErrorLog ${dir}/errors`],
        ...(asRoot ? ['User www-data', 'Group www-data'] : []),
        ...['ServerName localhost', `Listen 127.0.0.1:${port}`, 'KeepAlive On', 'KeepAliveTimeout 1'],
        ...['RedirectMatch 410 ^/kept/', 'ProxyPass /kept/ !', 'ProxyPreserveHost On'],
        `ProxyPass / http://127.0.0.1:${upstreamPort}/`,
      ].join('\n'),
    args: (file) => ['-DFOREGROUND', '-f', file],
    reload: 'SIGUSR1',
  },
];

for (const { name, program, configure, args, reload } of SERVERS) {
  const isInstalled = spawnSync(program, ['-V']).error === undefined;
  describe.skipIf(stack === undefined || !isInstalled)(`connections that are kept to ${name}`, () => {
    const site = stack as Stack;
    const dir = join(site?.dir ?? '', 'kept-connections');
    let service: Service;

    const leadTo = async (port: number) => {
      const upstream = ['--upstream', `http://127.0.0.1:${port}`];
      const attached = await securityOptimizer(
        'attach',
        ...['--wordpress', site.wordpressDir, '--data-dir', site.guardDir, ...upstream],
      );
      expect(attached).toMatchObject({ code: 0, stderr: '' });
    };
    /** Statuses of so many GETs at once. */
    const visits = async (count: number) => {
      const pending = Array.from({ length: count }, (_, i) => sendRequest(site, { target: `/kept/${i}` }));
      return (await Promise.all(pending)).map(({ status }) => status);
    };
    const failures = (statuses: readonly number[]) => statuses.filter((status) => status !== 200 && status !== 410);

    beforeAll(async () => {
      rmSync(dir, { recursive: true, force: true });
      mkdirSync(dir);
      chmodSync(dir, 0o755);
      const port = await findFreePort();
      const file = join(dir, 'server.conf');
      writeFileSync(file, configure(dir, port, site.upstreamPort));
      service = await startService({
        ...{ name, command: program, args: args(file), readySeconds: 60 },
        ready: () => answersHttp(`http://127.0.0.1:${port}/kept/`),
        pidFile: join(dir, 'service.json'),
        logFile: join(dir, 'log'),
      });
      await leadTo(port);
    });
    afterAll(async () => {
      await leadTo(site.upstreamPort);
      await service?.stop();
    });

    it('fail no request when they close while the next request arrives', async () => {
      const statuses: number[] = [];
      for (let round = 0; round < 12; round++) {
        statuses.push(...(await visits(30)));
        await pause(970 + round * 5);
      }
      expect(statuses).toHaveLength(360);
      expect(failures(statuses)).toEqual([]);
    });

    it('fail no request while the web server reloads its configuration', async () => {
      const statuses: number[] = [];
      for (let round = 0; round < 8; round++) {
        const pending = Array.from({ length: 6 }, async (_, i) => {
          await pause(i * 40);
          return visits(10);
        });
        process.kill(service.pid, reload);
        statuses.push(...(await Promise.all(pending)).flat());
        await pause(300);
      }
      expect(statuses).toHaveLength(480);
      expect(failures(statuses)).toEqual([]);
    });
  });
}
