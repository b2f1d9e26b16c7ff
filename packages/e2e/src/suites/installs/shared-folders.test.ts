import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '@security-optimizer/sandbox/lib/ports';
import type { Service } from '@security-optimizer/sandbox/lib/service';
import { createPhpRunner, startNativePhp } from '@security-optimizer/sandbox/php/native';
import { formatConfigFile } from '@security-optimizer/sandbox/wordpress/config-file';
import { installWordPress } from '@security-optimizer/sandbox/wordpress/install';
import { layOutWordPress } from '@security-optimizer/sandbox/wordpress/lay-out';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { sendRequest, sendUpstream } from '../../http/request.js';
import { securityOptimizer, startGuard, stopGuard } from '../../stacks/guard-process.js';
import { writeConfiguration } from '../../stacks/odd-install.js';
import type { Stack } from '../../stacks/stack.js';

const NAMES = ['one', 'two'] as const;
type Name = (typeof NAMES)[number];

/** The code that two sites share. */
interface Shared {
  /** One WordPress, whose wp-config.php loads that of the site in the request. */
  readonly core: boolean;
  /** One folder of must-use plugins. */
  readonly plugins: boolean;
}

const LAYOUTS: readonly (readonly [string, Shared])[] = [
  ['one folder of must-use plugins', { core: false, plugins: true }],
  ['one core, with contents of their own', { core: true, plugins: false }],
  ['one core and one folder of must-use plugins, with a key that each of them names', { core: true, plugins: true }],
];

/** Each one starts its own PHP with SQLite. */
const canRun = inject('stacks').some((stack) => stack.kind === 'embedded' && !('problem' in stack));

