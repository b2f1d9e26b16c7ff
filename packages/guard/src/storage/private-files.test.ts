import { chmod, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakeConnector } from '../../test/support/fake-connector.js';
import { dataFolderFor, runningGuard } from '../../test/support/running-guard.js';
import { eventually } from '../../test/support/scratch.js';

/** Not of guard's making here, and the process id, which is for people. */
const OTHERS = ['guard.json', 'guard.pid'];

/** Files that guard made in a data folder and that others on the machine may read or write. */
async function opened(dataDir: string): Promise<string[]> {
  const files = (await readdir(dataDir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const open: string[] = [];
  for (const { name, parentPath } of files) {
    // SQLite takes files away again.
    const file = await stat(join(parentPath, name)).catch(() => null);
    if (file !== null && (file.mode & 0o077) !== 0) open.push(name);
  }
  return open.filter((name) => !OTHERS.includes(name)).sort();
}

describe.skipIf(process.platform === 'win32')('what lies in the data folder', () => {
  it('is for nobody but guard, whatever the folder and the umask let others do', async () => {
    const connector = await fakeConnector();
    const dataDir = await dataFolderFor(connector);
    await chmod(dataDir, 0o755);
    const guard = await runningGuard(dataDir);
    await fetch(`${guard.url}/`);
    await eventually(async () => (await readdir(dataDir)).includes('activity.sqlite-wal'));
    expect(await readdir(dataDir)).toEqual(expect.arrayContaining(['guard.sqlite', 'guard.sqlite-wal', 'guard.lock']));
    expect(await opened(dataDir)).toEqual([]);
  });

  it('is closed when it stood open before', async () => {
    const connector = await fakeConnector();
    const dataDir = await dataFolderFor(connector);
    await (await runningGuard(dataDir)).close();
    for (const name of ['guard.sqlite', 'activity.sqlite', 'guard.lock']) await chmod(join(dataDir, name), 0o644);
    await runningGuard(dataDir);
    await eventually(async () => (await opened(dataDir)).length === 0);
  });
});
