import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bin, run, runInChild, waitForOutcome } from '../../test/support/command-line.js';
import { type FakeConnector, fakeConnector } from '../../test/support/fake-connector.js';
import { eventually, scratchFolder } from '../../test/support/scratch.js';
import { makeSite, type SiteLayout } from '../../test/support/site-layouts.js';
import {
  canSwitchUsers,
  changeOwner,
  GUARD,
  listOwners,
  machine,
  OWNER,
  openFolder,
  runAsRoot,
  snapshot,
  VICTIM,
} from '../../test/support/users.js';
import { runSiteTask } from '../wordpress/site-files.js';

const hasPhp = spawnSync('php', ['-v']).status === 0;
const NOWHERE = 'http://127.0.0.1:1';

/** Layouts of common hosts. Each has an unused `wp-content` inside WordPress. */
const LAYOUTS: readonly (readonly [string, SiteLayout])[] = [
  ['WordPress-Skeleton', { core: 'wp', content: 'content', config: '' }],
  ['Bedrock with the full core', { core: 'web/wp', content: 'web/app', config: 'web' }],
  ['Composer’s installers', { core: 'public/wp', content: 'public/wp-content', config: 'public' }],
  ['WPMU_PLUGIN_DIR alone', { core: '', content: 'wp-content', config: '', muPlugins: 'must-use' }],
];

/**
 * Root runs no code of a tree that belongs to root, see below. So the tree belongs to a user when root runs the tests.
 */
function setOwner(folder: string): void {
  if (process.getuid?.() === 0) changeOwner(folder, OWNER);
}

async function site(layout: SiteLayout) {
  const at = makeSite(await openFolder(), layout);
  setOwner(at.root);
  const dataDir = await scratchFolder();
  const line = (upstream: string) => [
    'attach',
    '--wordpress',
    at.wordpress,
    '--upstream',
    upstream,
    '--data-dir',
    dataDir,
  ];
  const attach = (upstream: string, ...more: string[]) => runInChild(...line(upstream), ...more);
  const config = () => JSON.parse(readFileSync(join(dataDir, 'guard.json'), 'utf8'));
  const key = () => readFileSync(join(dataDir, 'sites', 'site.secret'), 'utf8').trim();
  return { ...at, dataDir, line, attach, config, key };
}

/** A WordPress that runs the connector if it is in its folder of must-use plugins, with the key there. */
async function runningWordPress(at: { readonly wordpress: string; readonly loads: string }): Promise<FakeConnector> {
  const connector = await fakeConnector();
  connector.folders = { wordpress: at.wordpress, connector: at.loads };
  connector.onRequest = () => {
    const isThere = existsSync(join(at.loads, 'security-optimizer.php'));
    connector.mode = isThere ? 'ok' : 'gone';
    if (!isThere) return;
    const file = readFileSync(join(at.loads, 'security-optimizer', 'secret.php'), 'utf8');
    connector.secret = /'secret' => '([0-9a-f]{64})'/.exec(file)?.[1] as string;
  };
  return connector;
}

const filesIn = (folder: string): string[] => (existsSync(folder) ? (readdirSync(folder) as string[]) : []);

