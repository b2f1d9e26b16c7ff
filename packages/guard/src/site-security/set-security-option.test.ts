import { defaultSecurityOptions } from '@security-optimizer/contract/protections';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiError } from '../lib/api-error.js';
import { silentLogger } from '../lib/logger.js';
import { KeyedMutex } from '../lib/mutex.js';
import type { SiteSettings } from '../settings/site-settings.js';
import { openDatabase } from '../storage/database.js';
import { sqlSettingsStore } from '../storage/settings-store.js';
import { scratchFolder } from '../testing/scratch.js';
import { siteConfig } from '../testing/site-config.js';
import { fetchSecurityOptions } from './fetch-security-options.js';
import { setSecurityOption } from './set-security-option.js';

const site = siteConfig();
const actor = { id: 1, login: 'owner', address: '192.0.2.7' };

async function setUp() {
  const db = await openDatabase({ url: 'sqlite:guard.sqlite', dataDir: await scratchFolder(), logger: silentLogger() });
  onTestFinished(() => db.destroy());
  const settings = sqlSettingsStore(db);
  /** Everything that happened outside the store, in order. */
  const steps: string[] = [];
  const world = {
    wordpressDown: false,
    notes: {} as { delete_readme?: 'not_deleted' },
    policy: defaultSecurityOptions as SiteSettings['options'],
  };
  const deps = {
    settings,
    pushPolicy: async (_site: unknown, { options }: SiteSettings) => {
      if (world.wordpressDown) throw new ApiError('wordpress_unreachable');
      world.policy = options;
      steps.push('pushed');
      return world.notes;
    },
    apply: (_site: string, { options }: SiteSettings) => void steps.push(`applied feeds ${options.disable_feed}`),
    publish: () => void steps.push('published'),
    mutex: new KeyedMutex(),
    clock: () => 5,
    logger: silentLogger(),
  };
  const set = (field: 'disable_feed' | 'xss_protection' | 'delete_readme', value: 0 | 1) =>
    setSecurityOption(deps, { site, field, value, actor });
  const audited = async () =>
    (await db.selectFrom('audit').selectAll().execute()).map((row) => [row.name, row.before, row.after]);
  return { db, settings, steps, world, deps, set, audited, stored: () => fetchSecurityOptions(settings, 'site') };
}

describe('switching a toggle', () => {
  it('tells WordPress, stores, puts it in force, tells other nodes, in that order', async () => {
    const { set, steps, stored, audited } = await setUp();
    expect(await set('disable_feed', 1)).toBe('Feeds are turned off.');
    expect(steps).toEqual(['pushed', 'applied feeds 1', 'published']);
    expect((await stored()).disable_feed).toBe(1);
    expect(await audited()).toEqual([['disable_feed', '0', '1']]);
  });

  it('leaves WordPress alone when only the gate enforces it', async () => {
    const { set, world, stored } = await setUp();
    world.wordpressDown = true;
    expect(await set('xss_protection', 0)).toBe('Advanced XSS protection is turned off.');
    expect((await stored()).xss_protection).toBe(0);
  });

  it('changes nothing when WordPress can’t be told', async () => {
    const { set, world, steps, stored, audited } = await setUp();
    world.wordpressDown = true;
    await expect(set('disable_feed', 1)).rejects.toMatchObject({ code: 'wordpress_unreachable' });
    expect(steps).toEqual([]);
    expect(await stored()).toEqual(defaultSecurityOptions);
    expect(await audited()).toEqual([]);
  });

  it('gives WordPress the old policy back when the change can’t be stored', async () => {
    const { deps, world, steps } = await setUp();
    const settings = { ...deps.settings, write: () => Promise.reject(new ApiError('storage_unavailable')) };
    const change = setSecurityOption({ ...deps, settings }, { site, field: 'disable_feed', value: 1, actor });
    await expect(change).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(world.policy.disable_feed).toBe(0);
    expect(steps).toEqual(['pushed', 'pushed']);
  });

  it('takes the value that is already set as a success, without a new record, and still checks WordPress', async () => {
    const { set, world, audited } = await setUp();
    expect(await set('disable_feed', 0)).toBe('Feeds are turned on.');
    expect(await audited()).toEqual([]);
    world.wordpressDown = true;
    await expect(set('disable_feed', 0)).rejects.toMatchObject({ code: 'wordpress_unreachable' });
  });

  it('says so when the readme file could not be deleted', async () => {
    const { set, world } = await setUp();
    world.notes = { delete_readme: 'not_deleted' };
    expect(await set('delete_readme', 1)).toBe(
      'Saved, but the file could not be deleted because WordPress may not write there. Requests for it are refused.',
    );
    expect(await set('delete_readme', 0)).toBe('The readme file is no longer deleted.');
  });

  it('decides anew when another node changed the same toggle in between', async () => {
    const { deps, settings, stored, audited } = await setUp();
    let first = true;
    const racing = {
      ...deps,
      pushPolicy: async () => {
        if (first) {
          first = false;
          const change = { name: 'disable_feed', before: 0, after: 1, expectedVersion: 0 };
          await settings.write({ site: 'site', changes: [change], actor: { ...actor, login: 'other' }, at: 4 });
        }
        return {};
      },
    };
    await setSecurityOption(racing, { site, field: 'disable_feed', value: 1, actor });
    expect((await stored()).disable_feed).toBe(1);
    expect(await audited()).toHaveLength(1);
  });

  it('lets the last of many parallel changes win, with one record per change', async () => {
    const { set, stored, audited, world } = await setUp();
    await Promise.all([1, 0, 1, 0, 1].map((value) => set('disable_feed', value as 0 | 1)));
    expect((await stored()).disable_feed).toBe(1);
    expect(world.policy.disable_feed).toBe(1);
    expect(await audited()).toHaveLength(5);
  });
});
