import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answersHttp, findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { type Service, startService } from '@security-optimizer/sandbox/lib/service';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { shortAttacks } from '../../attacks/lists/index.js';
import { runAttacks } from '../../attacks/run.js';
import { AttackedSite, type Transport } from '../../attacks/site.js';
import { sendRaw } from '../../http/raw.js';
import { toBytes } from '../../http/request.js';
import { securityOptimizer, stopGuard } from '../../stacks/guard-process.js';
import { removeLayouts } from '../../stacks/layouts.js';
import type { Stack } from '../../stacks/stack.js';
import { type Certificate, makeCertificate, missingPrograms, nginxInFront } from './fronts.js';
import { projectDir, replaceAll } from './helpers.js';
import { asProxy, configure, FORGED, type ProbedSite, readWho, startProbedSite } from './probed-site.js';
import { HOST, MOD_PHP, type SiteBehind, startApache, startNginx } from './site-behind.js';

/** One WordPress on every common server behind guard, each by its example: whom that server and WordPress see. */

const MINUTES = 60_000;
const stack = inject('stacks').find((one): one is Stack => one.kind === 'nginx-defaults' && !('problem' in one));

/** Starts servers at the site's upstream port; the last one is the one that guard connects to. */
type Start = (site: SiteBehind, log: string) => Promise<readonly Service[]>;

const nginx =
  (example: 'nginx-wordpress.conf' | 'nginx-wordpress-cache.conf'): Start =>
  async (site, log) => [await startNginx(site, { example, lines: `access_log ${log};` })];

