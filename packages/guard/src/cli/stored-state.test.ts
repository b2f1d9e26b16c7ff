import { expect, it, onTestFinished } from 'vitest';
import { openTestDatabase } from '../../test/support/database.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { sqlBlocklistStore } from '../activity/index.js';
import { sqlThrottledAccountsStore } from '../login/index.js';
import { createSettingsStore } from '../settings/settings-store.js';
import { defaultSiteSettings } from '../settings/site-settings.js';
import { createSiteFactsStore } from '../sites/site-facts-store.js';
import { readStoredStates } from './stored-state.js';

const ACTOR = { id: 1, login: 'owner', address: '203.0.113.5' };

it('has the state of each site, and nothing of the others', async () => {
  const db = await openTestDatabase(await scratchFolder());
  onTestFinished(() => db.destroy());
  await createSiteFactsStore(db).writeKeyRestored('one', 1234);
  await createSettingsStore(db).write({
    ...{ site: 'one', actor: ACTOR, at: 1 },
    changes: [{ name: 'paused_until', before: 0, after: 5678, expectedVersion: 0 }],
  });
  await sqlThrottledAccountsStore(db).write('two', [3, 8]);
  for (const [site, user] of [
    ['one', 12],
    ['two', 9],
    ['two', 10],
  ] as const) {
    const block = { kind: 'user', value: String(user), name: '', visitorId: user } as const;
    await sqlBlocklistStore(db).block({ site, actor: ACTOR, at: 1 }, block);
  }
  const toStored = await readStoredStates(db, ['one', 'two', 'new']);
  expect(toStored('one')).toEqual({
    ...{ facts: null, keyRestoredAt: 1234, throttled: [], unusable: null, blocked: [12] },
    settings: { ...defaultSiteSettings, pausedUntil: 5678 },
  });
  expect(toStored('two')).toEqual({
    ...{ facts: null, keyRestoredAt: null, throttled: [3, 8], unusable: null, blocked: [9, 10] },
    settings: defaultSiteSettings,
  });
  expect(toStored('new')).toEqual({
    ...{ facts: null, keyRestoredAt: null, throttled: [], unusable: null, blocked: [] },
    settings: defaultSiteSettings,
  });
});

it('has the defaults before guard’s first start, and no settings of a database that can’t be read', async () => {
  expect((await readStoredStates(null, ['one']))('one').settings).toEqual(defaultSiteSettings);
  expect((await readStoredStates('unusable', ['one']))('one').settings).toBeNull();
});
