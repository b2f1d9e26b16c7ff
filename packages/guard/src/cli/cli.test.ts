import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packVisits } from '../activity/packed-visits.js';
import { silentLogger } from '../lib/logger.js';
import { openActivityStore } from '../storage/activity/open-activity-store.js';
import { run, runBeside, serve } from '../testing/command-line.js';
import { fakeConnector } from '../testing/fake-connector.js';
import { callApi } from '../testing/running-guard.js';
import { scratchFolder } from '../testing/scratch.js';

/** Folder with what makes a WordPress recognisable. */
async function wordpressFolder(): Promise<string> {
  const dir = join(await scratchFolder(), 'wordpress');
  await mkdir(join(dir, 'wp-includes'), { recursive: true });
  await mkdir(join(dir, 'wp-content'));
  for (const file of ['wp-load.php', 'wp-includes/version.php', 'wp-config.php'])
    await writeFile(join(dir, file), '<?php');
  await chmod(join(dir, 'wp-config.php'), 0o640);
  return dir;
}

async function attached() {
  const [wordpress, dataDir, connector] = [await wordpressFolder(), await scratchFolder(), await fakeConnector()];
  const attach = (...more: string[]) =>
    run(
      'attach',
      '--wordpress',
      wordpress,
      '--upstream',
      connector.upstream,
      '--listen',
      '127.0.0.1:0',
      '--data-dir',
      dataDir,
      ...more,
    );
  const first = attach();
  connector.secret = await readFile(join(dataDir, 'sites', 'site.secret'), 'utf8').then((text) => text.trim());
  return { wordpress, dataDir, connector, attach, first, plugins: join(wordpress, 'wp-content', 'mu-plugins') };
}

describe('the command line', () => {
  it('tells its version and commands, and each command its options', () => {
    expect(run('--version')).toMatchObject({ status: 0, stdout: '0.1.0\n' });
    expect(run('--help').stdout).toContain('attach');
    expect(run('attach', '--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--allow-direct') });
  });

  it.each([
    [['fly'], 'Unknown command fly'],
    [['attach', '--colour'], "Unknown option '--colour'"],
    [['attach', '--upstream', 'http://127.0.0.1:1'], '--data-dir is missing'],
    [['serve'], '--data-dir or --config is missing'],
    [
      ['attach', '--data-dir', 'd', '--wordpress', 'w', '--upstream', 'x', '--listen', '1'],
      '--upstream: use the http origin',
    ],
  ])('refuses %j with exit code 2, naming what is wrong', (args, message) => {
    const result = run(...args);
    expect(result.status).toBe(2);
    expect(result.stderr).toContain(message);
  });
});