const apache =
  (php: 'fpm' | 'mod_php'): Start =>
  async (site, log) => {
    // "Leave this out where mod_php runs PHP".
    const byModPhp = (text: string) =>
      text
        .replace(/ {2}# PHP-FPM\.[\s\S]*<\/FilesMatch>\n/, '')
        .replace(
          / {2}ProxyTimeout.*\n/,
          '  <FilesMatch "\\.php$">\n    SetHandler application/x-httpd-php\n  </FilesMatch>\n',
        );
    const change = php === 'mod_php' ? { change: byModPhp } : {};
    const lines = `LogFormat "%a %h %r x" seen\nCustomLog ${log} seen`;
    return [await startApache(site, { php, lines, ...change })];
  };

/** Varnish, with nginx behind it, which believes both guard and Varnish. */
const varnish: Start = async (site, log) => {
  const upstreamPort = await findFreePort();
  const text = readFileSync(join(projectDir, 'docs/operator/examples/varnish.vcl'), 'utf8');
  // "nginx:  set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For; real_ip_recursive on;"
  const [more] = /real_ip_recursive on;/.exec(text) ?? [];
  if (more === undefined) throw new Error('The example does not say how nginx sees the visitor.');
  const lines = `access_log ${log}; ${more}`;
  const web = await startNginx({ ...site, upstreamPort }, { lines });
  const file = join(site.dir, 'site.vcl');
  writeFileSync(file, replaceAll(text, { '"8082"': `"${upstreamPort}"` }));
  const listen = ['-F', '-n', join(site.dir, 'varnish'), '-a', `127.0.0.1:${site.upstreamPort}`, '-f', file];
  const parameters = /varnishd (-p .*)$/m.exec(text)?.[1]?.split(' ') ?? [];
  const cache = await startService({
    // The jail would change to a user who can't read the folder of the test.
    ...{ name: 'Varnish', command: 'varnishd', args: ['-j', 'none', ...listen, '-s', 'malloc,32m', ...parameters] },
    pidFile: join(site.dir, 'run/varnish.json'),
    logFile: join(site.dir, 'logs/varnish.log'),
    ready: () => answersHttp(`http://127.0.0.1:${site.upstreamPort}/wp-includes/css/buttons.min.css`),
    readySeconds: 90,
  });
  return [web, cache];
};

interface Plan {
  readonly name: string;
  readonly programs: readonly string[];
  readonly start: Start;
  readonly needs?: string;
}

const SERVERS: readonly Plan[] = [
  { name: 'nginx and PHP-FPM', programs: ['nginx'], start: nginx('nginx-wordpress.conf') },
  { name: 'nginx with its page cache', programs: ['nginx'], start: nginx('nginx-wordpress-cache.conf') },
  { name: 'Apache with PHP-FPM', programs: ['apache2'], start: apache('fpm') },
  { name: 'Apache with mod_php', programs: ['apache2'], start: apache('mod_php'), needs: MOD_PHP },
  { name: 'Varnish and nginx', programs: ['varnishd', 'nginx'], start: varnish },
];

describe.skipIf(stack === undefined || missingPrograms('openssl').length > 0)(
  'a site on a server behind guard, by its example',
  { timeout: 5 * MINUTES },
  () => {
    const dir = join((stack as Stack | undefined)?.dir ?? '', 'behind');
    let probed: ProbedSite;
    let services: readonly Service[] = [];
    let requests = 0;

    const stopServices = async () => {
      for (const service of [...services].reverse()) await service.stop();
      services = [];
    };
    const restart = async (start: Start) => {
      await stopServices();
      services = await start(probed.site, probed.log);
    };

    beforeAll(async () => {
      probed = await startProbedSite(
        stack as Stack,
        dir,
        async (site, log) => {
          services = await nginx('nginx-wordpress.conf')(site, log);
          return services[0] as Service;
        },
        3,
      );
      await configure(probed.site, {});
    }, 5 * MINUTES);
    afterAll(async () => {
      await stopGuard(probed.site);
      await stopServices();
      removeLayouts(dir);
    });

    /** Expects that every server knows each visitor, and that a block affects that one alone. */
    async function expectVisitors(send: Transport, [visitor, other]: readonly [string, string]): Promise<void> {
      const ask = (from: string) => {
        const target = `/who.php?${++requests}`;
        return { target, response: send({ target, headers: FORGED }, from) };
      };
      for (const each of [visitor, other]) {
        const { target, response } = ask(each);
        expect(readWho(await response)).toMatchObject({
          ...{ server: each, wordpress: each, https: true, forged: [], proxy: [null, null], target },
        });
        expect(await probed.loggedClients(target)).toEqual([each]);
      }
    }

    async function expectBlock(send: Transport, [visitor, other]: readonly [string, string]): Promise<void> {
      await probed.change('/block-addresses', { address: visitor });
      const claiming = (address: string) => ({ target: '/', headers: { ...FORGED, 'x-real-ip': address } });
      expect((await send(claiming(other), visitor)).status).toBe(403);
      expect((await send(claiming(visitor), other)).status).toBe(200);
    }

    describe.each(SERVERS.map((plan, number) => ({ ...plan, number })))(
      '$name',
      ({ programs, start, needs, number }) => {
        const isMissing = missingPrograms(...programs).length > 0 || (needs !== undefined && !existsSync(needs));

        it.skipIf(isMissing)(
          'knows each visitor, whatever the visitor claims, and no other one is blocked',
          async () => {
            await restart(start);
            const send = asProxy(probed.site);
            for (const pair of [
              [`203.0.113.${10 + number}`, `203.0.113.${20 + number}`],
              [`2001:db8:${number + 1}::1`, `2001:db8:1${number}::1`],
            ] as const) {
              await expectVisitors(send, pair);
              await expectBlock(send, pair);
            }
          },
        );
      },
    );

    describe('sockets on both sides', () => {
      const [front, behind] = [join(dir, 'run/guard.sock'), join(dir, 'run/web.sock')];
      let certificate: Certificate;
      let inFront: readonly Service[] = [];
      let tls: number;

      afterAll(async () => {
        for (const service of inFront) await service.stop();
      });

      it('know each visitor, whatever the visitor claims, and let no attack succeed', async () => {
        await stopServices();
        const { site, log } = probed;
        // nginx serves the port, too, by which the test finds out that it is ready.
        const lines = `access_log ${log}; listen unix:${behind};`;
        services = [
          await startNginx(site, {
            lines,
            change: (text) => text.replace('set_real_ip_from 127.0.0.1;', 'set_real_ip_from unix:;'),
          }),
        ];
        const config = JSON.parse(readFileSync(join(site.guardDir, 'guard.json'), 'utf8')) as { sites: object[] };
        const sites = [{ ...config.sites[0], upstream: `unix:${behind}` }];
        const ready = () => Promise.resolve(existsSync(front));
        await configure(site, { listen: `unix:${front}`, trustedProxies: ['unix'], sites }, ready);
        certificate = makeCertificate(join(dir, 'certificate'));
        tls = await findFreePort();
        const place = { dir: join(dir, 'front'), certificate, tls, guard: front };
        mkdirSync(place.dir);
        inFront = (await nginxInFront()(place)).services;
        const send: Transport = (request, from = '127.0.98.1') =>
          sendRaw(tls, toBytes(site, request), { from, tls: HOST, ca: certificate.ca });
        await expectVisitors(send, ['127.0.98.2', '127.0.98.3']);
        const results = await runAttacks(await AttackedSite.meet(probed.about(send)), { list: shortAttacks });
        const faults = results.filter(({ ok }) => ok === false);
        expect(faults.map(({ attack, expected, got, twin }) => ({ attack, expected, got, twin }))).toEqual([]);
        const status = await securityOptimizer('status', '--data-dir', site.guardDir, '--json');
        expect(JSON.parse(status.stdout)).toMatchObject({
          problems: [],
          sites: [{ visitors: 'seen', connector: 'ok' }],
        });
        rmSync(front, { force: true });
      });
    });
  },
);
