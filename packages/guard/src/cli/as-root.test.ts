import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { spawnServe } from '../../test/support/command-line.js';
import { eventually } from '../../test/support/scratch.js';
import { canMount, fillDisk, smallDisk } from '../../test/support/small-disk.js';
import {
  canSwitchUsers,
  changeOwner,
  GUARD,
  linkAs,
  listOwners,
  machine,
  makeWordPress,
  OWNER,
  program,
  runAsRoot,
  snapshot,
  VICTIM,
} from '../../test/support/users.js';
import { openSqlite } from '../storage/sqlite.js';
import { toKeyFileName } from '../wordpress/connector-secret.js';
import { runSiteTask, SiteFilesError } from '../wordpress/site-files.js';
import { findConnectorSources } from './connector-files.js';
import type { Finding } from './doctor-findings.js';

/**
 * Starts a process of the site's owner that swaps a folder and a link as fast as it can.
 * @returns a function that ends it and returns the number of swaps
 */
async function race(uid: number, folder: string, target: string): Promise<() => Promise<number>> {
  const program = `
    const { renameSync, symlinkSync, unlinkSync, mkdirSync } = require('node:fs');
    const [folder, target] = process.argv.slice(1);
    let swaps = 0, stopped = false;
    process.on('message', () => { stopped = true; });
    const quietly = (work) => { try { work(); } catch {} };
    const turn = () => {
      for (let i = 0; i < 200; i++) {
        quietly(() => { renameSync(folder, folder + '.aside'); });
        quietly(() => { symlinkSync(target, folder); swaps++; });
        quietly(() => { unlinkSync(folder); });
        quietly(() => { renameSync(folder + '.aside', folder); });
      }
      if (stopped) { quietly(() => unlinkSync(folder)); process.send(swaps, () => process.exit()); }
      else setImmediate(turn);
    };
    process.send('ready', turn);`;
  const child: ChildProcess = spawn(process.execPath, ['-e', program, folder, target], {
    uid,
    gid: uid,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  return async () => {
    const swaps = once(child, 'message');
    child.send('stop');
    return (await swaps)[0] as number;
  };
}

describe.skipIf(!canSwitchUsers)('attach and detach as root (skipped without root)', () => {
  it('write with the rights of the site’s owner, and give the key the readers of wp-config.php', async () => {
    const { wordpress, dataDir, attach, plugins, own } = await machine();
    chownSync(join(wordpress, 'wp-config.php'), OWNER, 33);
    expect(attach()).toMatchObject({ status: 0, stderr: '' });
    expect(listOwners(plugins)).toEqual([OWNER]);
    const key = lstatSync(join(own, 'secret.php'));
    expect([key.uid, key.gid, key.mode & 0o777]).toEqual([OWNER, 33, 0o640]);
    expect(runAsRoot('detach', '--data-dir', dataDir)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Detached: site.'),
    });
    expect(readdirSync(join(wordpress, 'wp-content'))).toEqual([]);
    expect(listOwners(dataDir)).toEqual([GUARD]);
  });

  it.each<[string, string, (at: Awaited<ReturnType<typeof machine>>) => string]>([
    ['wp-content', 'wp-content', (at) => join(at.victim, 'wp-content')],
    ['mu-plugins', 'wp-content/mu-plugins', (at) => at.theirs],
    [
      'the connector’s folder',
      'wp-content/mu-plugins/security-optimizer',
      (at) => join(at.theirs, 'security-optimizer'),
    ],
    ['the connector’s folder, to guard’s data folder', 'wp-content/mu-plugins/security-optimizer', (at) => at.dataDir],
    ['assets', 'wp-content/mu-plugins/security-optimizer/assets', (at) => join(at.theirs, 'security-optimizer/assets')],
    ['mu-plugins, to a folder of root’s', 'wp-content/mu-plugins', (at) => at.ofRoot],
  ])('refuse a link in the site: %s', async (_what, name, target) => {
    const at = await machine();
    expect(at.attach().status).toBe(0);
    const file = join(at.wordpress, name);
    renameSync(file, `${file}.aside`);
    linkAs(OWNER, target(at), file);
    const before = [snapshot(at.victim), snapshot(at.wordpress), snapshot(at.ofRoot)];
    const ours = () => {
      const config = readFileSync(join(at.dataDir, 'guard.json'), 'utf8');
      return [...readdirSync(at.dataDir, { recursive: true }), JSON.parse(config).sites, listOwners(at.dataDir)];
    };
    const data = ours();
    for (const again of [at.attach(), runAsRoot('detach', '--data-dir', at.dataDir)]) {
      expect(again).toMatchObject({ status: 1, stderr: expect.stringContaining(`${file} is a symbolic link`) });
    }
    expect([snapshot(at.victim), snapshot(at.wordpress), snapshot(at.ofRoot)]).toEqual(before);
    expect(ours()).toEqual(data);
  });

  it('refuse a folder in the site that belongs to another user, and name both', async () => {
    const { attach, plugins, dataDir, own } = await machine();
    mkdirSync(own, { recursive: true });
    chownSync(plugins, OWNER, OWNER);
    chownSync(own, VICTIM, VICTIM);
    const refused = attach();
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining(`${own} belongs to user ${VICTIM}`) });
    expect(refused.stderr).toContain(`user ${OWNER}`);
    expect(existsSync(join(dataDir, 'guard.json'))).toBe(false);
  });

  it('change nothing outside the site while its owner swaps folders and links', async () => {
    const { wordpress, victim, theirs, dataDir, attach, plugins, own } = await machine();
    expect(attach().status).toBe(0);
    const before = [snapshot(victim), snapshot(join(dataDir, 'sites'))];
    const sources = await findConnectorSources();
    const content = { secret: 'a'.repeat(64), requireGuard: true };
    const recorded = readFileSync(join(dataDir, 'sites', 'site.files'), 'utf8')
      .trim()
      .split('\n');
    const folders = { wordpressDir: wordpress };
    const tasks = [
      { kind: 'restore-key', content, onlyIfLacking: false },
      { kind: 'install', sources, content, recorded, shared: null, key: 'secret.php' },
      { kind: 'install', sources, content, recorded, shared: null, key: 'by-path' },
      { kind: 'restore-key', content, onlyIfLacking: true },
      { kind: 'remove', recorded, secret: content.secret, isInUse: false, part: 'all', drainMs: 0 },
    ] as const;
    let done = 0;
    for (const [folder, target] of [
      [plugins, theirs],
      [own, dataDir],
      [own, join(theirs, 'security-optimizer')],
      [join(own, 'assets'), join(theirs, 'security-optimizer', 'assets')],
    ] as const) {
      const stop = await race(OWNER, folder, target);
      for (let round = 0; round < 2; round++) {
        for (const task of tasks) {
          const outcome = await runSiteTask(folders, task).catch((error: unknown) => error);
          if (outcome instanceof Error) expect(outcome).toBeInstanceOf(SiteFilesError);
          else done++;
        }
      }
      expect(await stop()).toBeGreaterThan(0);
      rmSync(plugins, { recursive: true, force: true });
      rmSync(`${plugins}.aside`, { recursive: true, force: true });
    }
    expect(done).toBeGreaterThan(0);
    expect([snapshot(victim), snapshot(join(dataDir, 'sites'))]).toEqual(before);
    expect(listOwners(dataDir)).toEqual([GUARD]);
  });

  it('change nothing outside while the folders above the site are swapped, with the complete commands', async () => {
    const { root, victim, theirs, dataDir } = await machine();
    const home = join(root, 'home');
    mkdirSync(home);
    const wordpress = makeWordPress(join(home, 'public', 'site'), OWNER);
    changeOwner(home, OWNER);
    mkdirSync(join(root, 'elsewhere'));
    renameSync(victim, join(root, 'elsewhere', 'site'));
    const before = snapshot(join(root, 'elsewhere'));
    expect(before.join()).toContain(theirs.slice(victim.length));
    const stop = await race(OWNER, join(home, 'public'), join(root, 'elsewhere'));
    for (let round = 0; round < 4; round++) {
      const options = ['--upstream', 'http://127.0.0.1:1', '--listen', '127.0.0.1:0', '--data-dir', dataDir];
      runAsRoot('attach', '--wordpress', wordpress, ...options);
      runAsRoot('detach', '--data-dir', dataDir);
    }
    expect(await stop()).toBeGreaterThan(0);
    expect(snapshot(join(root, 'elsewhere'))).toEqual(before);
    expect(listOwners(dataDir)).toEqual([GUARD]);
  });

  it('follow a link to the site that root has created, and none with which its owner leads to another site', async () => {
    const { root, wordpress, victim, dataDir, attach } = await machine();
    symlinkSync(wordpress, join(root, 'current'));
    expect(attach('--wordpress', join(root, 'current'))).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(join(dataDir, 'guard.json'), 'utf8')).toContain(`"${join(root, 'current')}"`);
    expect(existsSync(join(wordpress, 'wp-content', 'mu-plugins', 'security-optimizer.php'))).toBe(true);
    const before = snapshot(victim);
    linkAs(OWNER, victim, join(root, 'mine'));
    const refused = attach('--wordpress', join(root, 'mine'), '--host', 'two.example');
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('leads to a folder of user') });
    expect(snapshot(victim)).toEqual(before);
  });

  it('do not let guard’s user choose where root installs: a folder that only the configuration names must belong to the site’s owner', async () => {
    const { theirs, victim, dataDir, attach } = await machine();
    expect(attach().status).toBe(0);
    const file = join(dataDir, 'guard.json');
    const config = JSON.parse(readFileSync(file, 'utf8'));
    config.sites[0].muPluginsDir = theirs;
    writeFileSync(file, JSON.stringify(config));
    const before = snapshot(victim);
    expect(attach()).toMatchObject({ status: 1, stderr: expect.stringContaining(`belongs to user ${VICTIM}`) });
    expect(snapshot(victim)).toEqual(before);
  });

  it('use the first owner below root’s folders, and the owner of a folder that the operator names', async () => {
    const { wordpress, attach, plugins, dataDir } = await machine();
    changeOwner(wordpress, 0);
    chownSync(join(wordpress, 'wp-content'), OWNER, OWNER);
    expect(attach()).toMatchObject({ status: 0, stderr: '' });
    expect(listOwners(plugins)).toEqual([OWNER]);
    expect(runAsRoot('detach', '--data-dir', dataDir).status).toBe(0);
    changeOwner(wordpress, VICTIM);
    chownSync(join(wordpress, 'wp-content'), OWNER, OWNER);
    expect(attach()).toMatchObject({ status: 1, stderr: expect.stringContaining('--mu-plugins') });
    expect(attach('--mu-plugins', plugins)).toMatchObject({ status: 0, stderr: '' });
    expect(listOwners(plugins)).toEqual([OWNER]);
  });

  it('replace a name that is no regular file of guard’s without opening it: FIFOs, links, hard links', async () => {
    const { victim, theirs, attach, plugins, own } = await machine();
    mkdirSync(own, { recursive: true });
    changeOwner(plugins, OWNER);
    execFileSync('mkfifo', [join(own, 'secret.php'), join(plugins, 'security-optimizer.php')]);
    execFileSync('chmod', ['666', join(own, 'secret.php'), join(plugins, 'security-optimizer.php')]);
    expect(attach()).toMatchObject({ status: 0, stderr: '' });
    expect(lstatSync(join(own, 'secret.php')).isFile()).toBe(true);
    const before = snapshot(victim);
    const target = join(theirs, 'security-optimizer', 'secret.php');
    rmSync(join(own, 'secret.php'));
    linkAs(OWNER, target, join(own, 'secret.php'));
    rmSync(join(plugins, 'security-optimizer.php'));
    linkSync(target, join(plugins, 'security-optimizer.php'));
    expect(attach()).toMatchObject({ status: 0, stderr: '' });
    expect(snapshot(victim)).toEqual(before);
    expect(listOwners(plugins)).toEqual([OWNER]);
  });

  it('report that a folder is in the way of a file, and change nothing', async () => {
    const { wordpress, attach, own } = await machine();
    mkdirSync(join(own, 'secret.php'), { recursive: true });
    changeOwner(join(wordpress, 'wp-content'), OWNER);
    const before = snapshot(wordpress);
    expect(attach()).toMatchObject({ status: 1, stderr: expect.stringContaining('secret.php is a folder') });
    expect(snapshot(wordpress)).toEqual(before);
  });

  it('leave the site unchanged when its disk is full', async ({ skip }) => {
    const { attach, wordpress, dataDir } = await machine();
    const content = join(wordpress, 'wp-content');
    const options = ['-t', 'tmpfs', '-o', `size=256k,uid=${OWNER},gid=${OWNER},mode=755`, 'tmpfs', content];
    if (spawnSync('mount', options).status !== 0) skip('This machine does not let root mount a small disk.');
    onTestFinished(() => void spawnSync('umount', [content]));
    const before = snapshot(wordpress);
    expect(attach()).toMatchObject({ status: 1, stderr: expect.stringContaining('ENOSPC') });
    expect(snapshot(wordpress)).toEqual(before);
    expect(listOwners(dataDir)).toEqual([GUARD]);
  });

  it('delete no name that was not recorded, and none outside the connector whatever the record says', async () => {
    const { wordpress, dataDir, attach, own, plugins } = await machine();
    expect(attach().status).toBe(0);
    for (const name of ['notes.txt', 'assets/own.js']) writeFileSync(join(own, name), 'mine');
    writeFileSync(join(plugins, 'other.php'), 'mine');
    const record = join(dataDir, 'sites', 'site.files');
    const wrong = ['../../wp-config.php', 'other.php', '/no/such/file', 'security-optimizer/../other.php'];
    writeFileSync(record, `${readFileSync(record, 'utf8')}${wrong.join('\n')}\n`);
    const detached = runAsRoot('detach', '--data-dir', dataDir);
    expect(detached).toMatchObject({ status: 0, stderr: expect.stringContaining('did not write. They were left.') });
    expect((readdirSync(plugins, { recursive: true }) as string[]).sort()).toEqual([
      'other.php',
      'security-optimizer',
      'security-optimizer/assets',
      'security-optimizer/assets/own.js',
      'security-optimizer/notes.txt',
    ]);
    expect(existsSync(join(wordpress, 'wp-config.php'))).toBe(true);
  });

  it('continue with the other sites when one site’s owner prevents the work in it', async () => {
    const { root, wordpress, victim, dataDir, attach, plugins } = await machine();
    rmSync(join(victim, 'wp-content', 'mu-plugins'), { recursive: true });
    expect(attach('--host', 'one.example').status).toBe(0);
    expect(attach('--wordpress', victim, '--host', 'two.example').status).toBe(0);
    renameSync(plugins, `${plugins}.aside`);
    linkAs(OWNER, root, plugins);
    const detached = runAsRoot('detach', '--data-dir', dataDir);
    expect(detached).toMatchObject({ status: 1, stdout: expect.stringContaining('Detached: two-example.') });
    expect(detached.stderr).toContain('one-example stays attached:');
    expect(readFileSync(join(dataDir, 'guard.json'), 'utf8')).toContain(`"${wordpress}"`);
    expect(readdirSync(join(victim, 'wp-content'))).toEqual([]);
  });

  it('give each site in root’s shared folder of must-use plugins a key that only its own user can read', async () => {
    const { root, wordpress, victim, dataDir, attach, ofRoot } = await machine();
    const plugins = join(ofRoot, 'mu-plugins');
    mkdirSync(plugins);
    const at = ['--mu-plugins', plugins];
    // Nothing states that the folder is shared, but it belongs to root, and the site does not.
    expect(attach(...at, '--host', 'one.example')).toMatchObject({ status: 0, stderr: '' });
    expect(attach('--wordpress', victim, ...at, '--host', 'two.example')).toMatchObject({ status: 0, stderr: '' });
    const toKeyFile = (site: string) => join(plugins, 'security-optimizer', 'keys', toKeyFileName(site));
    for (const [site, uid] of [
      [wordpress, OWNER],
      [victim, VICTIM],
    ] as const) {
      const key = lstatSync(toKeyFile(site));
      expect([key.uid, key.gid, key.mode & 0o777]).toEqual([uid, uid, 0o640]);
      const read = (by: number) => spawnSync('cat', [toKeyFile(site)], { uid: by, gid: by }).status;
      expect([read(OWNER), read(VICTIM)]).toEqual(uid === OWNER ? [0, 1] : [1, 0]);
    }
    expect(existsSync(join(plugins, 'security-optimizer', 'secret.php'))).toBe(false);
    expect(lstatSync(join(plugins, 'security-optimizer', 'keys')).uid).toBe(0);
    // Neither site can put anything in place of the other's key, and root follows no link there.
    const key = readFileSync(toKeyFile(victim), 'utf8');
    rmSync(toKeyFile(wordpress));
    linkAs(OWNER, toKeyFile(victim), toKeyFile(wordpress));
    expect(attach(...at)).toMatchObject({ status: 0, stderr: '' });
    expect([readFileSync(toKeyFile(victim), 'utf8'), lstatSync(toKeyFile(wordpress)).isFile()]).toEqual([key, true]);
    const detach = (...more: string[]) => runAsRoot('detach', '--data-dir', dataDir, ...more);
    // Guard's user can change the configuration, so root works in its own folders only where the operator names them.
    expect(detach('--site', 'one-example')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('--mu-plugins'),
    });
    expect(detach('--site', 'one-example', ...at)).toMatchObject({ status: 0 });
    expect([existsSync(toKeyFile(wordpress)), readFileSync(toKeyFile(victim), 'utf8')]).toEqual([false, key]);
    expect(existsSync(join(plugins, 'security-optimizer.php'))).toBe(true);
    const findings = JSON.parse(
      runAsRoot('doctor', 'two-example', '--data-dir', dataDir, '--json').stdout,
    ) as Finding[];
    expect(findings.filter(({ check }) => check === 'permissions')).toMatchObject([{ state: 'ok' }]);
    expect(detach(...at).status).toBe(0);
    expect(existsSync(join(root, 'of-root', 'mu-plugins'))).toBe(false);
    expect(listOwners(dataDir)).toEqual([GUARD]);
  });

  it('refuse a link in place of the folder with the keys', async () => {
    const { victim, ofRoot, attach } = await machine();
    const plugins = join(ofRoot, 'mu-plugins');
    mkdirSync(join(plugins, 'security-optimizer'), { recursive: true });
    const before = snapshot(victim);
    linkAs(OWNER, victim, join(plugins, 'security-optimizer', 'keys'));
    expect(attach('--mu-plugins', plugins)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('keys is a symbolic link'),
    });
    expect(snapshot(victim)).toEqual(before);
  });

  it('print no control characters of a name to the terminal', async () => {
    const { root } = await machine();
    const odd = makeWordPress(join(root, 'odd\u001b]0;x\u0007'), OWNER);
    linkAs(OWNER, root, join(odd, 'wp-content', 'mu-plugins'));
    const folders = { wordpressDir: odd };
    const refused = await runSiteTask(folders, { kind: 'inspect' }).catch((error: Error) => error.message);
    expect(refused).toContain('is a symbolic link');
    expect(refused).not.toMatch(/\p{Cc}/u);
  });
});

