import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  allVisits,
  createVisit,
  EVERY_VISIT,
  SITE,
  testStore,
  visitsUntilNow,
} from '../../../test/support/activity-store.js';
import { scratchFolder } from '../../../test/support/scratch.js';
import { openSqlite } from '../../storage/sqlite.js';
import { packVisits } from '../packed-visits.js';

const LATER_TABLES = ['visit_texts', 'attack_days', 'attackers', 'address_sketches'];
/** Columns of the table of visits. */
const LATER_COLUMNS = [
  'more',
  'more_bits',
  'agent',
  'referer',
  'origin',
  'reference',
  'last_reference',
  'failed',
  'method',
  'tried',
];

/** Removes tables and columns, so that the file is as the first release wrote it. */
function undoMigrations(dataDir: string): void {
  const database = openSqlite(join(dataDir, 'activity.sqlite'), { busyTimeoutMs: 0 });
  for (const index of ['visits_by_reference', 'events_by_address', 'visitors_verified'])
    database.exec(`drop index ${index}`);
  for (const table of LATER_TABLES) database.exec(`drop table ${table}`);
  for (const column of LATER_COLUMNS) database.exec(`alter table visits drop column ${column}`);
  database.exec(`create table kinds (id integer primary key, type text not null, status integer not null,
    rule text not null, unique (type, status, rule));
    insert into kinds select id, type, status, rule from visit_kinds;
    drop table visit_kinds;
    alter table kinds rename to visit_kinds`);
  database.exec(`delete from kysely_migration where name > '001_activity'`);
  database.close();
}

it('a file of the first release keeps its visits, and gets folded and failed ones beside them', async () => {
  const dataDir = await scratchFolder();
  const old = await testStore({ dataDir });
  await old.write([{ site: SITE, visits: packVisits(visitsUntilNow(500, 10, () => ({ count: 3 }))), dropped: 0 }]);
  await old.close();
  undoMigrations(dataDir);

  const store = await testStore({ dataDir });
  const before = await allVisits(store);
  expect(before).toHaveLength(500);
  expect(new Set(before.map(({ count, more, moreBits }) => `${count} ${more} ${moreBits}`))).toEqual(
    new Set(['3 0 null']),
  );
  const folded = { ...createVisit({ rule: 'xml-rpc', status: 403 }), more: 7, moreBits: 24 };
  await store.write([{ site: SITE, visits: packVisits([folded]), dropped: 0 }]);
  expect((await allVisits(store))[0]).toMatchObject({ count: 1, more: 7, moreBits: 24 });
  expect((await store.countVisits(SITE, EVERY_VISIT, null)).rows).toBe(501);
  const failed = { ...createVisit({ status: 200 }), failedLogins: 1, tried: 'owner', method: 'POST' };
  await store.write([{ site: SITE, visits: packVisits([failed]), dropped: 0 }]);
  const wrong = { ...EVERY_VISIT, preset: 'failed-logins' as const };
  expect((await store.countVisits(SITE, wrong, null)).rows).toBe(1);
});

it('attackers keep their counts and their target, which becomes that of their goal', async () => {
  const dataDir = await scratchFolder();
  const old = await testStore({ dataDir });
  const visits = [7, 2].map((count, i) =>
    createVisit({
      address: '203.0.113.9',
      count,
      status: 403,
      rule: 'xml-rpc',
      target: ['/xmlrpc.php', '/.env'][i] ?? '',
    }),
  );
  await old.write([{ site: SITE, visits: packVisits(visits), dropped: 0 }]);
  const [before] = (await old.attacks(SITE, '2000-01-01', '2100-01-01')).attackers;
  await old.close();

  const database = openSqlite(join(dataDir, 'activity.sqlite'), { busyTimeoutMs: 0 });
  database.exec(`alter table attackers add column target text not null default '';
    alter table attackers add column lead bigint not null default 0;
    update attackers set target = json_extract(targets, '$[0][0]'), lead = json_extract(targets, '$[0][1]');
    alter table attackers drop column targets;
    alter table attackers drop column scans;
    alter table attack_days drop column scanned;
    delete from kysely_migration where name > '004_verified_bots'`);
  database.close();

  const store = await testStore({ dataDir });
  const { attackers, totals } = await store.attacks(SITE, '2000-01-01', '2100-01-01');
  expect(attackers[0]).toEqual({ ...before, targets: [['/xmlrpc.php', 5], null, null, null, null, null] });
  expect(totals).toEqual([{ goal: 'passwords', refused: 9, failed: 0, scanned: 0 }]);
  await store.close();
});
