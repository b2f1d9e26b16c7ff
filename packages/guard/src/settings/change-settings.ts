import type { ServerText } from '@security-optimizer/contract/server-message';
import type { SettingField } from '@security-optimizer/contract/settings/catalogue';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { KeyedMutex } from '../lib/mutex.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { PolicyNotes } from '../wordpress/connector-responses.js';
import type { Actor, JsonValue } from './audit-store.js';
import { fieldsInWordPress } from './connector-policy.js';
import { SettingsConflict, type SettingsStore } from './settings-store.js';
import { getSetting, toMessage } from './simple-settings.js';
import {
  applyChanges,
  getSettingValue,
  parseStoredSettings,
  type SettingChanges,
  type SiteSettings,
  toSiteSettings,
} from './site-settings.js';

/** Attempts to decide a change while other nodes change the same setting. */
const ATTEMPTS = 3;

interface AnySite {
  readonly id: SiteId;
}

/** The services that a change of settings uses. `Site` is the part of a site that `pushPolicy` needs. */
export interface SettingChangeContext<Site extends AnySite = SiteConfig> {
  readonly settings: SettingsStore;
  /**
   * Sends settings to WordPress. Resolves when WordPress enforces them.
   * @throws ApiError when WordPress can't
   */
  readonly pushPolicy: (site: Site, settings: SiteSettings) => Promise<PolicyNotes>;
  /** Puts settings in force at the gateway. */
  readonly apply: (site: SiteId, settings: SiteSettings) => void;
  readonly publish: (change: { readonly site: SiteId; readonly version: number }) => void;
  /** Serializes the changes of a site. */
  readonly mutex: KeyedMutex;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Changed {
  readonly before: SiteSettings;
  readonly after: SiteSettings;
  readonly notes: PolicyNotes;
}

interface SettingsChange<Site extends AnySite> {
  readonly site: Site;
  readonly actor: Actor;
  /**
   * Names of settings whose stored values may be replaced even if they can't be used. Their defaults count as the
   * current values; the audit row has null in their place. Any other value that can't be used stops the change.
   */
  readonly replacing?: readonly string[];
}

/**
 * Changes settings of a site, everywhere or nowhere. The order is WordPress, if it enforces one of them, then the
 * store, with an audit row for each changed value, then the gateway. Setting the same value again succeeds, after the
 * same check that WordPress enforces it.
 *
 * @param decide computes the new values from the current ones; an error that it throws stops the change. It is called
 *   again when another change of the same setting was stored first
 * @throws ApiError when WordPress or the store fails, in which case nothing is changed
 */
export function changeSettings<Site extends AnySite>(
  context: SettingChangeContext<Site>,
  change: SettingsChange<Site>,
  decide: (now: SiteSettings) => SettingChanges | Promise<SettingChanges>,
): Promise<Changed> {
  return context.mutex.run(change.site.id, async () => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await changeOnce(context, change, decide);
      } catch (error) {
        if (!(error instanceof SettingsConflict) || attempt === ATTEMPTS) throw error;
      }
    }
  });
}

async function changeOnce<Site extends AnySite>(
  context: SettingChangeContext<Site>,
  { site, actor, replacing = [] }: SettingsChange<Site>,
  decide: (now: SiteSettings) => SettingChanges | Promise<SettingChanges>,
): Promise<Changed> {
  const stored = await context.settings.read(site.id);
  const unusable = new Set(replacing.filter((name) => parseStoredSettings(stored).unusable.has(name)));
  const before = toSiteSettings(new Map([...stored].filter(([name]) => !unusable.has(name))));
  const values = await decide(before);
  const after = applyChanges(before, values);
  const names = Object.keys(values);
  const inWordPress = names.some((name) => fieldsInWordPress.has(name));
  const notes = inWordPress ? await context.pushPolicy(site, after) : {};
  const changes = names
    .map((name) => ({
      name,
      // Null for a stored value that can't be used: its default was never in force.
      before: unusable.has(name) ? null : (getSettingValue(before, name) as JsonValue),
      after: getSettingValue(after, name) as JsonValue,
      expectedVersion: stored.get(name)?.version ?? 0,
    }))
    .filter(({ name, ...entry }) => unusable.has(name) || JSON.stringify(entry.before) !== JSON.stringify(entry.after));
  if (changes.length === 0) {
    context.apply(site.id, after);
    return { before, after, notes };
  }
  let version: number;
  try {
    version = await context.settings.write({ site: site.id, changes, actor, at: context.clock() });
  } catch (error) {
    if (inWordPress) await restoreConnectorPolicy(context, site, before);
    throw error;
  }
  context.apply(site.id, after);
  context.publish({ site: site.id, version });
  for (const { name, before: old, after: value } of changes) {
    context.logger.info(
      { event: 'setting-changed', site: site.id, name, before: old, after: value, user: actor.id },
      'A setting was changed.',
    );
  }
  return { before, after, notes };
}

/**
 * Restores the old policy in WordPress after the change could not be stored. If this fails too, the next signal of the
 * connector reconciles the policy.
 */
async function restoreConnectorPolicy<Site extends AnySite>(
  context: SettingChangeContext<Site>,
  site: Site,
  settings: SiteSettings,
): Promise<void> {
  try {
    await context.pushPolicy(site, settings);
  } catch (error) {
    context.logger.warn(
      { event: 'policy-push-failed', site: site.id, err: error },
      'A change could not be stored, and WordPress could not be given the old policy back yet.',
    );
  }
}

/**
 * Changes one simple setting, everywhere or nowhere; see `changeSettings`.
 *
 * @returns the message for the owner; empty for a setting without one
 * @throws ApiError when WordPress or the store fails, in which case nothing is changed
 */
export async function changeSimpleSetting(
  context: SettingChangeContext,
  scope: { readonly site: SiteConfig; readonly actor: Actor },
  field: SettingField,
  value: number,
): Promise<ServerText> {
  const { notes } = await changeSettings(context, scope, () => ({ [field]: value }));
  return toMessage(getSetting(field), value, notes);
}

/**
 * Restores the old values of settings after a later step of their change has failed. The failure was often in WordPress
 * itself: if WordPress can't apply the old policy either, the next signal of the connector reconciles it. Never throws,
 * so that the caller can throw the first error; settings that can't be rolled back are logged.
 */
export async function rollBackSettings(
  context: SettingChangeContext,
  change: { readonly site: SiteConfig; readonly actor: Actor },
  old: SettingChanges,
): Promise<void> {
  const { logger } = context;
  const pushPolicy: SettingChangeContext['pushPolicy'] = async (site, settings) => {
    try {
      return await context.pushPolicy(site, settings);
    } catch (error) {
      logger.warn(
        { event: 'policy-push-failed', site: site.id, err: error },
        'A change was taken back, and WordPress could not be given the old policy yet.',
      );
      return {};
    }
  };
  try {
    await changeSettings({ ...context, pushPolicy }, change, () => old);
  } catch (error) {
    logger.error(
      {
        event: 'settings-rollback-failed',
        site: change.site.id,
        names: Object.keys(old),
        err: error,
      },
      'A change failed half way, and its settings could not be given their old values back.',
    );
  }
}
