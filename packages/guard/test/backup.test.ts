import { once } from 'node:events';
import { appendFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runInChild, serve } from './support/command-line.js';
import { fakeConnector } from './support/fake-connector.js';
import { callApi, dataFolderFor } from './support/running-guard.js';
import { eventually, scratchFolder } from './support/scratch.js';

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
