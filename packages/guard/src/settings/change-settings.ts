import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { KeyedMutex } from '../lib/mutex.js';
import type { SiteConfig, SiteId } from '../site.js';
import { type Actor, type JsonValue, SettingsConflict, type SettingsStore } from '../storage/settings-store.js';
import { fieldsInWordPress } from './connector-policy.js';
import { type SettingChanges, type SiteSettings, settingNamed, siteSettingsOf, withChanges } from './site-settings.js';

/** How often a change is decided anew when another node was faster. */
const ATTEMPTS = 3;

/** What WordPress says about things it did while it took a policy. */
export interface PolicyNotes {
  readonly delete_readme?: 'deleted' | 'absent' | 'not_deleted' | undefined;
}

/** What a change needs from the rest of the product. */
export interface ChangeDeps {
  readonly settings: SettingsStore;
  /** Hands settings to WordPress and waits until it runs them. Throws ApiError when it can't. */
  readonly pushPolicy: (site: SiteConfig, settings: SiteSettings) => Promise<PolicyNotes>;
  /** Puts settings in force at the gate. */
  readonly apply: (site: SiteId, settings: SiteSettings) => void;
  readonly publish: (change: { readonly site: SiteId; readonly version: number }) => void;
  /** One change of a site at a time. */
  readonly mutex: KeyedMutex;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Changed {
  readonly before: SiteSettings;
  readonly after: SiteSettings;
  readonly notes: PolicyNotes;
}

/**
 * Changes settings of a site, everywhere or nowhere: WordPress first where it enforces one of them, then the store,
 * with an audit row for each value that differs, then the gate. Values that are already set succeed, after the same
 * check that WordPress runs them.
 *
 * @param decide says the new values from the present ones; what it throws stops the change. It is asked again when
 *   somebody else changed the same setting at the same time
 * @throws ApiError when WordPress or the store can't take the change; then nothing is changed
 */
export function changeSettings(
  deps: ChangeDeps,
  change: { readonly site: SiteConfig; readonly actor: Actor },
  decide: (now: SiteSettings) => SettingChanges | Promise<SettingChanges>,
): Promise<Changed> {
  return deps.mutex.run(change.site.id, async () => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await changeOnce(deps, change, decide);
      } catch (error) {
        if (!(error instanceof SettingsConflict) || attempt === ATTEMPTS) throw error;
      }
    }
  });
}

async function changeOnce(
  deps: ChangeDeps,
  { site, actor }: { readonly site: SiteConfig; readonly actor: Actor },
  decide: (now: SiteSettings) => SettingChanges | Promise<SettingChanges>,
): Promise<Changed> {
  const stored = await deps.settings.read(site.id);
  const before = siteSettingsOf(stored);
  const values = await decide(before);
  const after = withChanges(before, values);
  const names = Object.keys(values);
  const inWordPress = names.some((name) => fieldsInWordPress.has(name));
  const notes = inWordPress ? await deps.pushPolicy(site, after) : {};
  const changes = names
    .map((name) => ({
      name,
      before: settingNamed(before, name) as JsonValue,
      after: settingNamed(after, name) as JsonValue,
      expectedVersion: stored.get(name)?.version ?? 0,
    }))
    .filter((entry) => JSON.stringify(entry.before) !== JSON.stringify(entry.after));
  if (changes.length === 0) {
    deps.apply(site.id, after);
    return { before, after, notes };
  }
  let version: number;
  try {
    version = await deps.settings.write({ site: site.id, changes, actor, at: deps.clock() });
  } catch (error) {
    if (inWordPress) await takeBack(deps, site, before);
    throw error;
  }
  deps.apply(site.id, after);
  deps.publish({ site: site.id, version });
  for (const { name, before: old, after: value } of changes) {
    deps.logger.info(
      { event: 'setting-changed', site: site.id, name, before: old, after: value, user: actor.id },
      'A setting was changed.',
    );
  }
  return { before, after, notes };
}

/** WordPress runs what was not stored: give it the old policy back. If that fails too, its next signal heals it. */
async function takeBack(deps: ChangeDeps, site: SiteConfig, settings: SiteSettings): Promise<void> {
  try {
    await deps.pushPolicy(site, settings);
  } catch (error) {
    deps.logger.warn(
      { event: 'policy-push-failed', site: site.id, err: error },
      'A change could not be stored, and WordPress could not be given the old policy back yet.',
    );
  }
}
