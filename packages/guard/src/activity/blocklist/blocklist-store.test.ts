import { expect, it, onTestFinished } from 'vitest';
import {
  openTestDatabase,
  prepareDatabase,
  prepareEmptyDatabase,
  type TestDatabase,
} from '../../../test/support/database.js';
import { scratchFolder } from '../../../test/support/scratch.js';
import { type Address, parseAddress } from '../../lib/address.js';
import type { AddressSet } from '../../lib/address-set.js';
import { silentLogger } from '../../lib/logger.js';
import { migrations } from '../../migrations.js';
import { openDatabase, withTables } from '../../storage/database.js';
import { connectDatabase } from '../../storage/open-storage.js';
import { sqlBlocklistStore } from './blocklist-store.js';
import { RANGE_IDS } from './blocklist-tables.js';
import { preloadBlocks } from './preload-blocklist.js';

async function database(dataDir: string): Promise<TestDatabase> {
  const db = await openTestDatabase(dataDir);
  onTestFinished(() => db.destroy());
  return db;
}

/** Of releases before the Activity Log. */
interface OldTables {
  blocked_addresses: { site: string; address: string; created_at: number };
}

const ACTOR = { id: 1, login: 'owner', address: '203.0.113.5' };

it('migrates blocks from before the Activity Log', async () => {
  const dataDir = await scratchFolder();
  const older = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < '005'));
  const options = { url: await prepareEmptyDatabase(dataDir), dataDir, logger: silentLogger() };
  const old = withTables<OldTables>(await openDatabase({ ...options, migrations: older }));
  const rows = ['192.0.2.1', '198.51.100.0/24', '2001:db8::1', '192.0.2.5-192.0.2.9'];
  for (const [at, address] of rows.entries()) {
    await old.insertInto('blocked_addresses').values({ site: 'site', address, created_at: at }).execute();
  }
  await old.destroy();

  const store = sqlBlocklistStore(await database(dataDir));
  expect(await store.version('site')).toBe(1);
  const blocked = await store.list('site', { until: 10, skip: 0, limit: 10 });
  expect(blocked.map(({ kind, value, at }) => [kind, value, at])).toEqual([
    ['range', '192.0.2.5-192.0.2.9', 3],
    ['ip', '2001:db8::1', 2],
    ['range', '198.51.100.0/24', 1],
    ['ip', '192.0.2.1', 0],
  ]);
  expect(blocked.map(({ visitorId }) => visitorId > RANGE_IDS)).toEqual([true, false, true, false]);
});

it('reads addresses, ranges with IPv6 only, and users separately', async () => {
  const db = await database(await scratchFolder());
  const store = sqlBlocklistStore(db);
  const change = { site: 'site', actor: ACTOR, at: 1 };
  const value = (i: number) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
  for (let from = 0; from < 45_000; from += 3000) {
    const rows = Array.from({ length: 3000 }, (_, i) => ({
      ...({ site: 'site', kind: 'ip', value: value(from + i), name: '', visitor_id: 0 } as const),
      ...{ created_at: 0, by_id: null, by_login: '' },
    }));
    await db.insertInto('blocked_visitors').values(rows).execute();
  }
  await store.block(change, { kind: 'range', value: '192.0.2.0/24', name: '', visitorId: null });
  await store.block(change, { kind: 'ip', value: '2001:db8::1', name: '', visitorId: 9 });
  await store.block(change, { kind: 'user', value: '12', name: 'editor', visitorId: 3 });
  await store.block(change, { kind: 'user', value: '4', name: 'author', visitorId: 4 });
  await store.block({ ...change, site: 'other' }, { kind: 'user', value: '5', name: 'x', visitorId: 3 });
  const has = (set: AddressSet, address: string) => set.has(parseAddress(address) as Address);
  const all = await store.addresses('site', 4);
  expect(all.size).toBe(45_002);
  for (const address of [value(0), value(20_000), value(44_999), '192.0.2.77', '2001:db8::1']) {
    expect(has(all, address)).toBe(true);
  }
  expect([value(45_000), '192.0.3.1', '2001:db8::2'].filter((address) => has(all, address))).toEqual([]);
  const ranges = await store.ranges('site');
  expect(ranges.size).toBe(2);
  expect([value(0), '192.0.2.77', '2001:db8::1'].map((address) => has(ranges, address))).toEqual([false, true, true]);
  expect(await store.users('site')).toEqual([4, 12]);
  expect(await store.version('site')).toBe(4);
  expect(await store.visitorIds('site', 2)).toHaveLength(2);
});

it('refuses blocks by a blocked user, from any process', async () => {
  const store = sqlBlocklistStore(await database(await scratchFolder()));
  const by = (id: number) => ({ site: 'site', actor: { ...ACTOR, id }, at: 1 });
  const user = (id: number) => ({ kind: 'user', value: String(id), name: '', visitorId: id }) as const;
  const results = await Promise.all([store.block(by(1), user(2)), store.block(by(2), user(1))]);
  expect(results.filter((result) => result === null)).toHaveLength(1);
  expect(await store.users('site')).toEqual([2]);
});

it('uses a preloaded list unless it has changed since', async () => {
  const dataDir = await scratchFolder();
  const db = await database(dataDir);
  const store = sqlBlocklistStore(db);
  const change = { site: 'site', actor: ACTOR, at: 1 };
  const block = (value: string) => store.block(change, { kind: 'ip', value, name: '', visitorId: 1 });
  await block('192.0.2.1');
  const connection = await connectDatabase({ url: await prepareDatabase(dataDir), dataDir, logger: silentLogger() });
  onTestFinished(() => connection.close());

  const current = preloadBlocks(connection);
  expect((await current.take('site', 1))?.size).toBe(1);
  expect(await current.take('site', 1)).toBeNull();
  expect(await current.take('other', 1)).toBeNull();

  const outdated = preloadBlocks(connection);
  // The preload finishes before the change, or has read the change with its version.
  await connection.execute('select 1 as one', []);
  await block('192.0.2.2');
  expect((await outdated.take('site', 2)) === null).toBe(true);
  expect((await sqlBlocklistStore(db, outdated).addresses('site', 2)).size).toBe(2);
});

it('preloads nothing from a new database, and does not fail without one', async () => {
  const dataDir = await scratchFolder();
  const connection = await connectDatabase({
    url: await prepareEmptyDatabase(dataDir),
    dataDir,
    logger: silentLogger(),
  });
  onTestFinished(() => connection.close());
  expect(await preloadBlocks(connection).take('site', 1)).toBeNull();
});
