import { spawn, spawnSync } from 'node:child_process';
import { chownSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bin, run, runInChild } from '../../test/support/command-line.js';
import { fakeConnector } from '../../test/support/fake-connector.js';
import { freePort } from '../../test/support/front-proxy.js';
import { eventually, scratchFolder } from '../../test/support/scratch.js';
import { wordpressFolder } from '../../test/support/wordpress-folder.js';
import { findConnectorSources } from './connector-files.js';
import { shareConnector } from './shared-connector.js';

/** A user id without an entry in the system's user database. */
const OTHER_USER = 54_321;
const isRoot = process.getuid?.() === 0;
const hasPhp = spawnSync('php', ['-v']).status === 0;

/** A machine with a shared connector and a WordPress that is not attached yet. */
async function machine() {
  const [root, wordpress, dataDir] = [await scratchFolder(), await wordpressFolder(), await scratchFolder()];
  await chmod(root, 0o755);
  const shared = join(root, 'connector');
  const outcome = run('share-connector', shared);
  expect(outcome).toMatchObject({ status: 0, stderr: '' });
  const release = outcome.stdout.trim().replace('Shared: ', '');
  const plugins = join(wordpress, 'wp-content', 'mu-plugins');
  const attach = (...more: string[]) =>
    run(
      ...['attach', '--wordpress', wordpress, '--upstream', 'http://127.0.0.1:1', '--listen', '127.0.0.1:0'],
      ...['--data-dir', dataDir, ...more],
    );
  const attachShared = (...more: string[]) => attach('--shared-connector', shared, ...more);
  return { root, shared, release, wordpress, dataDir, plugins, attach, attachShared };
}

const filesBelow = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();

const readSites = async (dataDir: string) => JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8')).sites;

