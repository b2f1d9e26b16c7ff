import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run, runInChild } from '../../test/support/command-line.js';
import { fakeConnector } from '../../test/support/fake-connector.js';
import { freePort } from '../../test/support/front-proxy.js';
import { eventually, scratchFolder } from '../../test/support/scratch.js';
import { makeSite } from '../../test/support/site-layouts.js';
import { changeOwner, OWNER, openFolder } from '../../test/support/users.js';
import { wordpressFolder } from '../../test/support/wordpress-folder.js';
import { toKeyFileName } from '../wordpress/connector-secret.js';

const hasPhp = spawnSync('php', ['-v']).status === 0;

/** Sites of one guard that share folders. */
async function machine() {
  const [root, dataDir] = [await scratchFolder(), await scratchFolder()];
  const attach = (...args: string[]) =>
    run('attach', '--upstream', 'http://127.0.0.1:1', '--listen', '127.0.0.1:0', '--data-dir', dataDir, ...args);
  const detach = (id: string) => run('detach', '--site', id, '--data-dir', dataDir);
  const readSecret = (id: string) => readFileSync(join(dataDir, 'sites', `${id}.secret`), 'utf8').trim();
  const readSites = () => JSON.parse(readFileSync(join(dataDir, 'guard.json'), 'utf8')).sites;
  return { root, dataDir, attach, detach, readSecret, readSites };
}

/** Two sites, each with its own core, and one folder of must-use plugins. */
async function sharedPlugins() {
  const at = await machine();
  const plugins = join(at.root, 'mu-plugins');
  mkdirSync(plugins);
  const [one, two] = [await wordpressFolder(), await wordpressFolder()];
  const attachTo = (wordpress: string, host: string, ...more: string[]) =>
    at.attach('--wordpress', wordpress, '--mu-plugins', plugins, '--host', host, ...more);
  const own = join(plugins, 'security-optimizer');
  const toKeyFile = (wordpress: string) => join(own, 'keys', toKeyFileName(wordpress));
  return { ...at, plugins, own, one, two, attachTo, toKeyFile };
}

describe('one core that two sites use', () => {
  /** Paths of both sites that lead to one core, and a content folder for each. */
  async function sharedCore() {
    const at = await machine();
    const core = await wordpressFolder();
    const site = (name: string) => {
      const folder = join(at.root, name);
      mkdirSync(join(folder, 'content'), { recursive: true });
      symlinkSync(core, join(folder, 'wp'));
      const line = ['--wordpress', join(folder, 'wp'), '--mu-plugins', join(folder, 'content', 'mu-plugins')];
      return { folder, line, key: join(folder, 'content', 'mu-plugins', 'security-optimizer', 'secret.php') };
    };
    return { ...at, core, a: site('a'), b: site('b') };
  }

  it('belongs to two sites: the second is attached, and nothing of the first changes', async () => {
    const { attach, a, b, readSites, readSecret } = await sharedCore();
    expect(attach(...a.line, '--host', 'a.example')).toMatchObject({ status: 0, stderr: '' });
    const [first] = readSites();
    const key = readFileSync(a.key, 'utf8');
    expect(attach(...b.line, '--host', 'b.example')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Attached: site b-example.'),
    });
    expect(readSites()).toEqual([first, expect.objectContaining({ id: 'b-example', hosts: ['b.example'] })]);
    expect(readFileSync(a.key, 'utf8')).toBe(key);
    expect(readFileSync(b.key, 'utf8')).toContain(readSecret('b-example'));
    expect(attach(...a.line).stdout).toContain('Brought up to date: site a-example.');
    expect(attach('--all').status).toBe(2);
  });

  it('is brought up to date and detached site by site', async () => {
    const { dataDir, attach, a, b, detach } = await sharedCore();
    attach(...a.line, '--host', 'a.example');
    attach(...b.line, '--host', 'b.example');
    expect(run('attach', '--all', '--data-dir', dataDir)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('2 of 2 sites'),
    });
    expect(detach('a-example').status).toBe(0);
    expect([existsSync(a.key), existsSync(b.key)]).toEqual([false, true]);
  });

  it('with one folder of must-use plugins is refused for the second, with the reason and the remedy', async () => {
    const { attach, core, readSites } = await sharedCore();
    expect(attach('--wordpress', core, '--host', 'a.example').status).toBe(0);
    const before = readSites();
    const refused = attach('--wordpress', core, '--host', 'b.example');
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('add --new-site') });
    const twin = attach('--wordpress', core, '--host', 'b.example', '--new-site');
    expect(twin).toMatchObject({ status: 1, stderr: expect.stringContaining("can't tell them apart") });
    expect(twin.stderr).toContain('SECURITY_OPTIMIZER_KEY_FILE');
    expect(readSites()).toEqual(before);
  });

  it('and one folder of must-use plugins serve two sites that each provide their own key', async () => {
    const { attach, core, readSites, dataDir } = await sharedCore();
    expect(attach('--wordpress', core, '--host', 'a.example', '--external-key').status).toBe(0);
    expect(attach('--wordpress', core, '--host', 'b.example', '--new-site', '--external-key')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Attached: site b-example.'),
    });
    expect(readSites()).toMatchObject([{ externalKey: true }, { externalKey: true }]);
    const own = join(core, 'wp-content', 'mu-plugins', 'security-optimizer');
    expect([existsSync(join(own, 'secret.php')), existsSync(join(own, 'keys'))]).toEqual([false, false]);
    expect(run('attach', '--all', '--data-dir', dataDir).status).toBe(0);
    const moved = await scratchFolder();
    writeFileSync(join(moved, 'sites.json'), run('sites', 'export', '--data-dir', dataDir).stdout);
    for (const count of ['first', 'again']) {
      const imported = run('sites', 'import', join(moved, 'sites.json'), '--data-dir', join(moved, 'guard'));
      expect(imported, count).toMatchObject({ status: 0, stderr: '' });
      expect(imported.stdout).toContain('2 of 2 sites are attached.');
    }
    expect(run('detach', '--site', 'a-example', '--data-dir', dataDir).status).toBe(0);
    expect(existsSync(join(core, 'wp-content', 'mu-plugins', 'security-optimizer.php'))).toBe(true);
    expect(run('detach', '--site', 'b-example', '--data-dir', dataDir).status).toBe(0);
    expect(readdirSync(join(core, 'wp-content'))).toEqual([]);
  });
});

