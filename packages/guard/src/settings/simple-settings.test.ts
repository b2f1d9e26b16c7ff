import { endpoints } from '@security-optimizer/contract/endpoints';
import { requests } from '@security-optimizer/contract/requests';
import {
  allowedValues,
  allSimpleSettings,
  hasUsualEndpoint,
  type SettingGroup,
  settingRequestName,
  simpleSettings,
  toResponseValue,
} from '@security-optimizer/contract/settings/catalogue';
import type { SettingCalls } from '@security-optimizer/contract/settings/endpoints';
import { defaultSecurityOptions } from '@security-optimizer/contract/settings/protections';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTestDatabase } from '../../test/support/database.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { siteConfig } from '../../test/support/site-config.js';
import { settingHandlers } from '../api/setting-handlers.js';
import { ApiError } from '../lib/api-error.js';
import { silentLogger } from '../lib/logger.js';
import { KeyedMutex } from '../lib/mutex.js';
import { StorageError } from '../storage/storage-error.js';
import { changeSimpleSetting } from './change-settings.js';
import { fieldsInWordPress, toConnectorPolicy } from './connector-policy.js';
import { createSettingsStore } from './settings-store.js';
import { toValueName } from './simple-settings.js';
import {
  defaultSiteSettings,
  getEffectiveSettings,
  getSettingValue,
  readSiteSettings,
  type SiteSettings,
  toSiteSettings,
} from './site-settings.js';

const consent = { technicalDataUrl: 'https://example.com/data', emailUrl: 'https://example.com/mails' };

const site = siteConfig();
const actor = { id: 1, login: 'owner', address: '192.0.2.7' };

async function setUp() {
  const db = await openTestDatabase(await scratchFolder());
  onTestFinished(() => db.destroy());
  const settings = createSettingsStore(db);
  /** All steps outside the store, in order. */
  const steps: string[] = [];
  const fake = {
    wordpressDown: false,
    notes: {} as { delete_readme?: 'not_deleted' },
    policy: defaultSecurityOptions as SiteSettings['options'],
  };
  const deps = {
    settings,
    pushPolicy: async (_site: unknown, { options }: SiteSettings) => {
      if (fake.wordpressDown) throw new ApiError('wordpress_unreachable');
      fake.policy = options;
      steps.push('pushed');
      return fake.notes;
    },
    apply: (_site: string, { options }: SiteSettings) => void steps.push(`applied feeds ${options.disable_feed}`),
    publish: () => void steps.push('published'),
    mutex: new KeyedMutex(),
    clock: () => 5,
    logger: silentLogger(),
  };
  const set = (field: 'disable_feed' | 'xss_protection' | 'delete_readme', value: 0 | 1) =>
    changeSimpleSetting(deps, { site, actor }, field, value);
  const audited = async () =>
    (await db.selectFrom('audit').selectAll().execute()).map((row) => [row.name, row.before, row.after]);
  return {
    db,
    settings,
    steps,
    fake: fake,
    deps,
    set,
    audited,
    stored: async () => (await readSiteSettings(settings, 'site')).options,
  };
}

describe('switching a toggle', () => {
  it('pushes to WordPress, stores, applies and notifies other nodes, in this order', async () => {
    const { set, steps, stored, audited } = await setUp();
    expect(await set('disable_feed', 1)).toBe('Feeds are turned off.');
    expect(steps).toEqual(['pushed', 'applied feeds 1', 'published']);
    expect((await stored()).disable_feed).toBe(1);
    expect(await audited()).toEqual([['disable_feed', '0', '1']]);
  });

  it('does not call WordPress when only the gateway enforces it', async () => {
    const { set, fake, stored } = await setUp();
    fake.wordpressDown = true;
    expect(await set('xss_protection', 0)).toBe('Advanced XSS protection is turned off.');
    expect((await stored()).xss_protection).toBe(0);
  });

  it('changes nothing when WordPress can’t be reached', async () => {
    const { set, fake, steps, stored, audited } = await setUp();
    fake.wordpressDown = true;
    await expect(set('disable_feed', 1)).rejects.toMatchObject({ code: 'wordpress_unreachable' });
    expect(steps).toEqual([]);
    expect(await stored()).toEqual(defaultSecurityOptions);
    expect(await audited()).toEqual([]);
  });

  it('restores the old policy in WordPress when the change can’t be stored', async () => {
    const { deps, fake, steps } = await setUp();
    const settings = { ...deps.settings, write: () => Promise.reject(new ApiError('storage_unavailable')) };
    const change = changeSimpleSetting({ ...deps, settings }, { site, actor }, 'disable_feed', 1);
    await expect(change).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(fake.policy.disable_feed).toBe(0);
    expect(steps).toEqual(['pushed', 'pushed']);
  });

  it('succeeds for the value that is already set, without an audit row, and still checks WordPress', async () => {
    const { set, fake, audited } = await setUp();
    expect(await set('disable_feed', 0)).toBe('Feeds are turned on.');
    expect(await audited()).toEqual([]);
    fake.wordpressDown = true;
    await expect(set('disable_feed', 0)).rejects.toMatchObject({ code: 'wordpress_unreachable' });
  });

  it('reports that the readme file could not be deleted', async () => {
    const { set, fake } = await setUp();
    fake.notes = { delete_readme: 'not_deleted' };
    expect(await set('delete_readme', 1)).toBe(
      'Saved, but the file could not be deleted because WordPress may not write there. Requests for it are refused.',
    );
    expect(await set('delete_readme', 0)).toBe('The readme file is no longer deleted.');
  });

  it('decides again when another node changed the same toggle', async () => {
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
    await changeSimpleSetting(racing, { site, actor }, 'disable_feed', 1);
    expect((await stored()).disable_feed).toBe(1);
    expect(await audited()).toHaveLength(1);
  });

  it('stores the last of many parallel changes, with one audit row per change', async () => {
    const { set, stored, audited, fake } = await setUp();
    await Promise.all([1, 0, 1, 0, 1].map((value) => set('disable_feed', value as 0 | 1)));
    expect((await stored()).disable_feed).toBe(1);
    expect(fake.policy.disable_feed).toBe(1);
    expect(await audited()).toHaveLength(5);
  });
});