describe.skipIf(!hasPhp)('the folder from which WordPress loads must-use plugins (skipped without PHP)', () => {
  it.each(LAYOUTS)(
    'is read from WordPress’s configuration, and the connector is installed there: %s',
    async (_name, layout) => {
      const at = await site(layout);
      const connector = await runningWordPress(at);
      const outcome = await at.attach(connector.upstream);
      expect(outcome).toMatchObject({ status: 0, stderr: '' });
      expect(outcome.stdout).toContain(
        `WordPress loads its must-use plugins from ${at.loads}: the connector is there.\n`,
      );
      expect(filesIn(at.loads).sort()).toEqual(['security-optimizer', 'security-optimizer.php']);
      if (at.unused !== at.loads) expect(filesIn(at.unused)).toEqual([]);
      expect(at.config().sites).toMatchObject([{ muPluginsDir: at.loads, wordpressDir: at.wordpress }]);
      expect((await at.attach(connector.upstream)).stdout).toContain('Brought up to date: site site.');
      expect((await runInChild('detach', '--data-dir', at.dataDir)).status).toBe(0);
      expect(filesIn(at.loads)).toEqual([]);
    },
  );

  it('is also read while WordPress’s database is down; then attach reports what is not verified', async () => {
    const at = await site(LAYOUTS[0]?.[1] as SiteLayout);
    const outcome = await at.attach(NOWHERE);
    expect(outcome).toMatchObject({ status: 0, stderr: '' });
    expect(filesIn(at.loads)).toContain('security-optimizer.php');
    expect(outcome.stdout).toContain(`It is not verified that WordPress runs the connector from ${at.loads}`);
    expect(outcome.stdout).toContain(`security-optimizer doctor site --data-dir ${at.dataDir}`);
  });

  it('is not verified while WordPress is not set up, and that is no error', async () => {
    const at = await site(LAYOUTS[0]?.[1] as SiteLayout);
    const server = createServer((request, response) => {
      response.writeHead(302, { location: `http://${request.headers.host}/wp/wp-admin/install.php` }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const outcome = await at.attach(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(outcome).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringContaining('WordPress is not set up yet.'),
    });
    expect(filesIn(at.loads)).toContain('security-optimizer.php');
  });

  it('is stored as a path through the link, so that the next release is attached in its own folder', async () => {
    const [root, dataDir] = [await openFolder(), await scratchFolder()];
    const current = join(root, 'current');
    const line = ['--wordpress', join(current, 'web/wp'), '--upstream', NOWHERE, '--data-dir', dataDir];
    const loads: string[] = [];
    for (const name of ['1', '2']) {
      const release = makeSite(join(root, 'releases', name), { core: 'web/wp', content: 'web/app', config: 'web' });
      setOwner(release.root);
      symlinkSync(join('releases', name), `${current}.next`);
      renameSync(`${current}.next`, current);
      loads.push(release.loads);
      expect(run('attach', ...(name === '1' ? line : ['--all', '--data-dir', dataDir]))).toMatchObject({ status: 0 });
      expect(filesIn(release.loads)).toContain('security-optimizer.php');
      expect(filesIn(release.unused)).toEqual([]);
    }
    const { sites } = JSON.parse(readFileSync(join(dataDir, 'guard.json'), 'utf8'));
    expect(sites).toMatchObject([{ muPluginsDir: join(current, 'web/app/mu-plugins') }]);
  });

  it('is read with the host and path that a configuration may use, and without this process’s environment', async () => {
    const at = await site({ core: '', content: 'wp-content', config: '' });
    const other = join(at.root, 'of-shop', 'mu-plugins');
    mkdirSync(other, { recursive: true });
    setOwner(at.root);
    at.configure(`if ( 'shop.example' === $_SERVER['HTTP_HOST'] && '/blog/' === $_SERVER['REQUEST_URI'] && ! getenv( 'PGPASSWORD' ) ) {
      define( 'WP_CONTENT_DIR', '${dirname(other)}' ); }`);
    const args = [bin, ...at.line(NOWHERE), '--host', 'shop.example', '--home', '/blog'];
    const child = spawn(process.execPath, args, { env: { ...process.env, PGPASSWORD: 'x' }, stdio: 'pipe' });
    expect(await waitForOutcome(child)).toMatchObject({ status: 0 });
    expect(filesIn(other)).toContain('security-optimizer.php');
  });

  it.each([
    [
      'prints much text and what looks like the result',
      `echo str_repeat( "<p>\\n", 9000 ), "\\n", str_repeat( 'a', 32 ), ' eA== eA== eA== eA== ', str_repeat( 'a', 32 ), "\\n"; ob_start( 'strrev' );`,
    ],
    ['reads from standard input', `if ( '' !== (string) stream_get_contents( STDIN ) ) { exit; }`],
  ])('is found although the configuration %s', async (_what, code) => {
    const at = await site(LAYOUTS[0]?.[1] as SiteLayout);
    at.configure(code);
    expect((await at.attach(NOWHERE)).status).toBe(0);
    expect(filesIn(at.loads)).toContain('security-optimizer.php');
  });

  it.each([
    ['ends before WordPress’s settings', 'exit;'],
    ['fails', 'missing_function();'],
    ['is not PHP', '('],
    ['ends the process', 'posix_kill( getmypid(), 9 );'],
    ['prints endlessly', 'while ( true ) { echo str_repeat( "x", 65536 ); }'],
  ])('is unknown where the configuration %s, which is no error', async (_what, code) => {
    const at = await site(LAYOUTS[0]?.[1] as SiteLayout);
    at.configure(code);
    expect(await at.attach(NOWHERE)).toMatchObject({ status: 0 });
    expect(filesIn(at.unused)).toContain('security-optimizer.php');
  });

  it('is read with a timeout that also ends every process that PHP has started', async () => {
    const at = await site(LAYOUTS[0]?.[1] as SiteLayout);
    const pid = join(at.root, 'pid');
    at.configure(`file_put_contents( '${pid}', (string) getmypid() ); exec( 'sleep 600' );`);
    const task = { kind: 'ask-folder', host: 'localhost', path: '/', timeoutMs: 1500 } as const;
    expect(await runSiteTask({ wordpressDir: at.wordpress }, task)).toMatchObject({ folder: null });
    const group = readFileSync(pid, 'utf8');
    // Processes that have exited and wait for their parent are not counted.
    const running = () => spawnSync('pgrep', ['-g', group, '-r', 'R,S,D'], { encoding: 'utf8' }).stdout;
    await eventually(() => running() === '');
  });

  it('is unknown without PHP on the command line, and the attach succeeds nevertheless', async () => {
    const at = await site({ core: '', content: 'wp-content', config: '' });
    const child = spawn(process.execPath, [bin, ...at.line(NOWHERE)], { env: { PATH: '/nonexistent' }, stdio: 'pipe' });
    expect(await waitForOutcome(child)).toMatchObject({ status: 0, stderr: '' });
    expect(filesIn(at.loads)).toContain('security-optimizer.php');
  });

  it('is read again by the next attach, which removes a connector in the wrong place with its key', async () => {
    const at = await site(LAYOUTS[1]?.[1] as SiteLayout);
    // Earlier versions installed the connector there.
    const guessed = join(at.wordpress, 'wp-content', 'mu-plugins');
    const settings = readFileSync(join(at.root, 'web', 'wp-config.php'), 'utf8');
    at.configure('exit;');
    expect((await at.attach(NOWHERE)).status).toBe(0);
    expect(filesIn(guessed)).toContain('security-optimizer.php');
    const key = at.key();
    writeFileSync(join(at.root, 'web', 'wp-config.php'), settings);
    const connector = await runningWordPress(at);
    const outcome = await at.attach(connector.upstream);
    expect(outcome).toMatchObject({ status: 0, stderr: '' });
    expect(outcome.stdout).toContain(`Taken out of ${guessed}: the connector and its key.\n`);
    expect(filesIn(guessed)).toEqual([]);
    expect(at.key()).toBe(key);
    expect(readFileSync(join(at.loads, 'security-optimizer', 'secret.php'), 'utf8')).toContain(key);
    expect(JSON.parse(readFileSync(join(at.dataDir, 'sites', 'site.releases'), 'utf8'))).toHaveLength(1);
  });
});

describe('a connector that does not respond from where it was installed', () => {
  const skeleton = LAYOUTS[0]?.[1] as SiteLayout;

  it.skipIf(!hasPhp)(
    'is removed again with its key, both folders are named, and the previous state is restored',
    async () => {
      const at = await site(skeleton);
      const connector = await runningWordPress(at);
      const wrong = at.unused;
      const refused = await at.attach(connector.upstream, '--mu-plugins', wrong, '--listen', '127.0.0.1:8099');
      expect(refused).toMatchObject({ status: 1, stdout: '' });
      expect(refused.stderr).toContain(
        `WordPress loads its must-use plugins from ${at.loads}, and not from ${wrong}. Attach it with --mu-plugins ${at.loads}.`,
      );
      expect(filesIn(wrong)).toEqual([]);
      expect(filesIn(at.loads)).toEqual([]);
      expect(existsSync(join(at.dataDir, 'guard.json'))).toBe(false);
      expect(readdirSync(join(at.dataDir, 'sites'))).toEqual([]);
      expect((await at.attach(connector.upstream, '--mu-plugins', at.loads)).status).toBe(0);
      // For a site that is attached, neither entry nor key nor connector change.
      const [config, key] = [at.config(), at.key()];
      expect(await at.attach(connector.upstream, '--mu-plugins', wrong)).toMatchObject({ status: 1 });
      expect([at.config(), at.key()]).toEqual([config, key]);
      expect(filesIn(wrong)).toEqual([]);
      expect(filesIn(at.loads)).toContain('security-optimizer.php');
      expect((await runInChild('status', '--json', '--data-dir', at.dataDir)).stdout).toContain('"connector":"ok"');
    },
  );

  it.skipIf(!hasPhp)(
    'leaves the note of a detached site unchanged, so that the site can still be attached again',
    async () => {
      const at = await site(skeleton);
      const connector = await runningWordPress(at);
      expect((await at.attach(connector.upstream)).status).toBe(0);
      expect((await runInChild('detach', '--data-dir', at.dataDir)).status).toBe(0);
      const note = readFileSync(join(at.dataDir, 'sites', 'site.retired'), 'utf8');
      const again = ['--site', 'site'];
      expect((await at.attach(connector.upstream, ...again, '--mu-plugins', at.unused)).status).toBe(1);
      expect(readFileSync(join(at.dataDir, 'sites', 'site.retired'), 'utf8')).toBe(note);
      expect((await at.attach(connector.upstream, ...again)).stdout).toContain('Attached: site site.');
    },
  );

  it('is detected by the response of another copy, where PHP can’t be run', async () => {
    const at = await site(skeleton);
    at.configure('exit;');
    const connector = await runningWordPress(at);
    expect((await at.attach(connector.upstream, '--mu-plugins', at.loads)).status).toBe(0);
    const refused = await at.attach(connector.upstream, '--mu-plugins', at.unused);
    expect(refused).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`from ${at.loads}, and not from ${at.unused}`),
    });
    expect(filesIn(at.unused)).toEqual([]);
    expect(at.config().sites).toMatchObject([{ muPluginsDir: at.loads }]);
  });

  it('is reported as an error, and stays, where nothing shows which folder is right', async () => {
    const at = await site(skeleton);
    at.configure('exit;');
    const connector = await runningWordPress(at);
    const outcome = await at.attach(connector.upstream);
    expect(outcome).toMatchObject({ status: 1, stderr: expect.stringContaining('has no connector plugin') });
    expect(outcome.stderr).toContain(at.unused);
    expect(outcome.stderr).toContain('--mu-plugins');
    expect(filesIn(at.unused)).toContain('security-optimizer.php');
    expect(at.config().sites).toHaveLength(1);
    const all = await runInChild('attach', '--all', '--data-dir', at.dataDir);
    expect(all).toMatchObject({ status: 1, stderr: expect.stringContaining('Site site: What answers for the host') });
  });

  it('is no error where WordPress’s response confirms the folder, whatever PHP on the command line reports', async () => {
    const at = await site(skeleton);
    const connector = await runningWordPress({ ...at, loads: at.unused });
    expect(await at.attach(connector.upstream, '--mu-plugins', at.unused)).toMatchObject({ status: 0, stderr: '' });
    expect(filesIn(at.unused)).toContain('security-optimizer.php');
  });

  it('is also detected by sites import', async () => {
    const at = await site(skeleton);
    at.configure('exit;');
    const connector = await runningWordPress(at);
    const file = join(at.dataDir, 'import.json');
    const entry = { wordpressDir: at.wordpress, upstream: connector.upstream, hosts: ['*'] };
    writeFileSync(file, JSON.stringify({ sites: [entry] }));
    const outcome = await runInChild('sites', 'import', file, '--data-dir', at.dataDir);
    expect(outcome).toMatchObject({ status: 1, stderr: expect.stringContaining('has no connector plugin') });
  });
});

