import { execFile, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { answersHttp, findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { type Service, startService } from '@security-optimizer/sandbox/lib/service';
import {
  findProductionStackProblem,
  type ProductionStack,
  startProductionStack,
} from '@security-optimizer/sandbox/stacks/production';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../stacks/until.js';
import { frontConfig, type GuideCommand, readGuide, replaceAll, serverBefore } from '../suites/installs/helpers.js';
import { type LiveVisitors, startVisitors, visit } from '../suites/installs/live-visitors.js';
import { type FollowedGuide, followGuide } from './follow-guide.js';
import { makePackages } from './make-packages.js';

const run = promisify(execFile);
const HOSTS = ['example.com', 'example.org'];
const FILE = 'docs/operator/install.md';
const SECTION = 'Two sites in ten minutes';
const GUIDE_MS = 600_000;

function problem(): string | null {
  const missing = ['openssl', 'curl', 'dpkg-deb'].find((name) => spawnSync(name, ['--version']).error !== undefined);
  if (missing !== undefined) return `${missing} is not installed`;
  if (!existsSync('/etc/nginx/fastcgi.conf')) return 'nginx has no /etc/nginx/fastcgi.conf';
  return findProductionStackProblem();
}

const reason = problem();

/**
 * The guide, followed exactly in front of two sites on nginx, PHP-FPM and MariaDB that have visitors. The package is
 * unpacked, not installed, and systemd is a stub; debian-package.test.ts installs it.
 */
describe.skipIf(reason !== null)(
  `docs/operator/install.md, with visitors of two sites${reason === null ? '' : ` not followed: ${reason}`}`,
  { timeout: GUIDE_MS },
  () => {
    let dir: string;
    let port: number;
    let direct: string;
    let nginx: Service;
    let guard: Service | null = null;
    let guide: FollowedGuide;
    const stacks: ProductionStack[] = [];
    const visitors: LiveVisitors[] = [];

    beforeAll(async () => {
      dir = mkdtempSync(join(tmpdir(), 'so-i-'));
      for (const name of ['made', 'bin', 'etc/conf.d', 'run', 'tmp', 'lib']) {
        mkdirSync(join(dir, name), { recursive: true });
      }
      for (const host of HOSTS) {
        const stack = await startProductionStack({ dir: join(dir, host), siteUrl: `https://${host}` });
        // The test has one nginx for both.
        await stack.services.nginx.stop();
        stacks.push(stack);
      }
      const [tls, behind, guardPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
      port = tls;
      direct = `http://127.0.0.1:${behind}`;
      const etc = join(dir, 'etc');
      const nginxFile = join(etc, 'nginx.conf');
      const installed = join(dir, 'installed');
      const table = {
        ...Object.fromEntries(
          HOSTS.flatMap((host, at) => [
            [`/srv/www/${host}`, stacks[at]?.wordpressDir ?? ''],
            [`/etc/ssl/${host}.crt`, join(dir, 'site.crt')],
            [`/etc/ssl/private/${host}.key`, join(dir, 'site.key')],
            // This machine has neither name, and the certificate is self-signed.
            [`https://${host}/`, `--insecure --resolve ${host}:${tls}:127.0.0.1 https://${host}:${tls}/`],
          ]),
        ),
        '/var/lib/security-optimizer': join(dir, 'lib/security-optimizer'),
        '/usr/share/doc/': `${installed}/usr/share/doc/`,
        '127.0.0.1:8080': `127.0.0.1:${guardPort}`,
        '127.0.0.1:8081': `127.0.0.1:${behind}`,
        'listen 443 ssl': `listen 127.0.0.1:${tls} ssl`,
        '/etc/nginx/': `${etc}/`,
        'nginx -t': `nginx -q -t -c ${nginxFile} -p ${dir} -e stderr`,
        'nginx -s reload': `nginx -s reload -c ${nginxFile} -p ${dir} -e stderr`,
      };
      /** Replaces the names in conf.d by those of this machine: "what to write instead where it differs". */
      const adapt = () => {
        for (const name of readdirSync(join(etc, 'conf.d'))) {
          const file = join(etc, 'conf.d', name);
          const socket = join(dir, name.startsWith('example.org') ? 'example.org' : 'example.com', 'run/php-fpm.sock');
          const text = replaceAll(readFileSync(file, 'utf8'), {
            ...table,
            'unix:/run/php/php-fpm.sock': `unix:${socket}`,
          });
          writeFileSync(file, text);
        }
      };
      const program = join(installed, 'usr/lib/security-optimizer/unpacked/bin/security-optimizer');
      const install = async () => {
        const made = await makePackages(join(dir, 'made'), '--deb', '--quick');
        await run('dpkg-deb', ['--extract', made.find((file) => file.endsWith('.deb')) ?? '', installed]);
        symlinkSync(program, join(dir, 'bin/security-optimizer'));
        mkdirSync(join(dir, 'lib/security-optimizer'), { mode: 0o700 });
      };
      const start = async () => {
        guard = await startService({
          ...{ name: 'guard', command: program, readySeconds: 90, stopSeconds: 35 },
          args: ['serve', '--data-dir', join(dir, 'lib/security-optimizer')],
          pidFile: join(dir, 'run/guard.json'),
          logFile: join(dir, 'logs/guard.log'),
          ready: () => answersHttp(`http://127.0.0.1:${guardPort}/%zz`),
        });
      };
      guide = followGuide({
        ...{ dir, table, bin: join(dir, 'bin') },
        substitute(command) {
          if (command.startsWith('apt install ./security-optimizer_')) return install;
          return command === 'systemctl start security-optimizer' ? start : undefined;
        },
        async around({ step, command }, work) {
          for (const each of visitors) each.during(`${step}: ${command}`);
          adapt();
          const workers = nginxWorkers();
          await work();
          // A reload is complete when the old workers have ended. Until then they may close a connection.
          if (command.includes('nginx -s reload')) {
            await until(
              'the workers from before have ended',
              () => !workers.some((pid) => nginxWorkers().includes(pid)),
            );
          }
          expect(visitors.flatMap(({ failures }) => failures)).toEqual([]);
        },
      });
      for (const name of ['fastcgi.conf', 'mime.types']) copyFileSync(`/etc/nginx/${name}`, join(etc, name));
      writeFileSync(nginxFile, frontConfig(dir));
      for (const host of HOSTS) writeFileSync(join(etc, `conf.d/${host}.conf`), serverBefore(host));
      adapt();
      const files = ['-keyout', join(dir, 'site.key'), '-out', join(dir, 'site.crt')];
      await run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=example.com', ...files]);
      nginx = await startService({
        ...{ name: 'nginx', command: 'nginx', args: ['-c', nginxFile, '-p', dir, '-e', 'stderr'] },
        pidFile: join(dir, 'run/front.json'),
        logFile: join(dir, 'logs/front.log'),
        ready: async () => (await Promise.all(HOSTS.map(getPageStatus))).every((status) => status === 200),
        readySeconds: 90,
      });
      visitors.push(...HOSTS.map((host) => startVisitors({ host, port })));
    });

    afterAll(async () => {
      for (const each of visitors) await each.stop();
      await guard?.stop();
      await nginx?.stop();
      for (const stack of stacks) await stack.stop();
      rmSync(dir, { recursive: true, force: true });
    });

    const nginxWorkers = () =>
      readFileSync(`/proc/${nginx.pid}/task/${nginx.pid}/children`, 'utf8').trim().split(/\s+/);
    const getPageStatus = (host: string) =>
      visit({ host, port }, { target: '/' }).then(
        ({ status }) => status,
        () => 0,
      );
    const pastGuard = (host: string) =>
      run('curl', ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-H', `Host: ${host}`, `${direct}/wp-login.php`]);
    const isStep =
      (...numbers: readonly number[]) =>
      (each: GuideCommand) =>
        numbers.some((number) => each.step.endsWith(`step ${number}`));

    it('puts guard in front of both sites, and no visitor notices', async () => {
      const commands = readGuide(FILE, SECTION);
      await guide.follow(commands.filter(isStep(1, 2, 3, 4, 5)));
      const [status] = commands.filter(isStep(6));
      await until(
        'visitors of both sites have come through guard for half a minute',
        async () => {
          const text = await guide.shell(status?.command ?? '');
          const lines = text.split('\n').filter((line) => line.includes('They come through guard now'));
          return HOSTS.every((host) => lines.some((line) => line.includes(host.replace('.', '-'))));
        },
        120,
      );
      await guide.follow(commands.filter(isStep(7, 8)));
      const closed = [...guide.printed].filter(([command]) => command.includes('--require-guard'));
      expect(closed.map(([, text]) => text.includes('Direct requests: refused'))).toEqual([true, true]);
      const tries = [...guide.printed].filter(([command]) => command.includes('xmlrpc.php'));
      expect(tries.map(([, text]) => text)).toEqual(['403\n', '403\n']);
      expect(guide.printed.get(status?.command ?? '')).toContain('All is well.');
    });

    it('leaves two sites that answer, each with its own settings, and no way around guard', async () => {
      expect(await Promise.all(HOSTS.map(getPageStatus))).toEqual([200, 200]);
      expect(await Promise.all(HOSTS.map(async (host) => (await pastGuard(host)).stdout))).toEqual(['403', '403']);
      const { sites } = JSON.parse(readFileSync(join(dir, 'lib/security-optimizer/guard.json'), 'utf8'));
      expect(sites.map(({ hosts }: { hosts: string[] }) => hosts)).toEqual(HOSTS.map((host) => [host]));
    });

    it('was followed while visitors used both sites all the time', () => {
      expect(visitors.flatMap(({ failures }) => failures)).toEqual([]);
      for (const { answers } of visitors) expect(Math.min(...Object.values(answers))).toBeGreaterThan(20);
    });
  },
);
