import { expect, it, onTestFinished } from 'vitest';
import { openTestDatabase } from '../../test/support/database.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { createJobStore, type StoredJob } from './jobs-store.js';

const job = (id: string, change: Partial<StoredJob> = {}): StoredJob => ({
  ...{ id, site: 'a', kind: 'log-out-users', state: 'done', startedAt: 0, endedAt: 1, done: 0, total: 1 },
  ...{ actor: { id: 1, login: 'owner', address: null }, cursor: null, items: [], summary: [], error: '' },
  ...change,
});

it('the store keeps the last ten starts of a kind at a site, and those of other kinds and sites', async () => {
  const db = await openTestDatabase(await scratchFolder());
  onTestFinished(() => db.destroy());
  const store = createJobStore(db);
  await store.save(job('other-site', { site: 'b', startedAt: -2, state: 'running', endedAt: null }));
  await store.save(job('other-kind', { kind: 'reinstall-plugins', startedAt: -1 }));
  for (let n = 0; n < 25; n++) await store.save(job(`${n}`, { startedAt: n }));
  // Every state of a job replaces the previous one.
  await store.save(job('24', { startedAt: 24, summary: ['3 users were logged out.'] }));
  const rows = await db.selectFrom('jobs').select('id').orderBy('started_at').execute();
  const stored = Array.from({ length: 10 }, (_, n) => `${n + 15}`);
  expect(rows.map(({ id }) => id)).toEqual(['other-site', 'other-kind', ...stored]);
  expect((await store.latest('a')).map(({ id, summary }) => [id, ...summary]).sort()).toEqual([
    ['24', '3 users were logged out.'],
    ['other-kind'],
  ]);
  expect((await store.running()).map(({ id }) => id)).toEqual(['other-site']);
});
