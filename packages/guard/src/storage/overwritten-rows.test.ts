import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createVisit, NOW, SITE, testStore } from '../../test/support/activity-store.js';
import { openTestDatabase } from '../../test/support/database.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { packVisits } from '../activity/packed-visits.js';

/** `privacy erase` and `erase` must leave no former copy of a removed row in a file. */

it('leaves no former copy of a row in the file of the settings', async () => {
  const dataDir = await scratchFolder();
  const db = await openTestDatabase(dataDir);
  const changed = { id: 1, site: 'site', name: 'owner_note', at: NOW, actor_id: 7, address: '192.0.2.77', told: 1 };
  const audit = Array.from({ length: 40 }, (_, round) => ({
    ...changed,
    id: `${round}`,
    actor_login: `person-${round}`,
  }));
  await db
    .insertInto('audit')
    .values(audit.map((row) => ({ ...row, before: '0', after: '1' })))
    .execute();
  await db.updateTable('audit').set({ actor_login: 'somebody whose name is longer' }).execute();
  await db.updateTable('audit').set({ address: null }).where('id', '<', '2').execute();
  await db.deleteFrom('audit').where('id', '>=', '2').execute();
  await db.destroy();
  const file = await readFile(join(dataDir, 'guard.sqlite'));
  expect(file.includes('somebody whose name is longer')).toBe(true);
  expect(file.includes('person-')).toBe(false);
  expect(file.includes('192.0.2.77')).toBe(false);
});

it('leaves no former copy of a row in the file of the Activity Log', async () => {
  const dataDir = await scratchFolder();
  const store = await testStore({ dataDir });
  const visits = Array.from({ length: 40 }, (_, round) => createVisit({ address: `192.0.2.${round + 1}` }));
  await store.write([{ site: SITE, visits: packVisits(visits), dropped: 0 }]);
  const visitors = await Promise.all(visits.map(({ address }) => store.getAddressVisitor(SITE, address)));
  for (const visitor of visitors) await store.setHostname(SITE, visitor?.id ?? 0, 'person.example', null);
  await store.setHostname(SITE, visitors[0]?.id ?? 0, 'a-longer-name-of-another.example', null);
  for (const visitor of visitors.slice(1)) await store.setHostname(SITE, visitor?.id ?? 0, null, null);
  await store.close();
  const file = await readFile(join(dataDir, 'activity.sqlite'));
  expect(file.includes('a-longer-name-of-another.example')).toBe(true);
  expect(file.includes('person.example')).toBe(false);
});
