import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bin, runIn, runInChild } from '../../test/support/command-line.js';
import { eventually, scratchFolder } from '../../test/support/scratch.js';
import { canMount, fillDisk, smallDisk } from '../../test/support/small-disk.js';
import { wordpressFolder } from '../../test/support/wordpress-folder.js';
import { parseConfig } from '../config/parse-config.js';

/** Arguments of an `attach` of a new WordPress. */
const toAttachArgs = (dataDir: string, wordpress: string, ...hosts: string[]): string[] => [
  ...['attach', '--wordpress', wordpress, '--upstream', 'http://127.0.0.1:1', '--listen', '127.0.0.1:0'],
  ...['--data-dir', dataDir, ...hosts.flatMap((host) => ['--host', host])],
];

async function readSites(dataDir: string) {
  const parsed = parseConfig(await readFile(join(dataDir, 'guard.json'), 'utf8'));
  if ('mistakes' in parsed) throw new Error(parsed.mistakes.join('\n'));
  return parsed.config.sites;
}

/** The key that WordPress reads. */
async function keyInWordPress(wordpress: string): Promise<string | undefined> {
  const php = await readFile(join(wordpress, 'wp-content/mu-plugins/security-optimizer/secret.php'), 'utf8');
  return /'secret' => '([0-9a-f]{64})'/.exec(php)?.[1];
}

