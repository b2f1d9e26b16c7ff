import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, cp, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqlite } from '../src/storage/sqlite.js';
import { bin, runIn, runInChild, serve } from './support/command-line.js';
import { fakeConnector } from './support/fake-connector.js';
import { callApi, dataFolderFor } from './support/running-guard.js';
import { eventually, scratchFolder } from './support/scratch.js';
import { canMount, fillDisk, mount, smallDisk, unmount } from './support/small-disk.js';

const CERTIFICATE = rootCertificates[0] as string;

/** A running guard: feeds are off, one address is blocked, and visits are in the log. */
async function guardAtWork() {
  const connector = await fakeConnector();
  const dataDir = await dataFolderFor(connector);
  const guard = await serve(dataDir);
  expect((await callApi(guard.url, '/disable-feeds', { body: '{"disable_feed":1}' })).http).toBe(200);
  await fetch(`${guard.url}/a-visit`);
  const folder = join(await scratchFolder(), 'back-up');
  return { connector, dataDir, guard, folder };
}

const loggedPaths = async (url: string): Promise<string> => {
  const { body } = await callApi(url, '/activity-unknown', { body: '{"page":1,"filters":{}}' });
  return JSON.stringify(body);
};

describe('a back-up', () => {
  it('of a running guard contains settings, log and keys, and a restored data folder serves the same', async () => {
    const { dataDir, guard, folder } = await guardAtWork();
    await eventually(async () => (await loggedPaths(guard.url)).includes('/a-visit'));
    const made = await runInChild('back-up', folder, '--data-dir', dataDir);
    expect(made).toMatchObject({ status: 0, stderr: '' });
    for (const name of [folder, join(folder, 'guard.sqlite'), join(folder, 'sites/site.secret')]) {
      expect((await stat(name)).mode & 0o077).toBe(0);
    }
    // Later changes are not in the back-up.
    expect((await callApi(guard.url, '/disable-feeds', { body: '{"disable_feed":0}' })).http).toBe(200);
    guard.child.kill('SIGTERM');
    await once(guard.child, 'exit');

    const restored = join(await scratchFolder(), 'data');
    expect(await runInChild('restore', folder, '--data-dir', restored)).toMatchObject({ status: 0, stderr: '' });
    const next = await serve(restored);
    expect((await fetch(`${next.url}/feed/`)).status).toBe(404);
    expect(await loggedPaths(next.url)).toContain('/a-visit');
  });

  it('excludes the log on request', async () => {
    const { dataDir, folder } = await guardAtWork();
    expect((await runInChild('back-up', folder, '--data-dir', dataDir, '--without-log')).status).toBe(0);
    expect(await readdir(folder)).not.toContain('activity.sqlite');
  });

  it('is never written into a folder that is not empty', async () => {
    const { dataDir } = await guardAtWork();
    const folder = await scratchFolder();
    await writeFile(join(folder, 'mine'), 'x');
    expect(await runInChild('back-up', folder, '--data-dir', dataDir)).toMatchObject({
      status: 1,
      stderr: `${folder} is not empty.\n`,
    });
    expect(await readdir(folder)).toEqual(['mine']);
  });
});

describe('a back-up that is stopped', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('by %s removes its parts', async (signal) => {
    const { dataDir, guard, folder } = await guardAtWork();
    guard.child.kill('SIGTERM');
    await once(guard.child, 'exit');
    // The back-up waits for this transaction.
    const database = openSqlite(join(dataDir, 'guard.sqlite'), { busyTimeoutMs: 5000 });
    database.exec('pragma journal_mode = delete');
    database.exec('begin exclusive');
    const child = spawn(process.execPath, [bin, 'back-up', folder, '--data-dir', dataDir], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    await eventually(() => existsSync(join(folder, 'sites')));
    child.kill(signal);
    database.exec('commit');
    database.close();
    expect((await ended)[0]).not.toBe(0);
    expect(existsSync(folder)).toBe(false);
    expect((await runInChild('back-up', folder, '--data-dir', dataDir)).status).toBe(0);
  });
});

