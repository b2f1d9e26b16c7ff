import { once } from 'node:events';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runIn, serve } from '../../test/support/command-line.js';
import { openTestDatabase } from '../../test/support/database.js';
import { fakeConnector, fakeEvent } from '../../test/support/fake-connector.js';
import { callApi, dataFolderFor } from '../../test/support/running-guard.js';
import { eventually } from '../../test/support/scratch.js';
import type { JsonValue } from '../settings/audit-store.js';
import { createSettingsStore } from '../settings/settings-store.js';

/** A value of `PRAGMA synchronous`. With OFF a power cut may lose or tear acknowledged data. */
const NORMAL = 1;
const FULL = 2;
const recorder = new URL('../../test/support/record-commits.mjs', import.meta.url);

interface Commit {
  readonly file: string;
  readonly synchronous: number;
  readonly tables: readonly string[];
}

/** Stores values that the commands of this test change. */
async function store(dataDir: string, values: Readonly<Record<string, JsonValue>>): Promise<void> {
  const db = await openTestDatabase(dataDir);
  const changes = Object.entries(values).map(([name, after]) => ({ name, before: null, after, expectedVersion: 0 }));
  await createSettingsStore(db).write({
    site: 'site',
    changes,
    actor: { id: 1, login: 'owner', address: null },
    at: Date.now(),
  });
  await db.destroy();
}

/**
 * A test can't cut the power, and killing a process proves nothing: data that SQLite gave to the system survives it. So
 * this checks the settings of SQLite at each commit of each connection of every thread. Whether the disk flushes its
 * cache is not tested.
 */
it('every commit of every connection waits for the disk, except visits in the log', async () => {
  const connector = await fakeConnector();
  const dataDir = await dataFolderFor(connector);
  const records = join(dataDir, 'commits');
  await mkdir(records);
  const env = { RECORD_COMMITS: records, NODE_OPTIONS: `--import=${recorder}` };
  const readCommits = async (pid: number): Promise<Commit[]> => {
    const text = await readFile(join(records, String(pid)), 'utf8').catch(() => '');
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Commit);
  };

  const guard = await serve(dataDir, env);
  const pid = guard.child.pid as number;
  const written = async (table: string) => (await readCommits(pid)).some(({ tables }) => tables.includes(table));
  // Before any event: writing one sets its connection to the intended mode.
  await fetch(`${guard.url}/`);
  await eventually(() => written('visits'));
  expect((await callApi(guard.url, '/disable-feeds', { body: '{"disable_feed":1}' })).http).toBe(200);
  expect((await callApi(guard.url, '/block-addresses', { body: '{"address":"192.0.2.9"}' })).http).toBe(200);
  connector.outbox.push(fakeEvent());
  connector.flags = 'o';
  await fetch(`${guard.url}/`);
  await eventually(() => connector.outbox.length === 0);
  guard.child.kill('SIGTERM');
  await once(guard.child, 'close');
  await store(dataDir, {
    login_url: { type: 'custom', login: 'my-door', signup: '' },
    login_access: ['192.0.2.1'],
    away_mode: { type: 'period', from_date: '2020-01-01', to_date: '2999-01-01' },
  });
  const others = [
    ['login-url', 'reset'],
    ['login-access', 'clear'],
    ['away-mode', 'off'],
  ];
  for (const args of others) expect(runIn(env, [...args, '--data-dir', dataDir]).status).toBe(0);

  const pids = (await readdir(records)).map(Number);
  expect(pids).toHaveLength(1 + others.length);
  const commits = (await Promise.all(pids.map(readCommits))).flat();
  expect([...new Set(commits.map(({ file }) => file))].sort()).toEqual(['activity.sqlite', 'guard.sqlite']);
  for (const table of ['settings', 'audit', 'blocked_visitors']) expect(await written(table)).toBe(true);
  const early = commits.filter(({ synchronous }) => synchronous !== FULL);
  expect(early.filter(({ file, synchronous }) => file === 'guard.sqlite' || synchronous !== NORMAL)).toEqual([]);
  expect(early.filter(({ tables }) => tables.includes('events'))).toEqual([]);
  expect(commits.filter(({ tables }) => tables.includes('events')).length).toBeGreaterThan(0);
});