describe('one folder of must-use plugins that two sites use', () => {
  it('has a key for each of them, named after its WordPress', async () => {
    const { attachTo, one, two, own, toKeyFile, readSecret } = await sharedPlugins();
    expect(attachTo(one, 'one.example', '--shared-mu-plugins')).toMatchObject({ status: 0, stderr: '' });
    expect(attachTo(two, 'two.example', '--require-guard', '--force')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(toKeyFile(two)),
      stderr: expect.stringContaining('belong to the same user'),
    });
    expect(existsSync(join(own, 'secret.php'))).toBe(false);
    expect(readFileSync(toKeyFile(one), 'utf8')).toContain(`'${readSecret('one-example')}', 'require_guard' => false`);
    expect(readFileSync(toKeyFile(two), 'utf8')).toContain(`'${readSecret('two-example')}', 'require_guard' => true`);
    // Both again, in the other order: neither overwrites the other's files.
    const before = [one, two].map((site) => readFileSync(toKeyFile(site), 'utf8'));
    for (const [site, host] of [
      [two, 'two.example'],
      [one, 'one.example'],
    ] as const)
      attachTo(site, host);
    expect([one, two].map((site) => readFileSync(toKeyFile(site), 'utf8'))).toEqual(before);
  });

  it('keeps the first site’s secret.php for that site, and moves it when that site is attached again', async () => {
    const { attachTo, one, two, own, toKeyFile, readSecret } = await sharedPlugins();
    attachTo(one, 'one.example');
    expect(readFileSync(join(own, 'secret.php'), 'utf8')).toContain(readSecret('one-example'));
    expect(attachTo(two, 'two.example').stderr).toContain(
      'still finds the key of one-example. Attach that site again.',
    );
    expect(readFileSync(toKeyFile(two), 'utf8')).toContain(readSecret('two-example'));
    expect(readFileSync(join(own, 'secret.php'), 'utf8')).toContain(readSecret('one-example'));
    attachTo(one, 'one.example');
    expect(readFileSync(toKeyFile(one), 'utf8')).toContain(readSecret('one-example'));
    expect(existsSync(join(own, 'secret.php'))).toBe(false);
  });

  it('keeps secret.php for a connector of an earlier version, restricted to its own site', async () => {
    const { attachTo, one, plugins, own, toKeyFile, readSecret } = await sharedPlugins();
    attachTo(one, 'one.example');
    // A loader of an earlier version, which reads only `secret.php`.
    writeFileSync(join(plugins, 'security-optimizer.php'), '<?php // earlier');
    attachTo(one, 'one.example', '--shared-mu-plugins');
    expect(readFileSync(toKeyFile(one), 'utf8')).toContain(readSecret('one-example'));
    expect(readFileSync(join(own, 'secret.php'), 'utf8')).toContain(`if ( realpath( ABSPATH ) !== '${one}' )`);
    attachTo(one, 'one.example');
    expect(existsSync(join(own, 'secret.php'))).toBe(false);
  });

  it('keeps the connector until the last of them is detached', async () => {
    const { attachTo, one, two, plugins, toKeyFile, detach } = await sharedPlugins();
    attachTo(one, 'one.example', '--shared-mu-plugins');
    attachTo(two, 'two.example');
    expect(detach('two-example')).toMatchObject({ status: 0, stdout: expect.stringContaining('other sites use') });
    expect([existsSync(toKeyFile(one)), existsSync(toKeyFile(two))]).toEqual([true, false]);
    expect(readdirSync(plugins)).toContain('security-optimizer.php');
    expect(detach('one-example').status).toBe(0);
    expect(existsSync(plugins)).toBe(false);
  });

  it.skipIf(!hasPhp)('keeps the first site’s files when the attach of a second one is undone', async () => {
    const { attach, detach, readSites, readSecret } = await machine();
    const root = await openFolder();
    const plugins = join(root, 'shared');
    const one = makeSite(join(root, 'one'), { core: '', content: 'wp-content', config: '', muPlugins: '../shared' });
    const two = makeSite(join(root, 'two'), { core: 'wp', content: 'content', config: '' });
    // Root runs no code of a tree that belongs to root.
    if (process.getuid?.() === 0) changeOwner(root, OWNER);
    const attachTo = (site: typeof one, host: string) =>
      attach('--wordpress', site.wordpress, '--mu-plugins', plugins, '--host', host, '--shared-mu-plugins');
    expect(attachTo(one, 'one.example').status).toBe(0);
    const own = join(plugins, 'security-optimizer');
    const toKeyFile = (site: typeof one) => join(own, 'keys', toKeyFileName(site.wordpress));
    const present = () => [
      readSites(),
      readFileSync(toKeyFile(one), 'utf8'),
      readdirSync(own, { recursive: true }).sort(),
    ];
    const before = present();
    const undone = attachTo(two, 'two.example');
    expect(undone).toMatchObject({ status: 1, stderr: expect.stringContaining(two.loads) });
    expect(undone.stderr).toContain(`not from ${plugins}`);
    expect(undone.stderr).toContain('The connector and its key were taken away again');
    expect(present()).toEqual(before);
    expect(readFileSync(toKeyFile(one), 'utf8')).toContain(readSecret('one-example'));
    expect(detach('one-example').status).toBe(0);
    expect(existsSync(plugins)).toBe(false);
  });

  it('supports a site whose PHP sees WordPress under another path, as in a container, and finds no key', async () => {
    const { attachTo, dataDir, one, plugins } = await sharedPlugins();
    const connector = await fakeConnector();
    connector.mode = 'gone';
    expect(attachTo(one, 'one.example', '--shared-mu-plugins')).toMatchObject({ status: 0, stderr: '' });
    const line = ['--wordpress', one, '--mu-plugins', plugins, '--upstream', connector.upstream];
    const outcome = await runInChild('attach', ...line, '--data-dir', dataDir);
    expect(outcome).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('under another path, as in a container'),
    });
    expect(outcome.stderr).toContain('--external-key');
  });

  it('deletes the keys of releases that no longer exist, and keeps those for a rollback', async () => {
    const at = await sharedPlugins();
    const current = join(at.root, 'current');
    const lead = (release: string) => {
      symlinkSync(release, `${current}.next`);
      renameSync(`${current}.next`, current);
    };
    lead(at.one);
    expect(at.attachTo(current, 'one.example', '--shared-mu-plugins').status).toBe(0);
    lead(at.two);
    expect(at.attachTo(current, 'one.example').status).toBe(0);
    expect([existsSync(at.toKeyFile(at.one)), existsSync(at.toKeyFile(at.two))]).toEqual([true, true]);
    rmSync(at.one, { recursive: true });
    expect(at.attachTo(current, 'one.example').status).toBe(0);
    expect([existsSync(at.toKeyFile(at.one)), existsSync(at.toKeyFile(at.two))]).toEqual([false, true]);
  });
});