describe('restoring', () => {
  async function backedUp() {
    const { dataDir, guard, folder } = await guardAtWork();
    expect((await runInChild('back-up', folder, '--data-dir', dataDir)).status).toBe(0);
    return { dataDir, guard, folder };
  }

  it('changes nothing while guard runs', async () => {
    const { dataDir, folder } = await backedUp();
    const before = (await readdir(dataDir)).sort();
    const { status, stderr } = await runInChild('restore', folder, '--data-dir', dataDir, '--replace');
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'Guard runs on this data folder. Stop it first; nothing was changed.\n',
    });
    expect((await readdir(dataDir)).sort()).toEqual(before);
  });

  it('replaces a data folder only on request, and keeps the previous one', async () => {
    const { dataDir, guard, folder } = await backedUp();
    guard.child.kill('SIGTERM');
    await once(guard.child, 'exit');
    const config = await readFile(join(dataDir, 'guard.json'), 'utf8');
    expect((await runInChild('restore', folder, '--data-dir', dataDir)).stderr).toContain('--replace');
    await writeFile(join(dataDir, 'guard.json'), '{"listen":"127.0.0.1:0"}');
    expect((await runInChild('restore', folder, '--data-dir', dataDir, '--replace')).status).toBe(0);
    expect(await readFile(join(dataDir, 'guard.json'), 'utf8')).toBe(config);
    const aside = (await readdir(dataDir)).find((name) => name.startsWith('replaced-')) as string;
    expect(await readFile(join(dataDir, aside, 'guard.json'), 'utf8')).toBe('{"listen":"127.0.0.1:0"}');
    const again = await serve(dataDir);
    expect((await fetch(`${again.url}/feed/`)).status).toBe(404);
  });

  it('removes what a restore that was killed has left', async () => {
    const { folder } = await backedUp();
    const target = await scratchFolder();
    await mkdir(join(target, 'restoring/sites'), { recursive: true });
    await writeFile(join(target, 'restoring/sites/other.secret'), 'x');
    expect(await runInChild('restore', folder, '--data-dir', target)).toMatchObject({ status: 0, stderr: '' });
    expect(await readdir(target)).not.toContain('restoring');
    expect(await readdir(join(target, 'sites'))).not.toContain('other.secret');
  });

  it.each([
    [
      'a file was changed',
      (folder: string) => appendFile(join(folder, 'guard.sqlite'), 'x'),
      'is not as it was written',
    ],
    ['a file is missing', (folder: string) => rm(join(folder, 'sites/site.secret')), 'is missing or can’t be read'],
    ['the back-up is incomplete', (folder: string) => rm(join(folder, 'back-up.json')), 'holds no complete back-up'],
    [
      'its list names a file outside the folder',
      (folder: string) =>
        writeFile(
          join(folder, 'back-up.json'),
          JSON.stringify({ version: '0', madeAt: '', files: { '../x': { bytes: 1, sha256: '' } } }),
        ),
      'is not as it was written',
    ],
  ])('changes nothing when %s', async (_, damage, message) => {
    const { folder } = await backedUp();
    await damage(folder);
    const target = join(await scratchFolder(), 'data');
    const { status, stderr } = await runInChild('restore', folder, '--data-dir', target);
    expect(status).toBe(1);
    expect(stderr).toContain(message);
    await expect(stat(target)).rejects.toThrow();
  });
});

/** A data folder whose configuration names files: three in it, in a folder or not, and one elsewhere. */
async function namingFiles() {
  const elsewhere = await scratchFolder();
  const list = join(elsewhere, "the network's list.txt");
  await writeFile(list, '192.0.2.0/24\n');
  const dataDir = await dataFolderFor(
    await fakeConnector(),
    { trustedProxies: ['file:lists/site.txt'] },
    {
      trustedProxies: ['203.0.113.1', `file:${list}`],
      mail: { smtp: { host: '127.0.0.1', user: 'guard', passwordFile: 'smtp.password', from: 'a@example.com' } },
      alerts: { caFile: 'lists/authorities.pem' },
    },
  );
  await mkdir(join(dataDir, 'lists'));
  await writeFile(join(dataDir, 'lists/site.txt'), '198.51.100.0/24\n');
  await writeFile(join(dataDir, 'lists/authorities.pem'), `${CERTIFICATE}\n`);
  await writeFile(join(dataDir, 'smtp.password'), 'secret of the mail server', { mode: 0o600 });
  const folder = join(await scratchFolder(), 'back-up');
  return { dataDir, list, folder };
}