describe.skipIf(!canSwitchUsers)('doctor as root (skipped without root)', () => {
  const permissions = (dataDir: string) => {
    const { stdout, stderr } = runAsRoot('doctor', 'site', '--data-dir', dataDir, '--json');
    expect(stderr).toBe('');
    return (JSON.parse(stdout) as Finding[]).filter(({ check }) => check === 'permissions');
  };

  it('checks files of a site that guard’s user may not enter, and changes nothing', async () => {
    const { wordpress, dataDir, attach } = await machine();
    expect(attach().status).toBe(0);
    chmodSync(wordpress, 0o700);
    const before = [snapshot(wordpress), snapshot(dataDir)];
    expect(permissions(dataDir)).toMatchObject([{ state: 'ok' }]);
    expect([snapshot(wordpress), snapshot(dataDir)]).toEqual(before);
  });

  it('reports a link in the site, and root’s files in the data folder', async () => {
    const { wordpress, theirs, dataDir, attach } = await machine();
    expect(attach().status).toBe(0);
    const plugins = join(wordpress, 'wp-content', 'mu-plugins');
    renameSync(plugins, `${plugins}.aside`);
    linkAs(OWNER, theirs, plugins);
    writeFileSync(join(dataDir, 'two-factor.key'), 'key', { mode: 0o600 });
    expect(permissions(dataDir)).toMatchObject([
      { state: 'problem', message: expect.stringContaining('two-factor.key does not belong to user') },
      { state: 'problem', message: expect.stringContaining('is a symbolic link') },
    ]);
  });
});

