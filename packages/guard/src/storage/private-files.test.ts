import { chmod, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakeConnector } from '../../test/support/fake-connector.js';
import { dataFolderFor, runningGuard } from '../../test/support/running-guard.js';
import { eventually } from '../../test/support/scratch.js';

/** Files that this test wrote, and the process id, which is for users. */
const OTHERS = ['guard.json', 'guard.pid'];

/** Files of guard in a data folder that other users of the machine may read or write. */
async function opened(dataDir: string): Promise<string[]> {
  const files = (await readdir(dataDir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const open: string[] = [];
  for (const { name, parentPath } of files) {
    // SQLite may have deleted the file.
    const file = await stat(join(parentPath, name)).catch(() => null);
    if (file !== null && (file.mode & 0o077) !== 0) open.push(name);
  }
  return open.filter((name) => !OTHERS.includes(name)).sort();
}

describe.skipIf(process.platform === 'win32')('the files in the data folder', () => {
  it('are accessible to guard only, whatever the mode of the folder and the umask', async () => {
    const connector = await fakeConnector();
    const dataDir = await dataFolderFor(connector);
    await chmod(dataDir, 0o755);
    const guard = await runningGuard(dataDir);
    await fetch(`${guard.url}/`);
    await eventually(async () => (await readdir(dataDir)).includes('activity.sqlite-wal'));
    expect(await readdir(dataDir)).toEqual(expect.arrayContaining(['guard.sqlite', 'guard.sqlite-wal', 'guard.lock']));
    expect(await opened(dataDir)).toEqual([]);
  });

  it('are made private when they were accessible before', async () => {
    const connector = await fakeConnector();
    const dataDir = await dataFolderFor(connector);
    await (await runningGuard(dataDir)).close();
    for (const name of ['guard.sqlite', 'activity.sqlite', 'guard.lock']) await chmod(join(dataDir, name), 0o644);
    await runningGuard(dataDir);
    await eventually(async () => (await opened(dataDir)).length === 0);
  });
});