describe('the files that the configuration names', () => {
  it('are backed up too, so that a restored guard starts; what belongs outside the data folder is named with its place', async () => {
    const { dataDir, list, folder } = await namingFiles();
    expect(await runInChild('back-up', folder, '--data-dir', dataDir)).toMatchObject({ status: 0, stderr: '' });
    await rm(list);
    const restored = join(await scratchFolder(), 'data');
    const outcome = await runInChild('restore', folder, '--data-dir', restored);
    expect(outcome).toMatchObject({ status: 0, stderr: '' });
    expect(await readFile(join(restored, 'smtp.password'), 'utf8')).toBe('secret of the mail server');
    expect((await stat(join(restored, 'smtp.password'))).mode & 0o077).toBe(0);
    expect(await readFile(join(restored, 'lists/site.txt'), 'utf8')).toBe('198.51.100.0/24\n');
    expect(await readdir(restored)).not.toContain('named');
    // Nothing was written outside. The printed command does it.
    await expect(stat(list)).rejects.toThrow();
    expect(outcome.stdout).toContain('trustedProxies');
    const place = outcome.stdout.split('\n').find((line) => line.trim().startsWith('install ')) as string;
    expect(spawnSync('sh', ['-c', place], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
    expect(await readFile(list, 'utf8')).toBe('192.0.2.0/24\n');
    expect((await fetch((await serve(restored)).url)).status).toBe(200);
  });

  it('stay as they are outside the data folder, and a different one is named', async () => {
    const { dataDir, list, folder } = await namingFiles();
    expect((await runInChild('back-up', folder, '--data-dir', dataDir)).status).toBe(0);
    const [same, different] = [join(await scratchFolder(), 'data'), join(await scratchFolder(), 'data')];
    expect((await runInChild('restore', folder, '--data-dir', same)).stdout).not.toContain(list);
    await writeFile(list, '192.0.2.128/25\n');
    const { status, stdout } = await runInChild('restore', folder, '--data-dir', different);
    expect(status).toBe(0);
    expect(stdout).toContain('list.txt');
    expect(stdout).toContain('differs');
    expect(await readFile(list, 'utf8')).toBe('192.0.2.128/25\n');
  });

  it.each([
    ['is missing', 'lists/site.txt', 'sites[0].trustedProxies', 'ENOENT'],
    ['is missing', 'smtp.password', 'mail.smtp.passwordFile', 'ENOENT'],
    ['is missing', 'lists/authorities.pem', 'alerts.caFile', 'ENOENT'],
  ])('make the back-up fail when one %s: %s', async (_what, name, key, cause) => {
    const { dataDir, folder } = await namingFiles();
    await rm(join(dataDir, name));
    const { status, stderr } = await runInChild('back-up', folder, '--data-dir', dataDir);
    expect(status).toBe(1);
    expect(stderr).toContain(`${join(dataDir, name)}: `);
    expect(stderr).toContain(cause);
    expect(stderr).toContain(key);
    await expect(stat(folder)).rejects.toThrow();
  });
});

describe('settings that only the environment holds', () => {
  it('are recorded, without secrets, and `restore` names those that are not set any more', async () => {
    const dataDir = await dataFolderFor(
      await fakeConnector(),
      {},
      { mail: { smtp: { host: '127.0.0.1', user: 'guard', passwordFile: 'none', from: 'a@example.com' } } },
    );
    const list = join(await scratchFolder(), 'list.txt');
    await writeFile(list, '192.0.2.0/24\n');
    const variables = {
      SECURITY_OPTIMIZER_TRUSTED_PROXIES: `203.0.113.1 file:${list}`,
      SECURITY_OPTIMIZER_DATABASE: 'sqlite:elsewhere.sqlite',
      SECURITY_OPTIMIZER_SMTP_PASSWORD: 'secret of the mail server',
    };
    await serve(dataDir, variables);
    const folder = join(await scratchFolder(), 'back-up');
    // Only the running guard has them, as with variables of a service.
    const { status, stdout, stderr } = await runInChild('back-up', folder, '--data-dir', dataDir);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('from its environment: SECURITY_OPTIMIZER_DATABASE, SECURITY_OPTIMIZER_TRUSTED_PROXIES, ');
    const manifest = await readFile(join(folder, 'back-up.json'), 'utf8');
    expect(manifest + stdout).not.toContain('secret of');
    expect(JSON.parse(manifest).environment).toContainEqual({
      name: 'SECURITY_OPTIMIZER_TRUSTED_PROXIES',
      value: variables.SECURITY_OPTIMIZER_TRUSTED_PROXIES,
    });
    expect(await readdir(folder)).toContain('guard.sqlite');
    await rm(list);
    const restored = await runInChild('restore', folder, '--data-dir', join(await scratchFolder(), 'data'));
    expect(restored).toMatchObject({ status: 0, stderr: '' });
    expect(restored.stdout).toContain(`SECURITY_OPTIMIZER_TRUSTED_PROXIES='203.0.113.1 file:${list}'\n`);
    expect(restored.stdout).toMatch(/^ {2}SECURITY_OPTIMIZER_SMTP_PASSWORD: its value is not in the back-up$/m);
    expect(restored.stdout).toMatch(/install -D .*list\.txt/);
    const again = runIn(variables, ['restore', folder, '--data-dir', join(await scratchFolder(), 'data')]);
    expect(again.stdout).not.toMatch(/TRUSTED_PROXIES=|DATABASE=/);
    expect(again.stdout).not.toContain('its value is not');
  });
});

describe.skipIf(!canMount())('on a full disk (skipped where nothing can be mounted)', () => {
  it('a back-up that fails names the cause and removes its parts, and a folder that was there stays', async () => {
    const { dataDir } = await guardAtWork();
    const disk = await smallDisk('1m');
    await mkdir(join(disk, 'mine'));
    await fillDisk(disk);
    for (const folder of [join(disk, 'new'), join(disk, 'mine')]) {
      const { status, stderr } = await runInChild('back-up', folder, '--data-dir', dataDir);
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: expect.stringMatching(/disk of .* is full.*what was written there is removed/s),
      });
    }
    expect((await readdir(disk)).sort()).toEqual(['ballast', 'mine']);
    expect(await readdir(join(disk, 'mine'))).toEqual([]);
  });

  it('a restore into a new folder, an export and a shared connector leave nothing, and name the cause', async () => {
    const { dataDir, guard, folder } = await guardAtWork();
    expect((await runInChild('back-up', folder, '--data-dir', dataDir)).status).toBe(0);
    guard.child.kill('SIGTERM');
    await once(guard.child, 'exit');
    const disk = await smallDisk('1m');
    await fillDisk(disk);
    const full = { status: 1, stdout: '', stderr: expect.stringMatching(/^.*\bdisk\b.* is full.*\n$/i) };
    for (const command of [
      ['restore', folder, '--data-dir', join(disk, 'data')],
      ['privacy', 'export', '--user', 'mia', '--data-dir', dataDir, '--output', join(disk, 'mia.json')],
      ['share-connector', join(disk, 'connector')],
    ]) {
      expect(await runInChild(...command)).toEqual(full);
      expect(await readdir(disk)).toEqual(['ballast']);
    }
    const lost = spawnSync(
      'sh',
      ['-c', '"$0" "$@" > /dev/full', process.execPath, bin, 'sites', 'export', '--data-dir', dataDir],
      {
        encoding: 'utf8',
      },
    );
    expect(lost).toMatchObject({ status: 1, stderr: 'The output could not be written (ENOSPC).\n' });
  });

  it.each([
    ['not even a lock', 0],
    ['only some of the files', 200_000],
  ])('a restore leaves the data in force and names the cause: there is room for %s', async (_what, room) => {
    const { dataDir, guard, folder } = await guardAtWork();
    expect((await runInChild('back-up', folder, '--data-dir', dataDir)).status).toBe(0);
    guard.child.kill('SIGTERM');
    await once(guard.child, 'exit');
    const disk = await smallDisk('6m');
    await cp(dataDir, disk, { recursive: true });
    await fillDisk(disk);
    const ballast = join(disk, 'ballast');
    await truncate(ballast, (await stat(ballast)).size - room);
    const listFiles = async () =>
      (await readdir(disk, { recursive: true })).filter((name) => !/guard\.lock/.test(name)).sort();
    const before = await listFiles();
    const { status, stderr } = await runInChild('restore', folder, '--data-dir', disk, '--replace');
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `The restore failed: the disk of ${disk} is full. The data in force are those from before.\n`,
    });
    expect(await listFiles()).toEqual(before);
    await rm(ballast);
    expect((await fetch(`${(await serve(disk)).url}/feed/`)).status).toBe(404);
  });

  it('a restore that can’t move one of the present files moves the others back', async () => {
    const { dataDir, guard, folder } = await guardAtWork();
    expect((await runInChild('back-up', folder, '--data-dir', dataDir)).status).toBe(0);
    guard.child.kill('SIGTERM');
    await once(guard.child, 'exit');
    const mounted = join(dataDir, 'a-disk-of-its-own');
    await mkdir(mounted);
    mount('-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mounted);
    onTestFinished(() => void unmount(mounted));
    const { status, stderr } = await runInChild('restore', folder, '--data-dir', dataDir, '--replace');
    expect([status, stderr]).toEqual([1, expect.stringContaining(`${mounted}: EBUSY. The data in force are those`)]);
    expect((await readdir(dataDir)).filter((name) => /^(?:replaced|restoring)/.test(name))).toEqual([]);
    expect((await fetch(`${(await serve(dataDir)).url}/feed/`)).status).toBe(404);
  });
});