describe.skipIf(!isRoot)('a connector that sites share (skipped without root)', () => {
  it('is installed as a whole in a folder of its own, which only root may change and everybody may read', async () => {
    const { shared, release } = await machine();
    expect(await readdir(shared)).toEqual([release.slice(shared.length + 1)]);
    expect(release).toMatch(/\/[0-9a-f]{12}$/);
    const files = await filesBelow(release);
    expect(files).toEqual(expect.arrayContaining(['assets/entrypoints.json', 'includes/class-hooks.php']));
    for (const name of ['.', 'includes', ...files]) {
      const { uid, mode } = await stat(join(release, name));
      expect([name, uid, mode & 0o777]).toEqual([name, 0, name.includes('.') && name !== '.' ? 0o644 : 0o755]);
    }
    const before = (await stat(release)).ctimeMs;
    expect(run('share-connector', shared)).toMatchObject({ status: 0, stdout: `Shared: ${release}\n` });
    expect((await stat(release)).ctimeMs).toBe(before);
  });

  it('adds only the loader and the key to a site, and detach removes only these', async () => {
    const { attachShared, attach, dataDir, plugins, release, shared, wordpress } = await machine();
    expect(attachShared()).toMatchObject({ status: 0 });
    expect(await filesBelow(plugins)).toEqual(['security-optimizer.php', 'security-optimizer/secret.php']);
    expect(await readFile(join(plugins, 'security-optimizer.php'), 'utf8')).toContain(
      `define( 'SECURITY_OPTIMIZER_DIR', '${release}' );`,
    );
    expect(await readSites(dataDir)).toMatchObject([{ sharedConnector: shared }]);
    expect(await readFile(join(dataDir, 'sites', 'site.files'), 'utf8')).toBe(
      'security-optimizer.php\nsecurity-optimizer/secret.php\n',
    );
    // Repeated for an update, the connector stays shared.
    expect(attach()).toMatchObject({ status: 0 });
    expect(await filesBelow(plugins)).toHaveLength(2);
    await writeFile(join(plugins, 'other.php'), '<?php');
    const before = await filesBelow(release);
    expect(run('detach', '--data-dir', dataDir)).toMatchObject({ status: 0 });
    expect(await filesBelow(join(wordpress, 'wp-content'))).toEqual(['mu-plugins/other.php']);
    expect(await filesBelow(release)).toEqual(before);
  });

  it('replaces a copy, whose files the next attach removes, and can be replaced by a copy again', async () => {
    const { attachShared, attach, plugins, dataDir } = await machine();
    expect(attach()).toMatchObject({ status: 0 });
    const copy = await filesBelow(plugins);
    expect(copy.length).toBeGreaterThan(100);
    expect(attachShared()).toMatchObject({ status: 0 });
    expect(await filesBelow(plugins)).toEqual(copy);
    expect(attach()).toMatchObject({ status: 0 });
    expect(await filesBelow(plugins)).toHaveLength(2);
    expect(attach('--own-connector')).toMatchObject({ status: 0 });
    expect(await filesBelow(plugins)).toEqual(copy);
    expect(await readSites(dataDir)).not.toMatchObject([{ sharedConnector: expect.anything() }]);
    expect(attachShared('--own-connector').status).toBe(2);
  });

  type At = Awaited<ReturnType<typeof machine>>;
  it.each<[string, (at: At) => unknown, RegExp]>([
    ['is missing', (at) => rm(at.release, { recursive: true }), /There is no .*share-connector/],
    ['has no classes', (at) => rm(join(at.release, 'includes/class-hooks.php')), /There is no /],
    ['is writable by other users', (at) => chmod(at.shared, 0o777), /Others than root may change .*connector\./],
    ['allows other users to add files', (at) => chmod(at.shared, 0o1777), /Others than root may change .*connector\./],
    ['belongs to another user', (at) => chownSync(at.release, OTHER_USER, OTHER_USER), /belongs to user 54321/],
    [
      'contains a class of another user',
      (at) => chownSync(join(at.release, 'includes/class-hooks.php'), OTHER_USER, 0),
      /belongs to user 54321/,
    ],
    [
      'has a file that others may change',
      (at) => chmod(join(at.release, 'assets/entrypoints.json'), 0o666),
      /Others than root may change /,
    ],
    ['is not accessible to PHP', (at) => chmod(at.root, 0o700), /PHP of the site can’t read/],
    [
      'is a symbolic link',
      async (at) => {
        await rename(at.shared, `${at.shared}.real`);
        await symlink(`${at.shared}.real`, at.shared);
      },
      /is a link/,
    ],
  ])('is refused where it %s, and nothing changes', async (_which, break_, message) => {
    const at = await machine();
    await break_(at);
    expect(at.attachShared()).toMatchObject({ status: 1, stderr: expect.stringMatching(message) });
    expect(await readdir(join(at.wordpress, 'wp-content'))).toEqual([]);
    expect(await readFile(join(at.dataDir, 'guard.json'), 'utf8').catch(() => null)).toBeNull();
  });

  it('is never read from a folder of guard’s user, who may change the configuration: root installs nothing from there', async () => {
    const at = await machine();
    expect(at.attachShared()).toMatchObject({ status: 0 });
    const theirs = join(at.root, 'theirs');
    await cp(at.shared, theirs, { recursive: true });
    chownSync(theirs, OTHER_USER, OTHER_USER);
    const file = join(at.dataDir, 'guard.json');
    await writeFile(file, (await readFile(file, 'utf8')).replace(at.shared, theirs));
    const before = await readFile(join(at.plugins, 'security-optimizer.php'), 'utf8');
    expect(at.attach()).toMatchObject({ status: 1, stderr: expect.stringContaining('must be root’s') });
    expect(await readFile(join(at.plugins, 'security-optimizer.php'), 'utf8')).toBe(before);
  });

  it('is not created where a link or a folder of another user leads', async () => {
    const { root, shared } = await machine();
    await symlink(shared, join(root, 'link'));
    const before = await filesBelow(shared);
    expect(run('share-connector', join(root, 'link', 'new'))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is a link'),
    });
    expect(await filesBelow(shared)).toEqual(before);
    const theirs = join(root, 'theirs');
    await mkdir(theirs);
    chownSync(theirs, OTHER_USER, OTHER_USER);
    expect(run('share-connector', join(theirs, 'new')).stderr).toContain('belongs to user 54321');
    expect(await readdir(theirs)).toEqual([]);
  });

  it('can be read by PHP whatever root’s umask is', async () => {
    const { root } = await machine();
    const folder = join(root, 'deep', 'connector');
    const command = `umask 077; exec "${process.execPath}" "${bin}" share-connector "${folder}"`;
    expect(spawnSync('sh', ['-c', command], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
    expect((await stat(join(root, 'deep'))).mode & 0o777).toBe(0o755);
  });

  it('needs an absolute path that PHP can use unchanged', async () => {
    const { attach } = await machine();
    expect(attach('--shared-connector', 'connector').status).toBe(2);
    expect(attach('--shared-connector', "/opt/it's").status).toBe(2);
    expect(run('share-connector', '/opt/../etc').status).toBe(2);
    expect(run('share-connector').status).toBe(2);
  });

  it('of the previous version stays unchanged while sites run it', async () => {
    const { shared, release, plugins, attachShared } = await machine();
    expect(attachShared()).toMatchObject({ status: 0 });
    const sources = await findConnectorSources();
    const changed = join(await scratchFolder(), 'class-hooks.php');
    await writeFile(changed, '<?php // newer');
    const files = sources.files.map((file) =>
      file.to === 'includes/class-hooks.php' ? { ...file, from: changed } : file,
    );
    const before = await readFile(join(release, 'includes/class-hooks.php'), 'utf8');
    const next = await shareConnector(shared, { ...sources, files });
    expect(next).not.toBe(release);
    expect(await readFile(join(next, 'includes/class-hooks.php'), 'utf8')).toBe('<?php // newer');
    expect(await readFile(join(release, 'includes/class-hooks.php'), 'utf8')).toBe(before);
    expect(await readFile(join(plugins, 'security-optimizer.php'), 'utf8')).toContain(release);
  });

  it('lacks no file of its own for doctor', async () => {
    const { dataDir, attachShared } = await machine();
    expect(attachShared()).toMatchObject({ status: 0 });
    const findings = JSON.parse((await runInChild('doctor', 'site', '--data-dir', dataDir, '--json')).stdout);
    expect(findings.map(({ code }: { code: string }) => code)).not.toContain('files-incomplete');
  });

  it('that other users may change is reported by doctor', async () => {
    const { shared, dataDir, attachShared } = await machine();
    expect(attachShared()).toMatchObject({ status: 0 });
    await chmod(shared, 0o777);
    const findings = JSON.parse((await runInChild('doctor', 'site', '--data-dir', dataDir, '--json')).stdout);
    expect(findings).toContainEqual({
      check: 'permissions',
      state: 'problem',
      code: 'files-shared',
      message: `Others than root may change ${shared}.`,
      advice: expect.stringContaining('share-connector'),
    });
    const connector = findings.find(({ check }: { check: string }) => check === 'connector');
    expect(connector.advice).toContain('where PHP has open_basedir');
  });

  it.each<[string, (release: string) => Promise<void>, RegExp]>([
    [
      'a class',
      (release) => chmod(join(release, 'includes/class-hooks.php'), 0o666),
      /may change .*class-hooks\.php\./,
    ],
    ['any other file', (release) => chmod(join(release, 'assets/entrypoints.json'), 0o666), /may change .*entrypoints/],
    ['a folder', (release) => chmod(join(release, 'languages'), 0o777), /may change .*languages\./],
    [
      'no file, but PHP can’t read a class',
      (release) => chmod(join(release, 'includes/classes.php'), 0o600),
      /can’t read .*classes/,
    ],
  ])('is reported by doctor, and once by status, when others may change %s', async (_, change, message) => {
    const { release, dataDir, attachShared } = await machine();
    expect(attachShared()).toMatchObject({ status: 0 });
    const file = join(dataDir, 'guard.json');
    const written = JSON.parse(await readFile(file, 'utf8'));
    const second = { ...written.sites[0], id: 'second', hosts: ['second.example.com'] };
    await writeFile(
      file,
      JSON.stringify({ ...written, sites: [{ ...written.sites[0], hosts: ['example.com'] }, second] }),
    );
    await writeFile(join(dataDir, 'sites', 'second.secret'), 'ab'.repeat(32), { mode: 0o600 });
    await change(release);
    const report = JSON.parse((await runInChild('status', '--data-dir', dataDir, '--json')).stdout);
    const about = report.problems.filter((text: string) => text.startsWith('Shared connector: '));
    expect(about).toEqual([expect.stringMatching(message)]);
    const findings = JSON.parse((await runInChild('doctor', 'site', '--data-dir', dataDir, '--json')).stdout);
    expect(findings).toContainEqual(
      expect.objectContaining({ code: 'files-shared', message: expect.stringMatching(message) }),
    );
  });

  it('that WordPress does not run is reported by attach, with possible causes', async () => {
    const { shared, wordpress, dataDir } = await machine();
    const connector = await fakeConnector();
    connector.mode = 'gone';
    const outcome = await runInChild(
      ...['attach', '--wordpress', wordpress, '--upstream', connector.upstream, '--data-dir', dataDir],
      ...['--shared-connector', shared],
    );
    expect(outcome).toMatchObject({ status: 1, stderr: expect.stringContaining('where PHP has open_basedir') });
    expect(outcome.stderr).toContain(shared);
  });
});

describe.skipIf(!isRoot || !hasPhp)('the loader of a shared connector in PHP (skipped without root or PHP)', () => {
  /** A web server of PHP that runs the loader as the first must-use plugin. */
  async function served(at: Awaited<ReturnType<typeof machine>>, ...settings: string[]) {
    const port = await freePort();
    const router = join(at.wordpress, 'router.php');
    const loader = join(at.plugins, 'security-optimizer.php');
    await writeFile(
      router,
      `<?php define( 'ABSPATH', '/' ); function add_action() {} require '${loader}';
      echo 'WordPress ', class_exists( 'Security_Optimizer_Outbox' )
        ? ( new ReflectionClass( 'Security_Optimizer_Outbox' ) )->getFileName() : 'alone';`,
    );
    const options = ['display_errors=1', 'error_reporting=-1', ...settings].flatMap((each) => ['-d', each]);
    const php = spawn('php', [...options, '-S', `127.0.0.1:${port}`, router], { stdio: ['ignore', 'ignore', 'pipe'] });
    onTestFinished(() => void php.kill('SIGKILL'));
    let log = '';
    php.stderr.on('data', (chunk) => {
      log += chunk;
    });
    await eventually(() => log.includes('started'));
    const send = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/`);
      return { status: response.status, text: await response.text() };
    };
    return { send: send, log: () => log, router, options };
  }
  const closed = { status: 503, text: 'This site is not available at the moment.\n' };

  it('runs the classes of the release', async () => {
    const at = await machine();
    expect(at.attachShared()).toMatchObject({ status: 0 });
    // Without a key the connector calls no function of WordPress.
    await rm(join(at.plugins, 'security-optimizer', 'secret.php'));
    const { send } = await served(at);
    expect(await send()).toEqual({ status: 200, text: `WordPress ${at.release}/includes/transport/class-outbox.php` });
  });

  it('reads the key from its own folder, and refuses requests that did not come through guard', async () => {
    const at = await machine();
    expect(at.attachShared('--require-guard', '--force')).toMatchObject({ status: 0 });
    const { send } = await served(at);
    expect(await send()).toMatchObject({ status: 403, text: expect.stringContaining('not available here') });
  });

  it.each([
    ['that was deleted', false],
    ['that open_basedir excludes', true],
  ])(
    'keeps refusing requests to a site that requires guard, without a folder %s, and logs the cause',
    async (_which, isThere) => {
      const at = await machine();
      expect(at.attachShared('--require-guard', '--force')).toMatchObject({ status: 0 });
      if (!isThere) await rm(at.shared, { recursive: true });
      const { send, log, router, options } = await served(at, ...(isThere ? [`open_basedir=${at.wordpress}`] : []));
      expect(await send()).toEqual(closed);
      expect(log()).toContain(`Security Optimizer: PHP can not read ${at.release}.`);
      // The command line continues, as with the connector.
      expect(spawnSync('php', [...options, router], { encoding: 'utf8' }).stdout).toBe('WordPress alone');
    },
  );

  it('does not stop a site that does not require guard, as without the connector', async () => {
    const at = await machine();
    expect(at.attachShared()).toMatchObject({ status: 0 });
    await rm(at.shared, { recursive: true });
    const { send, log } = await served(at);
    expect(await send()).toEqual({ status: 200, text: 'WordPress alone' });
    expect(log()).toContain('Security Optimizer: PHP can not read');
  });

  it('changes from one release to the next between two requests, never within one', async () => {
    const at = await machine();
    expect(at.attachShared()).toMatchObject({ status: 0 });
    await rm(join(at.plugins, 'security-optimizer', 'secret.php'));
    // With opcache, PHP would run its cached copy of a file older than two seconds, not the new loader
    // (opcache.revalidate_freq).
    const { send } = await served(at, 'opcache.enable=0');
    const next = join(at.shared, '0123456789ab');
    await cp(at.release, next, { recursive: true });
    const loader = join(at.plugins, 'security-optimizer.php');
    const text = await readFile(loader, 'utf8');
    await writeFile(`${loader}.next`, text.replace(at.release, next));
    const seen = new Set<string>();
    const before = await send();
    await rename(`${loader}.next`, loader);
    for (let count = 0; count < 5; count++) seen.add((await send()).text);
    expect(before.text).toBe(`WordPress ${at.release}/includes/transport/class-outbox.php`);
    expect([...seen]).toEqual([`WordPress ${next}/includes/transport/class-outbox.php`]);
  });
});