describe.skipIf(!canRun).each(LAYOUTS)('Two sites with %s', (_name, shared) => {
  let dir: string;
  let sites: Record<Name, Stack>;
  const services: Service[] = [];
  const isNamed = shared.core && shared.plugins;

  const toHost = (name: Name) => `${name}.example`;
  const toPluginsDir = (name: Name) =>
    shared.plugins ? join(dir, 'mu-plugins') : join(dir, `${name}-content/mu-plugins`);
  const toWordPressDir = (name: Name) => join(dir, shared.core ? 'core' : `${name}-core`);

  /** Creates both sites, without the connector. */
  async function layOut(): Promise<void> {
    mkdirSync(join(dir, 'mu-plugins'));
    for (const name of NAMES) {
      const siteUrl = `http://${toHost(name)}`;
      const data = join(dir, name);
      for (const folder of ['logs', 'tmp', 'mail', 'run']) mkdirSync(join(data, folder), { recursive: true });
      const database = { kind: 'sqlite', dir: join(dir, `${name}-database`), file: '.ht.sqlite' } as const;
      if (name === 'one' || !shared.core) {
        await layOutWordPress({ dir: toWordPressDir(name), database, siteUrl, log: () => {} });
      }
      let configuration = join(toWordPressDir(name), 'wp-config.php');
      if (shared.core) {
        configuration = join(dir, `${name}.php`);
        writeFileSync(configuration, formatConfigFile(database, siteUrl));
        mkdirSync(database.dir, { recursive: true });
        writeFileSync(
          join(toWordPressDir(name), 'wp-config.php'),
          `<?php require '${dir}/' . ( '${toHost('two')}' === $_SERVER['HTTP_HOST'] ? 'two' : 'one' ) . '.php';`,
        );
      }
      const content = join(dir, `${name}-content`);
      cpSync(join(toWordPressDir(name), 'wp-content'), content, { recursive: true });
      writeConfiguration(configuration, {
        WP_CONTENT_DIR: content,
        ...(shared.plugins && { WPMU_PLUGIN_DIR: toPluginsDir(name) }),
        ...(isNamed && { SECURITY_OPTIMIZER_KEY_FILE: join(dir, `${name}-key.php`) }),
      });
      symlinkSync(toWordPressDir(name), join(dir, `${name}-wp`));
    }
  }

  const attach = (name: Name, ...more: string[]) =>
    securityOptimizer(
      ...['attach', '--wordpress', join(dir, `${name}-wp`), '--mu-plugins', toPluginsDir(name), '--host', toHost(name)],
      ...['--upstream', `http://127.0.0.1:${sites[name].upstreamPort}`, '--listen', `127.0.0.1:${sites[name].port}`],
      ...['--data-dir', sites[name].guardDir, ...(isNamed ? ['--external-key'] : []), ...more],
    );

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'so-shared-'));
    await layOut();
    const port = await findFreePort();
    const started = {} as Record<Name, Stack>;
    for (const name of NAMES) {
      const data = join(dir, name);
      const url = `http://${toHost(name)}`;
      const wordpressDir = toWordPressDir(name);
      const owner = await installWordPress({
        wordpressDir,
        dataDir: data,
        siteUrl: url,
        runPhp: createPhpRunner(data),
      });
      const first = shared.core ? started.one : undefined;
      let upstreamPort = first?.upstreamPort;
      if (upstreamPort === undefined) {
        const web = await startNativePhp({ wordpressDir, dataDir: data });
        services.push(web.service);
        upstreamPort = Number(new URL(web.upstream).port);
      }
      started[name] = {
        ...{ kind: 'embedded', dir: data, wordpressDir, guardDir: join(dir, 'guard'), url, port, upstreamPort },
        ...owner,
      };
    }
    sites = started;
  });
  afterAll(async () => {
    if (sites !== undefined) await stopGuard(sites.one);
    for (const service of services) await service.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const direct = async (name: Name, headers = {}) => (await sendUpstream(sites[name], { target: '/', headers })).status;
  const throughGuard = async (name: Name) => {
    const { status, body } = await sendRequest(sites[name], { target: '/' });
    return [status, body.includes(`http://${toHost(name)}`)];
  };
  const connectors = async () => {
    const { stdout } = await securityOptimizer('status', '--data-dir', sites.one.guardDir, '--json');
    const { sites: all } = JSON.parse(stdout) as { sites: { id: string; connector: string }[] };
    return all.map(({ id, connector }) => [id, connector]);
  };

  it('can both be attached, and each answers with its own key', async () => {
    for (const name of NAMES) {
      const output = await attach(name, ...(isNamed && name === 'two' ? ['--new-site'] : []));
      expect(output).toMatchObject({ code: 0, stdout: expect.stringContaining(`Attached: site ${name}-example.`) });
      if (isNamed) {
        const secret = readFileSync(join(sites[name].guardDir, 'sites', `${name}-example.secret`), 'utf8').trim();
        writeFileSync(
          join(dir, `${name}-key.php`),
          `<?php return array( 'secret' => '${secret}', 'require_guard' => ${name === 'two'} );`,
        );
      }
    }
    await startGuard(sites.one);
    expect(await connectors()).toEqual([
      ['one-example', 'ok'],
      ['two-example', 'ok'],
    ]);
    for (const name of NAMES) expect(await throughGuard(name)).toEqual([200, true]);
  });

  it('are closed separately: requiring guard on the second does not close the first', async () => {
    expect(await direct('one')).toBe(200);
    expect((await attach('two', '--require-guard', '--force')).code).toBe(0);
    expect([await direct('one'), await direct('two')]).toEqual([200, 403]);
    for (const name of NAMES) expect(await throughGuard(name)).toEqual([200, true]);
    expect(await connectors()).toEqual([
      ['one-example', 'ok'],
      ['two-example', 'ok'],
    ]);
  });

  it('are not opened by a forged host name: the site decides which key is used', async () => {
    for (const host of ['one.example', 'two.example', 'other.example', 'TWO.example', '', 'two.example:80']) {
      // With one core, the host selects the site and its data, and the key of that site is valid.
      const isTwo = shared.core ? host === 'two.example' : true;
      expect([host, await direct('two', { host })]).toEqual([host, isTwo ? 403 : expect.any(Number)]);
    }
    const { body } = await sendUpstream(sites.two, { target: '/', headers: { host: 'other.example' } });
    expect(body.includes('http://two.example')).toBe(false);
  });

  it('are detached separately: the other site keeps its connector and its key', async () => {
    expect((await securityOptimizer('detach', '--site', 'two-example', '--data-dir', sites.two.guardDir)).code).toBe(0);
    if (isNamed) rmSync(join(dir, 'two-key.php'));
    expect(await direct('two')).toBe(200);
    expect(await throughGuard('one')).toEqual([200, true]);
    expect(await connectors()).toEqual([['one-example', 'ok']]);
    expect((await attach('one', '--require-guard', '--force')).code).toBe(0);
    if (!isNamed) expect(await direct('one')).toBe(403);
    expect(await throughGuard('one')).toEqual([200, true]);
    expect((await securityOptimizer('detach', '--data-dir', sites.two.guardDir)).code).toBe(0);
    if (shared.plugins) expect(readdirSync(dir)).not.toContain('mu-plugins');
  });
});