describe.skipIf(!hasPhp)('the key that PHP finds (skipped without PHP)', () => {
  /** The response to a request that did not come through guard, in the WordPress of a folder. */
  async function serve(plugins: string, wordpress: string, options: { settings?: string; env?: object } = {}) {
    const port = await freePort();
    const router = join(wordpress, 'router.php');
    writeFileSync(
      router,
      `<?php define( 'ABSPATH', '${wordpress}/' ); ${options.settings ?? ''} function add_action() {}
      require '${plugins}/security-optimizer/${readClasses(plugins)}/transport/class-secret.php';
      define( 'SECURITY_OPTIMIZER_FILE', '${plugins}/security-optimizer.php' );
      echo json_encode( Security_Optimizer_Secret::read() );`,
    );
    const php = spawn('php', ['-d', 'display_errors=1', '-S', `127.0.0.1:${port}`, router], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, ...options.env },
    });
    onTestFinished(() => void php.kill('SIGKILL'));
    let log = '';
    php.stderr.on('data', (chunk) => {
      log += chunk;
    });
    await eventually(() => log.includes('started'));
    return async (headers: Record<string, string> = {}) =>
      (await fetch(`http://127.0.0.1:${port}/?SECURITY_OPTIMIZER_KEY=1`, { headers })).json();
  }
  const readClasses = (plugins: string) =>
    readdirSync(join(plugins, 'security-optimizer')).find((name) => name.startsWith('includes')) as string;

  it('is the key of its own WordPress, whatever a visitor sends, and none in a site that is not attached', async () => {
    const { attachTo, one, two, plugins, readSecret } = await sharedPlugins();
    attachTo(one, 'one.example', '--shared-mu-plugins', '--require-guard', '--force');
    const unattached = await serve(plugins, two);
    expect(await unattached()).toBeNull();
    attachTo(two, 'two.example');
    const [queryOne, queryTwo] = [await serve(plugins, one), await serve(plugins, two)];
    const lies = {
      'x-forwarded-host': 'one.example',
      'security-optimizer-key': 'a'.repeat(64),
      'security-optimizer-key-file': '/etc/passwd',
    };
    expect(await queryOne(lies)).toEqual({ secret: readSecret('one-example'), require_guard: true });
    expect(await queryTwo(lies)).toEqual({ secret: readSecret('two-example'), require_guard: false });
  });

  it('is the one that the site provides: a constant before the environment, never the folder’s instead', async () => {
    const { attachTo, one, plugins, root } = await sharedPlugins();
    attachTo(one, 'one.example');
    const [file, digits, missing] = ['key.php', 'key', 'missing'].map((name) => join(root, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(file, `<?php return array( 'secret' => '${'a'.repeat(64)}', 'require_guard' => true );`);
    writeFileSync(digits, `${'b'.repeat(64)}\n`);
    const constant = (name: string, value: string) => `define( 'SECURITY_OPTIMIZER_${name}', ${value} );`;
    const [a, b, c] = ['a', 'b', 'c'].map((digit) => digit.repeat(64)) as [string, string, string];
    for (const [settings, env, expected] of [
      [constant('KEY_FILE', `'${file}'`), {}, { secret: a, require_guard: true }],
      [constant('KEY_FILE', `'${digits}'`), {}, { secret: b, require_guard: false }],
      [constant('KEY_FILE', `'${digits}'`) + constant('REQUIRE_GUARD', 'true'), {}, { secret: b, require_guard: true }],
      ['', { SECURITY_OPTIMIZER_KEY_FILE: file }, { secret: a, require_guard: true }],
      ['', { SECURITY_OPTIMIZER_KEY: c, SECURITY_OPTIMIZER_REQUIRE_GUARD: '1' }, { secret: c, require_guard: true }],
      [constant('KEY_FILE', `'${missing}'`), {}, null],
      [constant('KEY_FILE', `'${digits}'`), { SECURITY_OPTIMIZER_KEY: c }, { secret: b, require_guard: false }],
      [constant('KEY', `''`), {}, null],
      [constant('KEY_FILE', `'${digits}'`), { SECURITY_OPTIMIZER_KEY_FILE: file }, { secret: b, require_guard: false }],
    ] as const) {
      const send = await serve(plugins, one, { settings, env });
      expect([settings, env, await send()]).toEqual([settings, env, expected]);
    }
  });
});
