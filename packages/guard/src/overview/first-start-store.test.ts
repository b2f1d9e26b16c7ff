import { expect, it, onTestFinished } from 'vitest';
import { openTestDatabase } from '../../test/support/database.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { listSitesWithRows } from '../storage/database.js';
import { recordFirstStarts } from './first-start-store.js';

async function database() {
  const db = await openTestDatabase(await scratchFolder());
  onTestFinished(() => db.destroy());
  return db;
}

it('the first start of each of thousands of sites is recorded once', async () => {
  const db = await database();
  const sites = Array.from({ length: 2500 }, (_, number) => `site-${number}`);
  expect((await recordFirstStarts(db, sites.slice(0, 3), 5)).get('site-2')).toBe(5);
  const later = await recordFirstStarts(db, sites, 9);
  expect([later.get('site-2'), later.get('site-2499'), later.size]).toEqual([5, 9, 2500]);
  expect(await recordFirstStarts(db, sites, 20)).toEqual(later);
});

it('one query finds the sites that have rows in a table', async () => {
  const db = await database();
  await db
    .withTables<{ blocked_versions: { site: string; version: number } }>()
    .insertInto('blocked_versions')
    .values({ site: 'a', version: 1 })
    .execute();
  await db.insertInto('login_unlocks').values({ site: 'b', key: 'k', version: 1 }).execute();
  await db.insertInto('login_unlocks').values({ site: 'b', key: 'l', version: 1 }).execute();
  expect([...(await listSitesWithRows(db, 'blocked_versions', 'login_unlocks'))]).toEqual(['a', 'b']);
  expect(await listSitesWithRows(db, 'second_factor_devices')).toEqual(new Set());
});