describe('read-only code', () => {
  const flat: SiteLayout = { core: '', content: 'wp-content', config: '' };

  it.skipIf(process.getuid?.() !== 0)(
    'is detected before anything is written: a read-only file system',
    async ({ skip }) => {
      for (const hasPlugins of [false, true]) {
        const at = await site(flat);
        const plugins = join(at.wordpress, 'wp-content', 'mu-plugins');
        if (hasPlugins) mkdirSync(plugins);
        setOwner(at.root);
        if (spawnSync('mount', ['--bind', at.root, at.root]).status !== 0) skip('Root may not mount here.');
        onTestFinished(() => void spawnSync('umount', [at.root]));
        expect(spawnSync('mount', ['-o', 'remount,ro,bind', at.root]).status).toBe(0);
        const refused = await at.attach(NOWHERE);
        expect(refused).toMatchObject({ status: 1, stdout: '' });
        expect(refused.stderr).toContain(`${hasPlugins ? plugins : dirname(plugins)} is on a read-only file system`);
        expect(refused.stderr).toContain('Attach the site where its code is made');
        expect(existsSync(join(at.dataDir, 'guard.json'))).toBe(false);
        expect(readdirSync(join(at.dataDir, 'sites'))).toEqual([]);
      }
    },
  );

  it.skipIf(!canSwitchUsers)(
    'is detected before anything is written: a folder that its owner may not write',
    async () => {
      const at = await machine();
      const content = join(at.wordpress, 'wp-content');
      chmodSync(content, 0o555);
      const before = snapshot(at.wordpress);
      const refused = at.attach();
      expect(refused).toMatchObject({ status: 1, stdout: '' });
      expect(refused.stderr).toContain(`User ${OWNER} may not write into ${content}`);
      expect(readdirSync(at.dataDir).sort()).toEqual(['config.lock', 'sites']);
      expect(readdirSync(join(at.dataDir, 'sites'))).toEqual([]);
      expect(snapshot(at.wordpress)).toEqual(before);
    },
  );

  it.skipIf(process.getuid?.() !== 0)(
    'leaves the configuration unchanged where it is detected only while writing: a full disk',
    async ({ skip }) => {
      const at = await site(flat);
      const content = join(at.wordpress, 'wp-content');
      if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=256k,uid=${OWNER}`, 'tmpfs', content]).status !== 0)
        skip('Root may not mount here.');
      onTestFinished(() => void spawnSync('umount', [content]));
      expect(await at.attach(NOWHERE)).toMatchObject({ status: 1, stderr: expect.stringContaining('ENOSPC') });
      expect(existsSync(join(at.dataDir, 'guard.json'))).toBe(false);
      expect(readdirSync(join(at.dataDir, 'sites'))).toEqual([]);
    },
  );
});

describe.skipIf(!canSwitchUsers || !hasPhp)(
  'the folder from which WordPress loads must-use plugins, read as root (skipped without root or PHP)',
  () => {
    /** A site of a user next to another site. */
    async function owned(layout: SiteLayout = { core: 'wp', content: 'content', config: '' }) {
      const at = await machine();
      const own = makeSite(join(at.root, 'own'), layout);
      changeOwner(own.root, OWNER);
      const line = ['--wordpress', own.wordpress, '--upstream', NOWHERE, '--listen', '127.0.0.1:0'];
      const attach = (...more: string[]) => runAsRoot('attach', ...line, '--data-dir', at.dataDir, ...more);
      return { ...at, own, attach };
    }

    it('runs the site’s code as its owner, with none of root’s groups', async () => {
      const { own, attach } = await owned();
      const file = join(own.root, 'who');
      own.configure(
        `file_put_contents( '${file}', implode( ' ', array_merge( array( posix_getuid(), posix_geteuid(), posix_getgid() ), posix_getgroups() ) ) );`,
      );
      expect(attach()).toMatchObject({ status: 0, stderr: '' });
      const [uid, euid, gid, ...groups] = readFileSync(file, 'utf8').split(' ').map(Number);
      expect([uid, euid]).toEqual([OWNER, OWNER]);
      expect([gid, ...groups]).not.toContain(0);
      expect(listOwners(own.loads)).toEqual([OWNER]);
      expect(listOwners(own.root)).toEqual([OWNER]);
    });

    it('never runs code with the group of wp-config.php, of which the owner may not be a member', async () => {
      const { own, attach } = await owned();
      const file = join(own.root, 'who');
      own.configure(
        `file_put_contents( '${file}', implode( ' ', array_merge( array( posix_getgid() ), posix_getgroups() ) ) );`,
      );
      spawnSync('chown', [`${OWNER}:33`, join(own.root, 'wp-config.php')]);
      expect(attach()).toMatchObject({ status: 0 });
      expect(readFileSync(file, 'utf8').split(' ')).not.toContain('33');
    });

    it('never runs code as root: code that belongs to root runs as nobody', async () => {
      const { root, own, attach } = await owned();
      changeOwner(own.root, 0);
      const file = join(root, 'who');
      writeFileSync(file, '');
      chmodSync(file, 0o666);
      own.configure(`file_put_contents( '${file}', (string) posix_geteuid() );`);
      attach();
      expect(readFileSync(file, 'utf8')).toBe('65534');
    });

    it.each([
      ['that belongs to another user', VICTIM],
      ['that belongs to root', 0],
    ])('installs nothing in a folder %s, which the site’s code names', async (_what, uid) => {
      const { own, attach, theirs, ofRoot, victim, dataDir } = await owned();
      const target = uid === 0 ? ofRoot : theirs;
      own.configure(`define( 'WPMU_PLUGIN_DIR', '${target}' );`);
      const before = [snapshot(victim), snapshot(ofRoot), snapshot(own.root)];
      const refused = attach();
      expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining(`--mu-plugins ${target}`) });
      expect(refused.stderr).toContain(own.unused);
      expect(refused.stderr).toContain(`belongs to user ${uid}`);
      expect([snapshot(victim), snapshot(ofRoot), snapshot(own.root)]).toEqual(before);
      expect(existsSync(join(dataDir, 'guard.json'))).toBe(false);
    });

    it('also checks ownership with a data folder of root’s, without another user in between', async () => {
      const { own, attach, theirs, victim, root } = await owned();
      own.configure(`define( 'WPMU_PLUGIN_DIR', '${theirs}' );`);
      const before = snapshot(victim);
      mkdirSync(join(root, 'data-of-root'));
      expect(attach('--data-dir', join(root, 'data-of-root'))).toMatchObject({ status: 1 });
      expect(snapshot(victim)).toEqual(before);
    });

    it('runs no code of a folder that the operator has not named', async () => {
      const { own, attach, victim, dataDir } = await owned();
      expect(attach().status).toBe(0);
      const file = join(victim, 'ran');
      writeFileSync(join(victim, 'wp-load.php'), `<?php touch( '${file}' );`);
      const config = join(dataDir, 'guard.json');
      writeFileSync(
        config,
        readFileSync(config, 'utf8').replaceAll(own.wordpress, victim).replaceAll(own.loads, victim),
      );
      expect(runAsRoot('attach', '--all', '--data-dir', dataDir).status).toBe(1);
      expect(existsSync(file)).toBe(false);
      expect(listOwners(dataDir)).toEqual([GUARD]);
    });
  },
);