describe.skipIf(!canSwitchUsers)('the data folder of a command as root (skipped without root)', () => {
  it('is created for the user that was named, and stays theirs through every command; guard starts in it', async () => {
    const { root, attach } = await machine();
    const dataDir = join(root, 'lib', 'guard');
    mkdirSync(dirname(dataDir));
    const at = ['--data-dir', dataDir];
    expect(attach(...at, '--user', 'nobody')).toMatchObject({ status: 0, stderr: '' });
    const nobody = lstatSync(dataDir).uid;
    expect([nobody, lstatSync(dataDir).mode & 0o777]).toEqual([Number(execFileSync('id', ['-u', 'nobody'])), 0o700]);
    const commands = [
      ['status', ...at],
      ['unblock', '--all', ...at],
      ['pause', '5', ...at],
      ['resume', ...at],
      ['login-url', 'reset', ...at],
      ['login-access', 'clear', ...at],
      ['away-mode', 'off', ...at],
      ['two-factor', 'reset', 'owner', ...at],
      ['status', ...at],
    ];
    for (const command of commands) {
      expect(runAsRoot(...command).stderr).not.toMatch(/EACCES|EPERM|at .*:\d+:\d+/);
      expect([command[0], listOwners(dataDir)]).toEqual([command[0], [nobody]]);
    }
    const { child, log } = spawnServe(dataDir, {}, [], program);
    await eventually(() => log().includes('guard-started'));
    expect(runAsRoot('status', ...at).stdout).toContain('Guard:     running');
    expect(runAsRoot('unblock', '--all', ...at).status).toBe(0);
    expect(listOwners(dataDir)).toEqual([nobody]);
    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(runAsRoot('detach', ...at).status).toBe(0);
    expect(listOwners(dataDir)).toEqual([nobody]);
    const own = spawn(process.execPath, [program, 'serve', ...at], { uid: nobody, gid: nobody, stdio: 'pipe' });
    onTestFinished(() => void own.kill('SIGKILL'));
    const output = await once(own.stderr, 'data');
    expect(String(output[0])).not.toMatch(/EACCES|EPERM|readonly/);
  });

  it('is not given to another user by a repeated attach, nor created where others could change it', async () => {
    const { root, attach, dataDir } = await machine();
    expect(attach('--user', 'nobody')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('chown -R nobody:'),
    });
    mkdirSync(join(root, 'open'));
    chmodSync(join(root, 'open'), 0o777);
    const refused = attach('--data-dir', join(root, 'open', 'data'), '--user', 'nobody');
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('Others than root may change') });
    expect(attach('--user', 'no such user')).toMatchObject({ status: 2, stderr: expect.stringContaining('no user') });
    expect(listOwners(dataDir)).toEqual([GUARD]);
  });

  it('makes root follow none of its links', async () => {
    const { ofRoot: secret, dataDir, attach } = await machine();
    expect(attach().status).toBe(0);
    chmodSync(secret, 0o700);
    writeFileSync(join(secret, 'guard.json'), '{"listen": "nonsense of root’s"}');
    chmodSync(join(secret, 'guard.json'), 0o600);
    const before = snapshot(secret);
    renameSync(join(dataDir, 'sites'), join(dataDir, 'aside'));
    linkAs(GUARD, secret, join(dataDir, 'sites'));
    expect(attach().status).toBe(1);
    rmSync(join(dataDir, 'guard.json'));
    linkAs(GUARD, join(secret, 'guard.json'), join(dataDir, 'guard.json'));
    for (const command of [['status'], ['unblock', '--all'], ['detach'], ['serve']]) {
      const { status, stderr } = runAsRoot(...command, '--data-dir', dataDir);
      expect(status).toBe(1);
      expect(stderr).not.toContain('HOST:PORT');
    }
    expect(snapshot(secret)).toEqual(before);
  });
});

