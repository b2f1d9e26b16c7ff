import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, it } from 'vitest';
import { packVisits } from '../../activity/packed-visits.js';
import { allVisits, aVisit, EVERY_VISIT, SITE, testStore, visitsUntilNow } from '../../testing/activity-store.js';
import { scratchFolder } from '../../testing/scratch.js';

/** Takes the columns away again, as a file has it that an earlier release wrote. */
function undoFoldedVisits(dataDir: string): void {
  const database = new DatabaseSync(join(dataDir, 'activity.sqlite'));
  for (const column of ['more', 'more_bits']) database.exec(`alter table visits drop column ${column}`);
  database.exec(`delete from kysely_migration where name > '001_activity'`);
  database.close();
}

it('keeps the visits of a file that an earlier release wrote, and writes folded ones beside them', async () => {
  const dataDir = await scratchFolder();
  const old = await testStore({ dataDir });
  await old.write({ site: SITE, visits: packVisits(visitsUntilNow(500, 10, () => ({ count: 3 }))), dropped: 0 });
  await old.close();
  undoFoldedVisits(dataDir);

  const store = await testStore({ dataDir });
  const before = await allVisits(store);
  expect(before).toHaveLength(500);
  expect(new Set(before.map(({ count, more, moreBits }) => `${count} ${more} ${moreBits}`))).toEqual(
    new Set(['3 0 null']),
  );
  const folded = { ...aVisit({ rule: 'xml-rpc', status: 403 }), more: 7, moreBits: 24 };
  await store.write({ site: SITE, visits: packVisits([folded]), dropped: 0 });
  expect((await allVisits(store))[0]).toMatchObject({ count: 1, more: 7, moreBits: 24 });
  expect((await store.countVisits(SITE, EVERY_VISIT, null)).rows).toBe(501);
});
