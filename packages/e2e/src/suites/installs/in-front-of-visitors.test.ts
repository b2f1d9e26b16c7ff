import { execFile, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { answersHttp, findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { type Service, startService } from '@security-optimizer/sandbox/lib/service';
import {
  findProductionStackProblem,
  type ProductionStack,
  startProductionStack,
} from '@security-optimizer/sandbox/stacks/production';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { until } from '../../stacks/until.js';
import { frontConfig, type GuideCommand, projectDir, readGuide, replaceAll, serverBefore } from './helpers.js';
import { type LiveVisitors, type SiteEndpoint, startVisitors, visit } from './live-visitors.js';

/** The guides, followed exactly in front of a site on nginx with TLS, PHP-FPM and MariaDB that has visitors. */

const run = promisify(execFile);
const HOST = 'example.com';
/** How long visitors continue after each step, milliseconds, so that their next requests show a failure. */
const BEHIND_EACH_STEP_MS = 1200;
/** A guide has many steps, and one that timed out would still run beside the next test. Milliseconds. */
const GUIDE_MS = 600_000;

/** Why the guides can't be followed on this machine; null when they can. */
function problem(): string | null {
  if (!inject('stacks').some(({ kind }) => kind === 'nginx-defaults')) return 'not on this stack';
  const missing = ['openssl', 'curl'].find((name) => spawnSync(name, ['--version']).error !== undefined);
  if (missing !== undefined) return `${missing} is not installed`;
  if (!existsSync('/etc/nginx/fastcgi.conf')) return 'nginx has no /etc/nginx/fastcgi.conf';
  return findProductionStackProblem();
}

const reason = problem();

describe.skipIf(reason !== null)(
  `the guides, with visitors all the while${reason === null ? '' : ` not run: ${reason}`}`,
  { timeout: GUIDE_MS },
  () => {
    let dir: string;
    let stack: ProductionStack;
    let nginx: Service;
    let guard: Service | null = null;
    let visitors: LiveVisitors;
    let endpoint: SiteEndpoint;
    let direct: string;
    /** Texts of the guides, and their replacements in this test. */
    let table: Readonly<Record<string, string>>;
    /** Commands that the set-up has already run, or that need an init system. */
    let stands: Readonly<Record<string, () => Promise<unknown>>>;
    const printed = new Map<string, string>();

    beforeAll(async () => {
      dir = mkdtempSync(join(tmpdir(), 'so-g-'));
      stack = await startProductionStack({ dir, siteUrl: `https://${HOST}` });
      // This test has its own nginx.
      await stack.services.nginx.stop();
      const [tls, behind, guardPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
      endpoint = { host: HOST, port: tls };
      direct = `http://127.0.0.1:${behind}`;
      const etc = join(dir, 'etc');
      const guardDir = join(dir, 'guard');
      const cli = createRequire(import.meta.url).resolve('@security-optimizer/guard/program/security-optimizer');
      const nginxFile = join(etc, 'nginx.conf');
      table = {
        '/srv/www/example.com': stack.wordpressDir,
        '/var/lib/security-optimizer': guardDir,
        '127.0.0.1:8080': `127.0.0.1:${guardPort}`,
        '127.0.0.1:8081': `127.0.0.1:${behind}`,
        'listen 443 ssl': `listen 127.0.0.1:${tls} ssl`,
        '/etc/nginx/': `${etc}/`,
        '/etc/systemd/system/': `${etc}/`,
        '/etc/ssl/example.com.crt': join(dir, 'site.crt'),
        '/etc/ssl/private/example.com.key': join(dir, 'site.key'),
        'unix:/run/php/php-fpm.sock': `unix:${dir}/run/php-fpm.sock`,
        'nginx -t': `nginx -q -t -c ${nginxFile} -p ${dir} -e stderr`,
        'nginx -s reload': `nginx -s reload -c ${nginxFile} -p ${dir} -e stderr`,
        'npx security-optimizer': `${process.execPath} ${cli}`,
        'ExecStart=/usr/bin/node': process.execPath,
        // One user owns all files here.
        ' --user security-optimizer': '',
      };
      const unit = () => readFileSync(join(etc, 'security-optimizer.service'), 'utf8');
      const done = async () => undefined;
      stands = {
        'npm ci && npm run build': done,
        'useradd --system --home-dir /var/lib/security-optimizer --shell /usr/sbin/nologin security-optimizer': done,
        'systemctl enable --now security-optimizer': async () => {
          const line = /^ExecStart=.*$/m.exec(unit())?.[0] ?? '';
          const [command = '', ...args] = replaceAll(line, table).split(' ');
          guard = await startService({
            ...{ name: 'guard', command, args, cwd: projectDir },
            pidFile: join(dir, 'run/guard.json'),
            logFile: join(dir, 'logs/guard.log'),
            ready: () => answersHttp(`http://127.0.0.1:${guardPort}/%zz`),
            readySeconds: 90,
            stopSeconds: 35,
          });
        },
        'systemctl disable --now security-optimizer': async () => guard?.stop(),
      };
      mkdirSync(join(etc, 'conf.d'), { recursive: true });
      for (const name of ['fastcgi.conf', 'mime.types']) copyFileSync(`/etc/nginx/${name}`, join(etc, name));
      writeFileSync(nginxFile, frontConfig(dir));
      writeFileSync(join(etc, 'conf.d/example.com.conf'), replaceAll(serverBefore(HOST), table));
      writeFileSync(join(stack.wordpressDir, 'who.php'), WHO);
      writeFileSync(join(stack.wordpressDir, 'slow.php'), SLOW);
      const subject = [
        '-subj',
        `/CN=${HOST}`,
        '-days',
        '2',
        '-keyout',
        join(dir, 'site.key'),
        '-out',
        join(dir, 'site.crt'),
      ];
      await run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject]);
      nginx = await startService({
        name: 'nginx',
        command: 'nginx',
        args: ['-c', nginxFile, '-p', dir, '-e', 'stderr'],
        pidFile: join(dir, 'run/front.json'),
        logFile: join(dir, 'logs/front.log'),
        ready: () =>
          visit(endpoint, { target: '/' }).then(
            ({ status }) => status === 200,
            () => false,
          ),
        readySeconds: 90,
      });
      visitors = startVisitors(endpoint);
    });

    afterAll(async () => {
      await visitors?.stop();
      await guard?.stop();
      await nginx?.stop();
      await stack?.stop();
      rmSync(dir, { recursive: true, force: true });
    });

    /** Runs the commands of a guide in order, and replaces the names in the examples that it copies. */
    async function follow(commands: readonly GuideCommand[], until_: (step: string) => Promise<void>): Promise<void> {
      for (const { step, command } of commands) {
        visitors.during(`${step}: ${command}`);
        const stand = stands[command];
        const workers = nginxWorkers();
        if (stand !== undefined) await stand();
        else printed.set(step, await shell(command));
        // A reload is complete when the old workers have ended. Until then they may close a connection.
        if (command.includes('nginx -s reload')) {
          await until(
            'the workers from before have ended',
            async () => !workers.some((pid) => nginxWorkers().includes(pid)),
          );
        }
        await pause(BEHIND_EACH_STEP_MS);
        await until_(command);
        if (visitors.failures.length > 0) throw new Error([...visitors.failures, ...logs()].join('\n'));
      }
    }

    const nginxWorkers = () =>
      readFileSync(`/proc/${nginx.pid}/task/${nginx.pid}/children`, 'utf8').trim().split(/\s+/);

    /** Logs of the servers, for the message of a failure. */
    const logs = () =>
      ['front', 'php-fpm', 'guard']
        .map((name) => join(dir, `logs/${name}.log`))
        // Guard has no log before it starts.
        .filter((file) => existsSync(file))
        .map((file) => readFileSync(file, 'utf8').slice(-3000));

    async function shell(command: string): Promise<string> {
      const text = replaceAll(command, table);
      try {
        const { stdout } = await run('sh', ['-e', '-c', text], { cwd: projectDir, timeout: 60_000 });
        const copied = /^cp (docs\/operator\/examples\/\S+) (\S+)$/.exec(text);
        if (copied !== null) adapt(copied[1] as string, copied[2] as string);
        return stdout;
      } catch (error) {
        const { stdout, stderr } = error as { stdout?: string; stderr?: string };
        throw new Error(`${command}\n${stdout}${stderr}`, { cause: error });
      }
    }

    /** "With your site's folder, name, PHP and certificate." */
    function adapt(from: string, to: string): void {
      const file = existsSync(to) && !to.endsWith('/') ? to : join(to, from.split('/').at(-1) as string);
      if (file.endsWith('.conf')) writeFileSync(file, replaceAll(readFileSync(file, 'utf8'), table));
    }

    const who = async (from: string) =>
      JSON.parse((await visit(endpoint, { target: '/who.php', from })).body) as object;
    const xmlRpc = async () => (await visit(endpoint, { method: 'POST', target: '//xmlrpc.php', body: '<a/>' })).status;
    const isPastGuard = async () => {
      const response = await fetch(`${direct}/who.php`);
      return [response.status, (await response.text()).includes('This address is not available here.')];
    };

    it('"Put it in front of a real site" fails no request of a visitor, and guard decides in the end', async () => {
      expect(await who('127.0.0.77')).toEqual({ address: '127.0.0.77', https: true });
      expect(await xmlRpc()).not.toBe(403);
      const guide = readGuide('README.md', 'Put it in front of a real site');
      await follow(guide, async (command) => {
        if (command.includes('--require-guard')) expect(await isPastGuard()).toEqual([403, true]);
        else if (command.includes('attach')) expect(await isPastGuard()).toEqual([200, false]);
        // "When visitors have come through guard for half a minute, `status` says so."
        if (!command.includes('status') || !existsSync(join(dir, 'etc/example.com.before-guard'))) return;
        await until(
          'visitors have come through guard',
          async () => (await shell(command)).includes('They come through guard now'),
          90,
        );
      });
      expect([...printed.keys()].map((step) => step.at(-1))).toEqual(['2', '3', '4', '5', '6', '7']);
      expect(printed.get('README.md, step 3')).toContain('Direct requests: allowed');
      expect(printed.get('README.md, step 7')).toContain('Direct requests: refused');
      expect(await who('127.0.0.77')).toEqual({ address: '127.0.0.77', https: true });
      expect(await xmlRpc()).toBe(403);
      // Guard refuses them by itself, without WordPress, and sees each visitor. A forged address is ignored.
      expect((await visit(endpoint, { target: '/wp-content/uploads/x.php' })).status).toBe(403);
      const status = await shell('npx security-optimizer status --data-dir /var/lib/security-optimizer');
      expect(status).toContain('All is well.');
      expect(status).not.toContain('Do not forget');
    });

    it('"Taking guard away again" fails no request of a visitor either, and leaves WordPress as it was', async () => {
      const guide = readGuide('docs/operator/operations.md', 'Taking guard away again');
      const last = guide.findIndex(({ command }) => command.includes('detach'));
      await follow(guide.slice(0, last), async (command) => {
        if (command.includes('--allow-direct')) expect(await isPastGuard()).toEqual([200, false]);
      });
      // These requests begin before the connector is removed, and load one of its classes afterwards.
      const slow: Promise<Response>[] = [];
      const loader = join(stack.wordpressDir, 'wp-content/mu-plugins/security-optimizer.php');
      const visits = setInterval(() => existsSync(loader) && slow.push(fetch(`${direct}/slow.php`)), 400);
      await follow(guide.slice(last, last + 1), async () => undefined).finally(() => clearInterval(visits));
      const texts = await Promise.all(slow.map(async (response) => (await response).text()));
      expect(new Set(texts)).toEqual(new Set(['complete']));
      await follow(guide.slice(last + 1), async () => undefined);
      expect(await who('127.0.0.77')).toEqual({ address: '127.0.0.77', https: true });
      expect(await xmlRpc()).not.toBe(403);
      expect(existsSync(join(stack.wordpressDir, 'wp-content/mu-plugins/security-optimizer.php'))).toBe(false);
      expect(readdirSync(join(dir, 'etc/conf.d'))).toEqual(['example.com.conf']);
      await expect(fetch(direct)).rejects.toThrow();
    });

    it('had visitors all the time', () => {
      expect(visitors.failures).toEqual([]);
      // There are four reloads. nginx itself may close a few connections, not more.
      expect(visitors.cutByReload.length).toBeLessThanOrEqual(4);
      expect(Object.keys(visitors.answers)).toHaveLength(8);
      expect(Math.min(...Object.values(visitors.answers))).toBeGreaterThan(20);
    });
  },
);

/** Shows the client address that WordPress sees. */
const WHO = `<?php
require __DIR__ . '/wp-load.php';
echo json_encode( array( 'address' => $_SERVER['REMOTE_ADDR'], 'https' => is_ssl() ) );
`;

/** Loads a class of the connector half a second after WordPress. */
const SLOW = `<?php
require __DIR__ . '/wp-load.php';
$loaded = class_exists( 'Security_Optimizer_Hooks', false );
usleep( 500000 );
echo ! $loaded || class_exists( 'Security_Optimizer_Salts' ) ? 'complete' : 'incomplete';
`;
