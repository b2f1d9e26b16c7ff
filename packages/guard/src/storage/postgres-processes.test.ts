import { describe, expect, it } from 'vitest';
import type { TestDatabase } from '../../test/support/database.js';
import { suiteServer } from '../../test/support/postgres-databases.js';
import { postgresMissing, withoutPostgres } from '../../test/support/postgres-server.js';
import { sqlBlocklistStore } from '../activity/blocklist/blocklist-store.js';
import { createReportStore } from '../reports/sent-reports.js';
import { createSettingsStore, SettingsConflict } from '../settings/settings-store.js';
import { createChallengeStore } from '../two-factor/challenges.js';
import { createFactorTriesStore } from '../two-factor/check-code.js';
import { createFactorStore } from '../two-factor/factor-store.js';
import { sqlCallNonces } from './call-nonces.js';

const actor = { id: 1, login: 'owner', address: null };
const change = (name: string, after: number, expectedVersion = 0) => ({
  site: 'a',
  changes: [{ name, before: 1, after, expectedVersion }],
  actor,
  at: 5,
});

/** Each database has connections of its own, as two processes have. */
describe.skipIf(postgresMissing !== null)(`two processes on one database in PostgreSQL${withoutPostgres}`, () => {
  const suite = suiteServer();

  async function two(): Promise<readonly [TestDatabase, TestDatabase]> {
    const database = await suite.createDatabase();
    return [await suite.open(database), await suite.open(database)];
  }

  it('create the tables once when they start at the same time', async () => {
    for (let i = 0; i < 3; i++) {
      const database = await suite.createDatabase();
      const opened = await Promise.all(Array.from({ length: 4 }, () => suite.open(database)));
      for (const db of opened) expect(await createSettingsStore(db).read('a')).toEqual(new Map());
    }
  });

  it.each([
    ['a new setting', 0],
    ['a stored setting', 1],
  ])('write %s at the same time: one wins, the other gets a conflict and stores nothing', async (_, expected) => {
    const [one, other] = await two();
    const stores = [createSettingsStore(one), createSettingsStore(other)] as const;
    for (let i = 0; i < 20; i++) {
      if (expected === 1) await stores[0].write(change(`x${i}`, 0));
      const before = await one.selectFrom('audit').selectAll().execute();
      const results = await Promise.allSettled(stores.map((store, at) => store.write(change(`x${i}`, at, expected))));
      const won = results.findIndex(({ status }) => status === 'fulfilled');
      expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
      expect(results[1 - won]).toMatchObject({ reason: expect.any(SettingsConflict) });
      expect((await stores[0].read('a')).get(`x${i}`)).toEqual({ value: won, version: expected + 1 });
      expect(await one.selectFrom('audit').selectAll().execute()).toHaveLength(before.length + 1);
    }
  });

  it.each([
    ['one site', () => 'a'],
    ['many sites', (i: number) => `site-${i}`],
  ])('give versions without a gap to 50 changes of %s, and a reader misses none of them', async (_, toSite) => {
    const [one, other] = await two();
    const databases = [one, other] as const;
    const seen: { site: string; version: number }[] = [];
    let last = 0;
    const read = async () => {
      const rows = await one
        .selectFrom('site_versions')
        .selectAll()
        .where('version', '>', last)
        .orderBy('version')
        .execute();
      for (const row of rows) last = Math.max(last, row.version);
      seen.push(...rows);
    };
    let reading = true;
    const reader = (async () => {
      while (reading) await read();
      await read();
    })();
    const versions = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        createSettingsStore(databases[i % 2] as TestDatabase).write({ ...change(`x${i}`, i), site: toSite(i) }),
      ),
    );
    reading = false;
    await reader;
    expect([...versions].sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    expect(seen.map(({ version }) => version)).toEqual(seen.map(({ version }) => version).sort((a, b) => a - b));
    expect(last).toBe(50);
    // Each site's last version was seen.
    const stored = await one.selectFrom('site_versions').selectAll().execute();
    expect(
      stored.filter((row) => !seen.some((each) => each.site === row.site && each.version === row.version)),
    ).toEqual([]);
  });

  it('block each other’s administrators at the same time: exactly one is blocked', async () => {
    const [one, other] = await two();
    const stores = [sqlBlocklistStore(one), sqlBlocklistStore(other)] as const;
    const won = [0, 0];
    for (let i = 0; i < 30; i++) {
      const site = `site-${i}`;
      const by = (id: number) => ({ site, actor: { ...actor, id }, at: 1 });
      const user = (id: number) => ({ kind: 'user', value: String(id), name: '', visitorId: id }) as const;
      const results = await Promise.all([stores[0].block(by(1), user(2)), stores[1].block(by(2), user(1))]);
      expect(results.filter((result) => result === null)).toHaveLength(1);
      const blocked = results[0] === null ? 1 : 2;
      expect(await stores[0].users(site)).toEqual([blocked]);
      expect(await stores[1].version(site)).toBe(1);
      won[2 - blocked] = (won[2 - blocked] as number) + 1;
    }
    expect((won[0] as number) + (won[1] as number)).toBe(30);
  });

  it('accept a code of the second factor once', async () => {
    const [one, other] = await two();
    const stores = [createFactorStore(one), createFactorStore(other)] as const;
    const owner = { site: 'a', userId: 1 };
    const codes = Array.from({ length: 10 }, (_, i) => `hash ${i}`);
    await createChallengeStore(one).create(
      {
        ...owner,
        ...{ idHash: 'c', login: 'owner', purpose: 'login', remember: false, redirect: '', decided: false },
        ...{ sitePath: '', interim: false, stamp: '', createdAt: 0, expiresAt: 100 },
      },
      5,
    );
    await stores[0].startSetup(owner, { login: 'owner', secret: 's', keyId: 'k', challenge: 'c', at: 1 });
    expect(await stores[1].confirmSetup(owner, { challenge: 'c', step: 5, codes, at: 2 })).toBe(true);
    expect(await stores[0].enable(owner, { challenge: 'c', at: 3 })).toBe(true);
    const count = async (use: (store: (typeof stores)[0]) => Promise<boolean>) => {
      const results = await Promise.all([...stores, ...stores, ...stores].map(use));
      return results.filter(Boolean).length;
    };
    for (let i = 0; i < 10; i++) {
      expect(await count((store) => store.consumeStep(owner, 6 + i))).toBe(1);
      expect(await count((store) => store.consumeBackupCode(owner, `hash ${i}`, 10))).toBe(1);
    }
    expect((await stores[1].read(owner))?.lastStep).toBe(15);
  });

  it('accept the nonce of a signed call once', async () => {
    const stores = (await two()).map(sqlCallNonces);
    for (let i = 0; i < 10; i++) {
      const results = await Promise.all([...stores, ...stores].map((store) => store.consume('a', `nonce ${i}`, i)));
      expect(results.filter(Boolean)).toHaveLength(1);
    }
  });

  it('send a weekly report once', async () => {
    const stores = (await two()).map(createReportStore);
    for (let i = 0; i < 10; i++) {
      const claims = [...stores, ...stores].map((store) => store.claim('a', `${i}@example.com`, 1000, 1000));
      expect((await Promise.all(claims)).filter((claim) => claim !== null)).toHaveLength(1);
    }
  });

  it('never give two tried codes of a user the same number', async () => {
    const stores = (await two()).map(createFactorTriesStore);
    const owner = { site: 'a', userId: 1 };
    const before = await (stores[0] as (typeof stores)[0]).read(owner);
    const after = { ...before, tries: 1 };
    const swaps = await Promise.all([...stores, ...stores].map((store) => store.swap(owner, before, after)));
    expect(swaps.filter(Boolean)).toHaveLength(1);
  });
});
