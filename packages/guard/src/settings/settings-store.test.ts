import { describe, expect, it, onTestFinished } from 'vitest';
import { openTestDatabase } from '../../test/support/database.js';
import { scratchFolder } from '../../test/support/scratch.js';
import type { Actor } from './audit-store.js';
import { createSettingsStore, SettingsConflict } from './settings-store.js';

const owner: Actor = { id: 1, login: 'owner', address: '192.0.2.7' };

describe('the settings store', () => {
  async function store() {
    const db = await openTestDatabase(await scratchFolder());
    onTestFinished(() => db.destroy());
    return { db, settings: createSettingsStore(db) };
  }
  const change = (name: string, before: number, after: number, expectedVersion: number) => ({
    name,
    before,
    after,
    expectedVersion,
  });

  it('returns the written value, with an increasing version', async () => {
    const { settings } = await store();
    await settings.write({ site: 'a', changes: [change('x', 1, 0, 0)], actor: owner, at: 5 });
    await settings.write({ site: 'a', changes: [change('x', 0, 1, 1)], actor: owner, at: 6 });
    expect([...(await settings.read('a'))]).toEqual([['x', { value: 1, version: 2 }]]);
  });

  it('keeps the settings of sites separate', async () => {
    const { settings } = await store();
    await settings.write({ site: 'a', changes: [change('x', 1, 0, 0)], actor: owner, at: 5 });
    expect((await settings.read('b')).size).toBe(0);
  });

  it('reads many sites with one query, and ignores faulty values of other sites', async () => {
    const { db, settings } = await store();
    for (const [at, site] of ['a', 'b', 'gone'].entries()) {
      await settings.write({ site, changes: [change('x', 1, at, 0)], actor: owner, at: 5 });
    }
    await db.updateTable('settings').set({ value: 'not JSON' }).where('site', '=', 'gone').execute();
    const found = await settings.readAll(['a', 'b', 'fresh']);
    expect([...found.keys()]).toEqual(['a', 'b']);
    expect(found.get('b')).toEqual(await settings.read('b'));
    expect((await settings.readAll(['gone'])).get('gone')).toEqual(new Map([['x', { value: undefined, version: 1 }]]));
    expect(await settings.readAll([])).toEqual(new Map());
  });

  it('records the actor, time, address and both values of a change', async () => {
    const { db, settings } = await store();
    await settings.write({ site: 'a', changes: [change('x', 1, 0, 0)], actor: owner, at: 1_700_000_000_000 });
    expect(await db.selectFrom('audit').selectAll().execute()).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        site: 'a',
        at: 1_700_000_000_000,
        actor_id: 1,
        actor_login: 'owner',
        address: '192.0.2.7',
        name: 'x',
        before: '1',
        after: '0',
        // Not in the Activity Log yet.
        told: 0,
      },
    ]);
  });

  it('stores nothing of a change when one part was based on an old version', async () => {
    const { db, settings } = await store();
    await settings.write({ site: 'a', changes: [change('x', 1, 0, 0)], actor: owner, at: 5 });
    const late = settings.write({
      site: 'a',
      changes: [change('y', 0, 1, 0), change('x', 1, 0, 0)],
      actor: owner,
      at: 6,
    });
    await expect(late).rejects.toBeInstanceOf(SettingsConflict);
    expect([...(await settings.read('a')).keys()]).toEqual(['x']);
    expect(await db.selectFrom('audit').select('id').execute()).toHaveLength(1);
  });

  it('accepts one of many concurrent first writes of a setting and rejects the others', async () => {
    const { settings } = await store();
    const writes = Array.from({ length: 10 }, (_, at) =>
      settings.write({ site: 'a', changes: [change('x', 1, 0, 0)], actor: owner, at }),
    );
    const results = await Promise.allSettled(writes);
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
  });

  it('stores no change that was based on another version than the stored one', async () => {
    const { db, settings } = await store();
    for (const [before, after, version] of [
      [1, 0, 0],
      [0, 5, 1],
    ] as const) {
      await settings.write({ site: 'a', changes: [change('x', before, after, version)], actor: owner, at: 5 });
    }
    for (const version of [1, 3]) {
      const late = settings.write({ site: 'a', changes: [change('x', 0, 9, version)], actor: owner, at: 6 });
      await expect(late).rejects.toBeInstanceOf(SettingsConflict);
    }
    expect([...(await settings.read('a'))]).toEqual([['x', { value: 5, version: 2 }]]);
    expect(await db.selectFrom('audit').select('id').execute()).toHaveLength(2);
  });

  it('accepts one of many concurrent changes of a stored setting and rejects the others', async () => {
    const { settings } = await store();
    await settings.write({ site: 'a', changes: [change('x', 1, 0, 0)], actor: owner, at: 5 });
    const writes = Array.from({ length: 10 }, (_, at) =>
      settings.write({ site: 'a', changes: [change('x', 0, at, 1)], actor: owner, at }),
    );
    const results = await Promise.allSettled(writes);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const winner = results.findIndex(({ status }) => status === 'fulfilled');
    expect((await settings.read('a')).get('x')).toEqual({ value: winner, version: 2 });
  });

  it('numbers changes over all sites without a gap or a duplicate', async () => {
    const { settings } = await store();
    const versions = await Promise.all(
      ['a', 'b', 'c'].map((site) => settings.write({ site, changes: [change('x', 1, 0, 0)], actor: owner, at: 5 })),
    );
    expect(versions.sort()).toEqual([1, 2, 3]);
  });
});