describe('attach', () => {
  it('installs connector, dashboard and secret, readable like wp-config.php, and writes the configuration', async () => {
    const { first, dataDir, plugins } = await attached();
    expect(first).toMatchObject({ status: 0, stderr: '' });
    const secret = (await readFile(join(dataDir, 'sites', 'site.secret'), 'utf8')).trim();
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(await readFile(join(plugins, 'security-optimizer', 'secret.php'), 'utf8')).toContain(
      `return array( 'secret' => '${secret}', 'only_through_guard' => true );`,
    );
    expect((await stat(join(plugins, 'security-optimizer', 'secret.php'))).mode & 0o777).toBe(0o640);
    expect((await stat(join(dataDir, 'sites', 'site.secret'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(plugins, 'security-optimizer.php'))).isFile()).toBe(true);
    expect((await stat(join(plugins, 'security-optimizer', 'assets', 'entrypoints.json'))).isFile()).toBe(true);
    expect(await readdir(join(plugins, 'security-optimizer', 'languages'))).toContain('security-optimizer-de_DE.mo');
    expect(await readFile(join(dataDir, 'guard.json'), 'utf8')).not.toContain(secret);
  });

  it('may be repeated: keeps the secret, updates files, removes those of an older version', async () => {
    const { attach, dataDir, plugins } = await attached();
    const secret = await readFile(join(dataDir, 'sites', 'site.secret'), 'utf8');
    await writeFile(join(plugins, 'security-optimizer', 'assets', 'old.js'), 'old');
    await writeFile(join(plugins, 'security-optimizer.php'), 'changed');
    expect(attach('--allow-direct', '--host', 'Example.com')).toMatchObject({ status: 0 });
    expect(await readFile(join(dataDir, 'sites', 'site.secret'), 'utf8')).toBe(secret);
    expect(await readdir(join(plugins, 'security-optimizer', 'assets'))).not.toContain('old.js');
    expect(await readFile(join(plugins, 'security-optimizer.php'), 'utf8')).toContain(
      'Plugin Name: Security Optimizer',
    );
    expect(await readFile(join(plugins, 'security-optimizer', 'secret.php'), 'utf8')).toContain('=> false );');
    const { sites } = JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8'));
    expect(sites).toMatchObject([{ id: 'site', hosts: ['example.com'], onlyThroughGuard: false }]);
  });

  it('refuses a folder that is not a WordPress, and a data folder inside it, and touches neither', async () => {
    const [empty, wordpress] = [await scratchFolder(), await wordpressFolder()];
    const options = ['--upstream', 'http://127.0.0.1:1', '--listen', '127.0.0.1:0'];
    const notOne = run('attach', '--wordpress', empty, '--data-dir', join(empty, 'data'), ...options);
    expect(notOne).toMatchObject({ status: 1, stderr: expect.stringContaining('is not a WordPress folder') });
    const inside = run('attach', '--wordpress', wordpress, '--data-dir', join(wordpress, 'data'), ...options);
    expect(inside).toMatchObject({ status: 1, stderr: expect.stringContaining('must not lie inside') });
    expect([...(await readdir(empty)), ...(await readdir(join(wordpress, 'wp-content')))]).toEqual([]);
  });

  it('installs where the site has moved its must-use plugins, and remembers it', async () => {
    const [wordpress, dataDir, content] = [await wordpressFolder(), await scratchFolder(), await scratchFolder()];
    await rm(join(wordpress, 'wp-content'), { recursive: true });
    const attach = (...more: string[]) => {
      const options = ['--upstream', 'http://127.0.0.1:1', '--listen', '127.0.0.1:0', '--data-dir', dataDir];
      return run('attach', '--wordpress', wordpress, ...options, ...more);
    };
    expect(attach()).toMatchObject({ status: 1, stderr: expect.stringContaining('--mu-plugins') });
    const nowhere = attach('--mu-plugins', join(content, 'missing', 'mu-plugins'));
    expect(nowhere).toMatchObject({ status: 1, stderr: expect.stringContaining('There is no folder') });
    const plugins = join(content, 'mu-plugins');
    expect(attach('--mu-plugins', plugins)).toMatchObject({ status: 0, stderr: '' });
    await rm(plugins, { recursive: true });
    expect(attach()).toMatchObject({ status: 0, stderr: '' });
    expect((await readdir(plugins)).sort()).toEqual(['security-optimizer', 'security-optimizer.php']);
    expect(await readdir(join(plugins, 'security-optimizer'))).toContain('secret.php');
    expect(await readdir(wordpress)).not.toContain('wp-content');
    expect(run('detach', '--data-dir', dataDir).status).toBe(0);
    expect(await readdir(content)).toEqual([]);
  });

  it('is undone by detach', async () => {
    const { dataDir, wordpress } = await attached();
    expect(run('detach', '--data-dir', dataDir)).toMatchObject({ status: 0, stdout: 'Detached: site.\n' });
    expect(await readdir(join(wordpress, 'wp-content'))).toEqual([]);
    expect(await readdir(join(dataDir, 'sites'))).toEqual([]);
    expect(JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8')).sites).toEqual([]);
    expect(run('detach', '--data-dir', dataDir).status).toBe(1);
  });
});

describe('serve', () => {
  it('keeps an acknowledged toggle when it is killed right after the answer', async () => {
    const { dataDir } = await attached();
    const first = await serve(dataDir);
    const answer = await callApi(first.url, '/disable-xml-rpc', { body: '{"disable_xml_rpc":0}' });
    first.child.kill('SIGKILL');
    expect(answer.http).toBe(200);
    await once(first.child, 'exit');
    const second = await serve(dataDir);
    const { body } = await callApi(second.url, '/fetch-options', { body: '{"page":"security"}' });
    expect(body.data).toMatchObject({ disable_xml_rpc: 0 });
    expect((await fetch(`${second.url}/xmlrpc.php`, { method: 'POST' })).status).toBe(200);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('stops with exit code 0 on %s', async (signal) => {
    const { dataDir } = await attached();
    const { child, log } = await serve(dataDir);
    child.kill(signal);
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    expect(log()).toContain('"event":"guard-stopped"');
  });

  it('refuses to run twice on a data folder, and to run on a broken database', async () => {
    const { dataDir } = await attached();
    const { child } = await serve(dataDir);
    expect(run('serve', '--data-dir', dataDir)).toMatchObject({
      status: 1,
      stderr: `Another guard runs on this data folder (process ${child.pid}).\n`,
    });
    child.kill('SIGTERM');
    await once(child, 'exit');
    await writeFile(join(dataDir, 'guard.sqlite'), 'no database '.repeat(2000));
    expect(run('serve', '--data-dir', dataDir)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('The database can’t be used (corrupt)'),
    });
  });
});

describe('status', () => {
  it.each([
    ['the connector is missing', { mode: 'gone' as const }, 'missing'],
    ['the connector has another secret', { secret: 'b2'.repeat(32) }, 'other_secret'],
    ['the connector has another version', { version: '0.0.9' }, 'version_differs'],
    ['WordPress is down', { mode: 'broken' as const }, 'unknown'],
  ])('says plainly that %s, with exit code 1', async (_what, fault, state) => {
    const { dataDir, connector } = await attached();
    Object.assign(connector, fault);
    const { status, stdout } = await runBeside('status', '--data-dir', dataDir, '--json');
    const report = JSON.parse(stdout);
    expect(status).toBe(1);
    expect(report.sites[0].connector).toBe(state);
    expect(report.problems).toContain('Guard is not running. Start it with `security-optimizer serve`.');
    expect(report.problems.length).toBeGreaterThan(1);
  });

  it('shows what it sees as text too', async () => {
    const { dataDir } = await attached();
    const { stdout } = await runBeside('status', '--data-dir', dataDir);
    expect(stdout).toContain('Guard:     not running');
    expect(stdout).toContain('Database:  ready');
    expect(stdout).toContain('Connector: answers (version 0.1.0)');
    expect(stdout).toContain('Policy:    not yet in force inside WordPress');
  });

  it('says how many visits were not recorded, and that the database of the Activity Log is broken', async () => {
    const { dataDir } = await attached();
    const store = await openActivityStore({ dataDir, logger: silentLogger(), clock: Date.now });
    await store.write({ site: 'site', visits: packVisits([]), dropped: 1204 });
    await store.close();
    const { stdout } = await runBeside('status', '--data-dir', dataDir);
    expect(stdout).toContain('Activity:  ready, 0.');
    expect(stdout).toContain('1,204 visits of the last 24 hours were not recorded');
    await writeFile(join(dataDir, 'activity.sqlite'), 'no database '.repeat(2000));
    const report = JSON.parse((await runBeside('status', '--data-dir', dataDir, '--json')).stdout);
    expect(report.activity).toMatchObject({ ok: false, detail: expect.stringContaining('corrupt') });
    expect(report.sites[0].droppedVisits).toBeNull();
    expect(report.problems.some((text: string) => text.includes('Activity Log'))).toBe(true);
  });
});