describe.skipIf(!canSwitchUsers)('the files that root names (skipped without root)', () => {
  /** A machine with an attached site, and a folder that only root may enter. */
  async function attached() {
    const at = await machine();
    expect(at.attach('--host', 'example.com').status).toBe(0);
    const ofRoot = join(at.root, 'root');
    mkdirSync(ofRoot, { mode: 0o700 });
    return { ...at, ofRoot };
  }

  it('are read where only root may read them: settings to import', async () => {
    const { dataDir, ofRoot } = await attached();
    const file = join(ofRoot, 'settings.json');
    writeFileSync(file, '{"settings":{"disable_feed":1}}', { mode: 0o600 });
    expect(runAsRoot('settings', 'import', file, '--data-dir', dataDir)).toMatchObject({ status: 0, stderr: '' });
    expect(listOwners(dataDir)).toEqual([GUARD]);
  });

  it('are read where only root may read them: sites to import', async () => {
    const { dataDir, ofRoot, wordpress } = await attached();
    const file = join(ofRoot, 'sites.json');
    const site = { upstream: 'http://127.0.0.1:1', hosts: ['example.com'], wordpressDir: wordpress };
    writeFileSync(file, JSON.stringify({ sites: [site] }), { mode: 0o600 });
    expect(runAsRoot('sites', 'import', file, '--data-dir', dataDir)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('1 of 1 sites are attached.'),
    });
    expect(listOwners(dataDir)).toEqual([GUARD]);
  });

  it.each([
    ['settings', 'import'],
    ['sites', 'import'],
  ])('are refused when they are no files of a moderate size: %s %s', async (...command) => {
    const { dataDir, ofRoot } = await attached();
    const large = join(ofRoot, 'large.json');
    writeFileSync(large, '');
    truncateSync(large, 17 * 1024 * 1024);
    for (const [file, reason] of [
      [large, 'is larger than 16 MB'],
      ['/dev/zero', 'is not a file'],
      [ofRoot, 'is not a file'],
      [join(ofRoot, 'missing.json'), 'can’t be read (ENOENT)'],
    ] as const) {
      const { status, stderr } = runAsRoot(...command, file, '--data-dir', dataDir);
      expect([status, stderr]).toEqual([1, `${file} ${reason}.\n`]);
    }
  });

  it('are written for the owner of the data folder: a back-up below a folder of root’s, which the owner restores', async () => {
    const { dataDir, root } = await attached();
    const backUps = join(root, 'backups');
    mkdirSync(backUps, { mode: 0o755 });
    const folder = join(backUps, 'today');
    expect(runAsRoot('back-up', folder, '--data-dir', dataDir)).toMatchObject({ status: 0, stderr: '' });
    expect(listOwners(folder)).toEqual([GUARD]);
    expect(lstatSync(folder).mode & 0o777).toBe(0o700);
    const restored = runAsRoot('restore', folder, '--data-dir', dataDir, '--replace');
    expect(restored).toMatchObject({ status: 0, stderr: '' });
    expect(listOwners(dataDir)).toEqual([GUARD]);
  });

  it('are not written where the owner of the data folder can’t go, or others could exchange them; the message says where else', async () => {
    const { dataDir, root, ofRoot, victim } = await attached();
    chmodSync(victim, 0o777);
    const ownedByRoot = join(root, 'backups');
    mkdirSync(ownedByRoot, { mode: 0o755 });
    for (const [folder, reason] of [
      [join(ofRoot, 'back-up'), `may not enter ${ofRoot}`],
      [join(victim, 'back-up'), `Others than root may change ${victim}`],
      [ownedByRoot, `belongs to user 0`],
      [join(root, 'missing', 'back-up'), `There is no folder ${join(root, 'missing')}`],
    ] as const) {
      const { status, stderr } = runAsRoot('back-up', folder, '--data-dir', dataDir);
      expect([status, stderr]).toEqual([1, expect.stringContaining(reason)]);
      expect(stderr).toContain('/var/backups');
    }
    expect(readdirSync(ofRoot)).toEqual([]);
    expect(lstatSync(ownedByRoot).uid).toBe(0);
  });

  it('of a back-up that belongs to root are not restored, and the message gives the remedy', async () => {
    const { dataDir, root } = await attached();
    const backUps = join(root, 'backups');
    mkdirSync(backUps, { mode: 0o755 });
    const folder = join(backUps, 'copied');
    expect(runAsRoot('back-up', folder, '--data-dir', dataDir).status).toBe(0);
    changeOwner(folder, 0);
    const refused = runAsRoot('restore', folder, '--data-dir', dataDir, '--replace');
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining(`chown -R ${GUARD} ${folder}`) });
    changeOwner(folder, GUARD);
    expect(runAsRoot('restore', folder, '--data-dir', dataDir, '--replace').status).toBe(0);
  });

  it('are written where only root may write: what is stored about a person, for root alone', async () => {
    const { dataDir, ofRoot } = await attached();
    const output = join(ofRoot, 'mia.json');
    const call = (...more: string[]) =>
      runAsRoot('privacy', 'export', '--user', 'mia', '--output', output, '--data-dir', dataDir, ...more);
    expect(call('--site', 'missing')).toMatchObject({ status: 1, stderr: expect.stringContaining('missing') });
    expect(existsSync(output)).toBe(false);
    expect(call()).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(readFileSync(output, 'utf8'))).toMatchObject({ person: { user: { logins: ['mia'] } } });
    expect([lstatSync(output).uid, lstatSync(output).mode & 0o777]).toEqual([0, 0o600]);
    const written = snapshot(ofRoot);
    expect(call()).toMatchObject({ status: 1, stderr: expect.stringContaining('is there already') });
    writeFileSync(join(ofRoot, 'empty'), '');
    const toEmpty = ['privacy', 'export', '--user', 'mia', '--output', join(ofRoot, 'empty'), '--data-dir', dataDir];
    expect(runAsRoot(...toEmpty)).toMatchObject({ status: 1, stderr: expect.stringContaining('is there already') });
    rmSync(join(ofRoot, 'empty'));
    expect(snapshot(ofRoot)).toEqual(written);
  });

  it('leave nothing of a back-up that fails, and a folder that was there stays', async () => {
    const { dataDir, root } = await attached();
    const config = join(dataDir, 'guard.json');
    const named = { ...JSON.parse(readFileSync(config, 'utf8')), trustedProxies: ['file:missing.txt'] };
    writeFileSync(config, JSON.stringify(named));
    const backUps = join(root, 'backups');
    mkdirSync(join(backUps, 'mine'), { recursive: true, mode: 0o755 });
    changeOwner(join(backUps, 'mine'), GUARD);
    for (const name of ['new', 'mine']) {
      const failed = runAsRoot('back-up', join(backUps, name), '--data-dir', dataDir);
      expect(failed).toMatchObject({ status: 1, stderr: expect.stringContaining('missing.txt: can’t be read') });
    }
    expect(runAsRoot('back-up', join(backUps, 'new'), '--data-dir', dataDir, '--colour').status).toBe(2);
    expect(readdirSync(backUps, { recursive: true })).toEqual(['mine']);
  });

  /** Whether a process that was started by this one waits in a folder. */
  const isHeld = (pid: number | undefined, folder: string) =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .some((child) => child !== '' && readlinkSync(`/proc/${child}/cwd`) === folder);

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const)(
    'leave nothing of a command that %s ends',
    async (signal) => {
      const { dataDir, root, ofRoot } = await attached();
      expect(runAsRoot('pause', '5', '--data-dir', dataDir).status).toBe(0);
      const backUps = join(root, 'backups');
      mkdirSync(backUps, { mode: 0o755 });
      // Both commands wait for this transaction.
      const database = openSqlite(join(dataDir, 'guard.sqlite'), { busyTimeoutMs: 5000 });
      database.exec('pragma journal_mode = delete');
      database.exec('begin exclusive');
      onTestFinished(() => database.close());
      for (const [place, command] of [
        [join(ofRoot, 'mia.json'), ['privacy', 'export', '--user', 'mia', '--output', join(ofRoot, 'mia.json')]],
        [join(backUps, 'today'), ['back-up', join(backUps, 'today')]],
      ] as const) {
        const child = spawn(process.execPath, [program, ...command, '--data-dir', dataDir], { stdio: 'ignore' });
        const ended = once(child, 'exit');
        onTestFinished(() => void child.kill('SIGKILL'));
        // SIGKILL can't be delayed until somebody else is in charge of what was created.
        await eventually(() => existsSync(place) && (signal !== 'SIGKILL' || isHeld(child.pid, dirname(place))));
        if (signal === 'SIGKILL' && place.startsWith(backUps)) {
          // It can't remove its own parts.
          mkdirSync(join(place, 'secrets'));
          writeFileSync(join(place, 'secrets', 'part'), '');
          changeOwner(join(place, 'secrets'), GUARD);
        }
        child.kill(signal);
        expect((await ended)[0]).not.toBe(0);
        await eventually(() => !existsSync(place));
      }
      expect([readdirSync(ofRoot), readdirSync(backUps)]).toEqual([[], []]);
    },
  );

  it('leave nothing of a file for which the disk has no room', async ({ skip }) => {
    if (!canMount()) return skip('nothing can be mounted here');
    const { dataDir } = await attached();
    const disk = await smallDisk('1m');
    await fillDisk(disk);
    const output = join(disk, 'mia.json');
    expect(runAsRoot('privacy', 'export', '--user', 'mia', '--output', output, '--data-dir', dataDir)).toMatchObject({
      status: 1,
      stderr: `${output} can’t be written: the disk of ${disk} is full. Nothing is left of it.\n`,
    });
    expect(readdirSync(disk)).toEqual(['ballast']);
  });
});