describe('commands that change the configuration at the same time', () => {
  it('8 attach at once: all 8 sites are in the configuration, each with its own id and the key that its WordPress has', async () => {
    const dataDir = await scratchFolder();
    // Pairs of names that would produce the same id.
    const hosts = [1, 2, 3, 4].flatMap((number) => [`shop${number}.example.com`, `shop${number}-example.com`]);
    const folders = await Promise.all(hosts.map(() => wordpressFolder()));
    const done = await Promise.all(
      hosts.map((host, index) => runInChild(...toAttachArgs(dataDir, folders[index] as string, host))),
    );
    expect(done.map(({ status, stderr }) => [status, stderr])).toEqual(hosts.map(() => [0, '']));
    const sites = await readSites(dataDir);
    expect(sites.flatMap((site) => site.hosts).sort()).toEqual([...hosts].sort());
    expect(new Set(sites.map(({ id }) => id)).size).toBe(8);
    for (const { id, wordpressDir } of sites) {
      const secret = (await readFile(join(dataDir, 'sites', `${id}.secret`), 'utf8')).trim();
      expect(await keyInWordPress(wordpressDir as string)).toBe(secret);
    }
  });

  it('4 attach of the same WordPress at once make one site', async () => {
    const [dataDir, wordpress] = [await scratchFolder(), await wordpressFolder()];
    const done = await Promise.all([1, 2, 3, 4].map(() => runInChild(...toAttachArgs(dataDir, wordpress))));
    expect(done.map(({ status, stderr }) => [status, stderr])).toEqual([1, 2, 3, 4].map(() => [0, '']));
    expect(await readSites(dataDir)).toMatchObject([{ id: 'site' }]);
    expect(await keyInWordPress(wordpress)).toBe((await readFile(join(dataDir, 'sites/site.secret'), 'utf8')).trim());
  });

  it('attach and detach of different sites at once: the attached site is stored, the detached one is not', async () => {
    const dataDir = await scratchFolder();
    const folders = await Promise.all([1, 2, 3, 4, 5, 6].map(() => wordpressFolder()));
    const args = (index: number) => toAttachArgs(dataDir, folders[index] as string, `s${index}.example.com`);
    for (const index of [0, 1, 2]) expect((await runInChild(...args(index))).status).toBe(0);
    const done = await Promise.all([
      ...[0, 1, 2].map((index) => runInChild('detach', '--data-dir', dataDir, '--site', `s${index}-example-com`)),
      ...[3, 4, 5].map((index) => runInChild(...args(index))),
    ]);
    expect(done.map(({ status }) => status)).toEqual([0, 0, 0, 0, 0, 0]);
    expect((await readSites(dataDir)).map(({ id }) => id).sort()).toEqual([3, 4, 5].map((n) => `s${n}-example-com`));
  });

  it('a command that was killed while it changed the configuration blocks no other command', async () => {
    const dataDir = await scratchFolder();
    expect((await runInChild(...toAttachArgs(dataDir, await wordpressFolder(), 'a.example.com'))).status).toBe(0);
    // The first command blocks in the middle of its change, because it reads a pipe that nobody writes to.
    const traffic = join(dataDir, 'sites', 'b-example-com.traffic');
    execFileSync('mkfifo', ['-m', '600', traffic]);
    const wordpress = await wordpressFolder();
    const site = {
      id: 'b-example-com',
      upstream: 'http://127.0.0.1:1',
      hosts: ['b.example.com'],
      wordpressDir: wordpress,
      requireGuard: false,
    };
    await writeFile(join(dataDir, 'guard.json'), JSON.stringify({ sites: [...(await readSites(dataDir)), site] }));
    const args = [...toAttachArgs(dataDir, wordpress), '--require-guard'];
    const holder = spawn(process.execPath, [bin, ...args], { stdio: 'ignore' });
    onTestFinished(() => void holder.kill('SIGKILL'));
    // A writer can open the pipe only while it is being read.
    const writer = spawn('sh', ['-c', `exec 3>"$0"; echo open; exec sleep 600`, traffic], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void writer.kill('SIGKILL'));
    await once(writer.stdout, 'data');
    let ended = false;
    const second = runInChild(...toAttachArgs(dataDir, await wordpressFolder(), 'c.example.com')).finally(() => {
      ended = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(ended).toBe(false);
    holder.kill('SIGKILL');
    expect(await second).toMatchObject({ status: 0, stderr: '' });
    expect((await readSites(dataDir)).map(({ id }) => id)).toEqual(['a-example-com', 'b-example-com', 'c-example-com']);
  });

  it('a command that is killed at any moment leaves the old configuration or the new one, and the next command succeeds', async () => {
    const dataDir = await scratchFolder();
    expect((await runInChild(...toAttachArgs(dataDir, await wordpressFolder(), 'a.example.com'))).status).toBe(0);
    for (let round = 0; round < 12; round++) {
      const args = toAttachArgs(dataDir, await wordpressFolder(), `killed${round}.example.com`);
      const child = spawn(process.execPath, [bin, ...args], { stdio: 'ignore' });
      const ended = once(child, 'exit');
      const before = await readFile(join(dataDir, 'guard.json'), 'utf8');
      if (round % 2 === 0) await new Promise((resolve) => setTimeout(resolve, 100 + round * 60));
      // Just after the moment when the file is written.
      else
        await eventually(
          async () => child.exitCode !== null || (await readFile(join(dataDir, 'guard.json'), 'utf8')) !== before,
        );
      child.kill('SIGKILL');
      await ended;
      expect((await readSites(dataDir))[0]?.id).toBe('a-example-com');
    }
    expect((await runInChild(...toAttachArgs(dataDir, await wordpressFolder(), 'z.example.com'))).status).toBe(0);
    expect((await readSites(dataDir)).at(-1)?.id).toBe('z-example-com');
    expect((await readdir(dataDir)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});

describe('a configuration that a command can’t write', () => {
  const attachOne = async (dataDir: string) =>
    runInChild(...toAttachArgs(dataDir, await wordpressFolder(), 'new.example.com'));

  it.skipIf(process.getuid?.() !== 0 || !hasImmutableFiles())('leaves no key of the new site', async () => {
    const dataDir = await scratchFolder();
    expect((await attachOne(dataDir)).status).toBe(0);
    const file = join(dataDir, 'guard.json');
    const before = await readFile(file, 'utf8');
    execFileSync('chattr', ['+i', file]);
    try {
      const wordpress = await wordpressFolder();
      const refused = await runInChild(...toAttachArgs(dataDir, wordpress, 'other.example.com'));
      expect(refused).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('EPERM') });
      expect((await readdir(join(dataDir, 'sites'))).filter((name) => name.startsWith('other'))).toEqual([]);
      expect(await readFile(file, 'utf8')).toBe(before);
      expect(await readdir(join(wordpress, 'wp-content'))).toEqual([]);
    } finally {
      execFileSync('chattr', ['-i', file]);
    }
  });

  it.skipIf(!canMount())('on a full disk is reported without a stack trace, and stays as it is', async () => {
    const dataDir = await smallDisk('256k');
    expect((await attachOne(dataDir)).status).toBe(0);
    await rm(join(dataDir, 'config.lock'));
    const before = await readFile(join(dataDir, 'guard.json'), 'utf8');
    await fillDisk(dataDir);
    const { status, stderr } = await attachOne(dataDir);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/ENOSPC|config\.lock can’t be locked: .*free space/)]);
    expect(stderr.split('\n')).toHaveLength(2);
    expect(await readFile(join(dataDir, 'guard.json'), 'utf8')).toBe(before);
    expect((await readdir(join(dataDir, 'sites'))).filter((name) => name.endsWith('.secret'))).toEqual([
      'new-example-com.secret',
    ]);
  });
});

/** Whether the disk for temporary files has files that not even root may replace. */
function hasImmutableFiles(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'guard-immutable-'));
  try {
    writeFileSync(join(folder, 'file'), '');
    execFileSync('chattr', ['+i', join(folder, 'file')], { stdio: 'ignore' });
    execFileSync('chattr', ['-i', join(folder, 'file')], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('what attach and detach write', () => {
  it('goes to the file to which guard.json is a link, which stays', async () => {
    const [dataDir, versioned] = [await scratchFolder(), await scratchFolder()];
    const [file, target] = [join(dataDir, 'guard.json'), join(versioned, 'guard.json')];
    await writeFile(target, JSON.stringify({ logLevel: 'debug' }));
    await symlink(target, file);
    expect(await runInChild(...toAttachArgs(dataDir, await wordpressFolder(), 'a.example.com'))).toMatchObject({
      status: 0,
      stderr: '',
    });
    expect(await readlink(file)).toBe(target);
    expect(JSON.parse(await readFile(target, 'utf8'))).toMatchObject({
      logLevel: 'debug',
      sites: [{ id: 'a-example-com' }],
    });
    expect(await runInChild('detach', '--data-dir', dataDir)).toMatchObject({ status: 0 });
    expect([await readlink(file), await readSites(dataDir)]).toEqual([target, []]);
    expect(await readdir(versioned)).toEqual(['guard.json']);
  });

  it('contains folders as the operator wrote them, the present names of keys, and nothing of the environment', async () => {
    const dataDir = await scratchFolder();
    const wordpress = join(dataDir, 'wordpress');
    await cp(await wordpressFolder(), wordpress, { recursive: true });
    await mkdir(join(dataDir, 'sites'));
    const site = {
      id: 'site',
      upstream: 'http://127.0.0.1:1',
      wordpressDir: 'wordpress',
      muPluginsDir: 'wordpress/must',
    };
    await writeFile(join(dataDir, 'guard.json'), JSON.stringify({ sites: [site] }));
    const env = { SECURITY_OPTIMIZER_DATABASE: 'sqlite:elsewhere.sqlite', SECURITY_OPTIMIZER_LOG_LEVEL: 'debug' };
    expect(runIn(env, toAttachArgs(dataDir, wordpress))).toMatchObject({ status: 0, stderr: '' });
    expect(await readSites(dataDir)).toMatchObject([site]);
    const written = JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8'));
    expect(written).toMatchObject({ database: 'sqlite:guard.sqlite', logLevel: 'info' });
    expect(await readdir(join(wordpress, 'must'))).toContain('security-optimizer.php');
  });
});