// Only root can make a folder that no owner of a site may change.
describe.skipIf(!canRun || process.getuid?.() !== 0)('A site whose code guard can’t write', () => {
  let dir: string;
  let site: Stack;
  let service: Service | undefined;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'so-manual-'));
    for (const folder of ['logs', 'tmp', 'mail', 'run']) mkdirSync(join(dir, folder));
    const [wordpressDir, url] = [join(dir, 'wordpress'), 'http://example.com'];
    const database = { kind: 'sqlite', dir: join(dir, 'database'), file: '.ht.sqlite' } as const;
    await layOutWordPress({ dir: wordpressDir, database, siteUrl: url, log: () => {} });
    const owner = await installWordPress({ wordpressDir, dataDir: dir, siteUrl: url, runPhp: createPhpRunner(dir) });
    const web = await startNativePhp({ wordpressDir, dataDir: dir });
    service = web.service;
    const upstreamPort = Number(new URL(web.upstream).port);
    const port = await findFreePort();
    site = { kind: 'embedded', dir, wordpressDir, guardDir: join(dir, 'guard'), url, port, upstreamPort, ...owner };
  });
  afterAll(async () => {
    if (site !== undefined) await stopGuard(site);
    await service?.stop();
    for (const folder of [dir, `${dir}-connector`]) rmSync(folder, { recursive: true, force: true });
  });

  it('is connected after the output of --print was installed manually', async () => {
    const shared = `${dir}-connector`;
    expect((await securityOptimizer('share-connector', shared)).code).toBe(0);
    const print = (...more: string[]) => securityOptimizer('attach', '--print', '--data-dir', site.guardDir, ...more);
    const [upstream, listen] = [`http://127.0.0.1:${site.upstreamPort}`, `127.0.0.1:${site.port}`];
    const line = ['--host', 'example.com', '--upstream', upstream, '--listen', listen, '--shared-connector', shared];
    const put = async ({ stdout }: { readonly stdout: string }) => {
      const [loader, key] = stdout.match(/^<\?php[\s\S]*?;$/gm) as [string, string];
      const constant = stdout.match(/^define\( 'SECURITY_OPTIMIZER_KEY_FILE', '(.*)' \);$/m) as RegExpMatchArray;
      const plugins = join(site.wordpressDir, 'wp-content/mu-plugins');
      mkdirSync(plugins, { recursive: true });
      writeFileSync(join(plugins, 'security-optimizer.php'), loader);
      // In a folder of the test, not the system.
      writeFileSync(join(dir, 'key.php'), key);
      expect(constant[1]).toBe('/etc/security-optimizer/example-com.php');
    };
    await put(await print(...line));
    writeConfiguration(join(site.wordpressDir, 'wp-config.php'), { SECURITY_OPTIMIZER_KEY_FILE: join(dir, 'key.php') });
    await startGuard(site);
    const status = async () => {
      const { stdout } = await securityOptimizer('status', '--data-dir', site.guardDir, '--json');
      return JSON.parse(stdout).sites;
    };
    expect(await status()).toMatchObject([{ id: 'example-com', connector: 'ok' }]);
    expect((await sendUpstream(site, { target: '/' })).status).toBe(200);
    await put(await print('--site', 'example-com', '--require-guard', '--force'));
    expect((await sendUpstream(site, { target: '/' })).status).toBe(403);
    expect((await sendRequest(site, { target: '/' })).status).toBe(200);
    expect(await status()).toMatchObject([{ id: 'example-com', connector: 'ok' }]);
    expect(readdirSync(join(site.wordpressDir, 'wp-content/mu-plugins'))).toEqual(['security-optimizer.php']);
  });
});
