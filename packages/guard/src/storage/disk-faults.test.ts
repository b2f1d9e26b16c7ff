import { cp, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fakeConnector } from '../../test/support/fake-connector.js';
import { callApi, dataFolderFor, runningGuard } from '../../test/support/running-guard.js';
import { canMount, fillDisk, mount, smallDisk, unmount } from '../../test/support/small-disk.js';

/** A running guard with its data folder on a disk of a few megabytes. */
async function guardOnSmallDisk() {
  const connector = await fakeConnector();
  const disk = await smallDisk('6m');
  await cp(await dataFolderFor(connector), disk, { recursive: true });
  return { guard: await runningGuard(disk), disk, connector };
}

describe.skipIf(!canMount())('a disk', () => {
  it('that is full: the site is served and protected, and changes are refused and keep their old value', async () => {
    const { guard, disk } = await guardOnSmallDisk();
    const readFeed = async () =>
      (
        (await callApi(guard.url, '/fetch-options', { body: '{"page":"security"}' })).body.data as {
          disable_feed: 0 | 1;
        }
      ).disable_feed;
    expect(await readFeed()).toBe(0);
    await fillDisk(disk);
    // Files may have allocated space left, so more than one change is tried.
    let refused = 0;
    for (let n = 0; n < 400 && refused === 0; n++) {
      const value = n % 2 === 0 ? 1 : 0;
      const { http, body } = await callApi(guard.url, '/disable-feeds', {
        body: JSON.stringify({ disable_feed: value }),
      });
      if (http === 200) continue;
      refused++;
      expect([http, body.status]).toEqual([503, 503]);
      expect(body.message).not.toMatch(/sqlite|SQLITE|\//);
      expect(await readFeed()).toBe(1 - value);
    }
    expect(refused).toBe(1);
    expect((await fetch(`${guard.url}/`)).status).toBe(200);
    expect((await fetch(`${guard.url}/xmlrpc.php`)).status).toBe(403);

    await rm(join(disk, 'ballast'));
    const again = await callApi(guard.url, '/disable-feeds', { body: '{"disable_feed":1}' });
    expect(again.http).toBe(200);
    expect((await fetch(`${guard.url}/feed/`)).status).toBe(404);
  });

  it('that is read-only: guard does not start, and logs the reason', async () => {
    const folder = await dataFolderFor(await fakeConnector());
    const first = await runningGuard(folder);
    await first.close();
    mount('--bind', folder, folder);
    onTestFinished(() => void unmount(folder));
    mount('-o', 'remount,bind,ro', folder);
    await expect(runningGuard(folder)).rejects.toThrow(/read-only|EROFS|writ/i);
  });
});

describe('a database whose pages were overwritten', () => {
  it('is not treated as a database without settings', async () => {
    const connector = await fakeConnector();
    const folder = await dataFolderFor(connector);
    const first = await runningGuard(folder);
    expect((await callApi(first.url, '/disable-feeds', { body: '{"disable_feed":1}' })).http).toBe(200);
    await first.close();
    const file = await open(join(folder, 'guard.sqlite'), 'r+');
    const { size } = await file.stat();
    // The header is kept, so that the file still looks like a database.
    for (let at = 4096; at < size; at += 4096) await file.write(Buffer.alloc(4096, 0xa5), 0, 4096, at);
    await file.close();
    await expect(runningGuard(folder)).rejects.toMatchObject({ fault: 'corrupt' });
    await writeFile(join(folder, 'guard.sqlite'), '');
  });
});

/**
 * Deletes a folder of a running guard. The whole folder is moved away at once: guard may create files in it at any
 * moment, also between the listing of the folder and its removal.
 */
async function moveAway(folder: string): Promise<void> {
  await rename(folder, `${folder}-gone`);
  await rm(`${folder}-gone`, { recursive: true });
}

describe('a data folder that is deleted or replaced while guard runs', () => {
  it.each([
    ['deleted', moveAway],
    [
      'replaced by a copy, as from a back-up',
      async (folder: string) => {
        // SQLite deletes a journal when its transaction ends, which may be between its listing and its copy.
        const isLasting = (file: string): boolean => !file.endsWith('-journal');
        await cp(folder, `${folder}-copy`, { recursive: true, filter: isLasting });
        await moveAway(folder);
        await rename(`${folder}-copy`, folder);
      },
    ],
  ])(
    'and %s: the site is served and protected, and no change is accepted that a restart would lose',
    async (_how, damage) => {
      const folder = await dataFolderFor(await fakeConnector());
      const guard = await runningGuard(folder);
      expect((await callApi(guard.url, '/disable-feeds', { body: '{"disable_feed":1}' })).http).toBe(200);
      await damage(folder);
      const response = await callApi(guard.url, '/disable-feeds', { body: '{"disable_feed":0}' });
      expect([response.http, response.body.code]).toEqual([503, 'storage_unavailable']);
      expect((await fetch(`${guard.url}/feed/`)).status).toBe(404);
      expect((await fetch(`${guard.url}/`)).status).toBe(200);
    },
  );
});
