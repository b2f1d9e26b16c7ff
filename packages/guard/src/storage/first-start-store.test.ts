import { expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../lib/logger.js';
import { scratchFolder } from '../testing/scratch.js';
import { openDatabase } from './database.js';
import { firstStarts } from './first-start-store.js';
import { sitesWithRows } from './sites-with-rows.js';

async function database() {
  const db = await openDatabase({ url: 'sqlite:guard.sqlite', dataDir: await scratchFolder(), logger: silentLogger() });
  onTestFinished(() => db.destroy());
  return db;
}

it('the first start of each of thousands of sites is noted once', async () => {
  const db = await database();
  const sites = Array.from({ length: 2500 }, (_, number) => `site-${number}`);
  expect((await firstStarts(db, sites.slice(0, 3), 5)).get('site-2')).toBe(5);
  const later = await firstStarts(db, sites, 9);
  expect([later.get('site-2'), later.get('site-2499'), later.size]).toEqual([5, 9, 2500]);
  expect(await firstStarts(db, sites, 20)).toEqual(later);
});

it('sites of which a table holds something are known without asking for each', async () => {
  const db = await database();
  await db.insertInto('blocked_versions').values({ site: 'a', version: 1 }).execute();
  await db.insertInto('login_unlocks').values({ site: 'b', key: 'k', version: 1 }).execute();
  await db.insertInto('login_unlocks').values({ site: 'b', key: 'l', version: 1 }).execute();
  expect([...(await sitesWithRows(db, 'blocked_versions', 'login_unlocks'))]).toEqual(['a', 'b']);
  expect(await sitesWithRows(db, 'second_factor_devices')).toEqual(new Set());
});