it('the policy of WordPress contains only the options that it enforces', () => {
  const options = Object.keys(defaultSecurityOptions);
  expect(options.filter((field) => fieldsInWordPress.has(field)).sort()).toEqual([
    'delete_readme',
    'disable_feed',
    'disable_file_edit',
    'disable_xml_rpc',
    'wp_remove_version',
  ]);
});

/** Each entry is tested generically: a new one needs no line here. */
describe.each(allSimpleSettings)('the simple setting $field of the catalogue', (setting) => {
  const { field, default: initial, paused, enforcedAt, oppositeInPolicy, suffix, messages } = setting;
  const values = allowedValues(setting);
  const group = (Object.keys(simpleSettings) as SettingGroup[]).find((name) =>
    simpleSettings[name].some((entry) => entry.field === field),
  ) as SettingGroup;
  const stored = (value: number) => toSiteSettings(new Map([[field, { value, version: 1 }]]));

  it('has its default on a fresh site, and accepts only the allowed values from storage', () => {
    expect(values).toContain(initial);
    expect(getSettingValue(defaultSiteSettings, field)).toBe(initial);
    for (const value of values) {
      expect(getSettingValue(stored(value), field)).toBe(value);
      expect((stored(value)[group] as Readonly<Record<string, unknown>>)[field]).toBe(value);
    }
    expect(() => stored(Math.max(...values) + 1)).toThrow(StorageError);
  });

  it('is in the policy of WordPress exactly when WordPress enforces it', () => {
    expect(fieldsInWordPress.has(field)).toBe(enforcedAt.includes('php'));
    for (const value of values) {
      const policy = toConnectorPolicy(stored(value), consent);
      if (!enforcedAt.includes('php')) expect(policy).not.toHaveProperty(field);
      else if (oppositeInPolicy === undefined) expect(policy[field]).toBe(value);
      else for (const name of oppositeInPolicy) expect(policy[name]).toBe(1 - value);
    }
  });

  it('has the value of the catalogue during a pause', () => {
    for (const value of values) {
      const effective = getEffectiveSettings({ ...stored(value), pausedUntil: 1 }, 0);
      expect(getSettingValue(effective, field)).toBe(paused ?? value);
    }
  });

  it('is changed with a message for the owner and an audit row', async () => {
    const { deps, audited } = await setUp();
    for (const value of values) {
      const message = await changeSimpleSetting(deps, { site, actor }, field, value);
      expect(message === '').toBe(messages === undefined);
      expect(getSettingValue(await readSiteSettings(deps.settings, 'site'), field)).toBe(value);
    }
    expect((await audited()).every(([name]) => name === field)).toBe(true);
    expect(new Set(values.map((value) => toValueName(setting, value))).size).toBe(values.length);
  });

  it('has an endpoint that validates the value, if it has one at all', async () => {
    if (!hasUsualEndpoint(setting)) return;
    const endpoint = endpoints.find(({ name }) => name === settingRequestName(field)) as (typeof endpoints)[number];
    expect(endpoint.suffix).toBe(suffix);
    const { schema } = requests[endpoint.name];
    const { deps } = await setUp();
    const handle = settingHandlers(deps)[endpoint.name as SettingCalls['name']] as unknown as (
      input: object,
      context: object,
    ) => Promise<{ data: object }>;
    for (const value of values) {
      expect(schema.safeParse({ [field]: String(value) })).toMatchObject({
        success: true,
        data: { [field]: value },
      });
      const { data } = await handle({ [field]: value }, { site, actor });
      expect(data).toEqual({ [field]: toResponseValue(setting, value) });
      expect(endpoint.response.safeParse(data).success).toBe(true);
    }
    expect(schema.safeParse({ [field]: 99 }).success).toBe(false);
    expect(schema.safeParse({}).success).toBe(false);
  });
});
