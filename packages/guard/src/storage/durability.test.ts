import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { openTestDatabase } from '../../test/support/database.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { createSettingsStore } from '../settings/settings-store.js';

/** A process that stores one setting after another and prints each number once it is acknowledged. */
const writer = `
  import { openGuardDatabase } from './dist/migrations.js';
  import { createSettingsStore } from './dist/settings/settings-store.js';
  import { silentLogger } from './dist/lib/logger.js';
  const dataDir = process.env.DATA_DIR;
  const db = await openGuardDatabase({ url: 'sqlite:guard.sqlite', dataDir, logger: silentLogger() });
  const settings = createSettingsStore(db);
  for (let n = 1; ; n++) {
    const changes = [{ name: 'setting-' + n, before: 0, after: n, expectedVersion: 0 }];
    await settings.write({ site: 'a', changes, actor: { id: 1, login: 'owner', address: null }, at: n });
    process.stdout.write(n + '\\n');
  }
`;

it('keeps every acknowledged setting, with its audit row, when the process is killed at any moment', async () => {
  for (const acknowledged of [1, 7, 40]) {
    const dataDir = await scratchFolder();
    const child = spawn(process.execPath, ['--input-type=module', '-e', writer], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { ...process.env, DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let last = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      last = Number(line);
      if (last === acknowledged) child.kill('SIGKILL');
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    expect(last).toBeGreaterThanOrEqual(acknowledged);
    const db = await openTestDatabase(dataDir);
    onTestFinished(() => db.destroy());
    const stored = await createSettingsStore(db).read('a');
    for (let n = 1; n <= last; n++) expect(stored.get(`setting-${n}`)?.value).toBe(n);
    const audited = await db.selectFrom('audit').select('name').execute();
    expect(audited).toHaveLength(stored.size);
  }
});
