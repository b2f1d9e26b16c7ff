import {
  connectorFields,
  type SecurityField,
  type SecurityOptions,
  siteSecurityToggles,
} from '@security-optimizer/contract/protections';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { KeyedMutex } from '../lib/mutex.js';
import type { SiteConfig, SiteId } from '../site.js';
import { type Actor, SettingsConflict, type SettingsStore } from '../storage/settings-store.js';
import { securityOptionsOf } from './security-options.js';

/** How often a change is decided anew when another node was faster. */
const ATTEMPTS = 3;

const README_NOT_DELETED =
  'Saved, but the file could not be deleted because WordPress may not write there. Requests for it are refused.';

/** What the change needs from the rest of the product. */
export interface SetSecurityOptionDeps {
  readonly settings: SettingsStore;
  /** Hands options to WordPress and waits until it runs them. Throws ApiError when it can't. */
  readonly pushPolicy: (
    site: SiteConfig,
    options: SecurityOptions,
  ) => Promise<{ readonly delete_readme?: 'deleted' | 'absent' | 'not_deleted' | undefined }>;
  /** Puts options in force at the gate. */
  readonly apply: (site: SiteId, options: SecurityOptions) => void;
  readonly publish: (change: { readonly site: SiteId; readonly version: number }) => void;
  /** One change of a site at a time. */
  readonly mutex: KeyedMutex;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface OptionChange {
  readonly site: SiteConfig;
  readonly field: SecurityField;
  readonly value: 0 | 1;
  readonly actor: Actor;
}

/**
 * Switches one toggle, everywhere or nowhere: WordPress first where it enforces a part, then the store, then the gate.
 * Saving the value that is already set succeeds, after the same check that WordPress runs it.
 *
 * @returns the text for the owner
 * @throws ApiError when WordPress or the store can't take the change; then nothing is changed
 */
export function setSecurityOption(deps: SetSecurityOptionDeps, change: OptionChange): Promise<string> {
  return deps.mutex.run(change.site.id, async () => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await changeOption(deps, change);
      } catch (error) {
        if (!(error instanceof SettingsConflict) || attempt === ATTEMPTS) throw error;
      }
    }
  });
}

async function changeOption(deps: SetSecurityOptionDeps, { site, field, value, actor }: OptionChange): Promise<string> {
  const stored = await deps.settings.read(site.id);
  const before = securityOptionsOf(stored);
  const after: SecurityOptions = { ...before, [field]: value };
  const inWordPress = connectorFields.includes(field);
  const notes = inWordPress ? await deps.pushPolicy(site, after) : {};
  if (before[field] !== value) {
    let version: number;
    try {
      version = await deps.settings.write({
        site: site.id,
        changes: [
          { name: field, before: before[field], after: value, expectedVersion: stored.get(field)?.version ?? 0 },
        ],
        actor,
        at: deps.clock(),
      });
    } catch (error) {
      if (inWordPress) await takeBack(deps, site, before);
      throw error;
    }
    deps.apply(site.id, after);
    deps.publish({ site: site.id, version });
    deps.logger.info(
      { event: 'setting-changed', site: site.id, name: field, before: before[field], after: value, user: actor.id },
      'A setting was changed.',
    );
  } else deps.apply(site.id, after);
  return textFor(field, value, notes.delete_readme === 'not_deleted');
}

/** WordPress runs what was not stored: give it the old policy back. If that fails too, its next signal heals it. */
async function takeBack(deps: SetSecurityOptionDeps, site: SiteConfig, options: SecurityOptions): Promise<void> {
  try {
    await deps.pushPolicy(site, options);
  } catch (error) {
    deps.logger.warn(
      { event: 'policy-push-failed', site: site.id, err: error },
      'A change could not be stored, and WordPress could not be given the old policy back yet.',
    );
  }
}

function textFor(field: SecurityField, value: 0 | 1, readmeLeft: boolean): string {
  if (field === 'delete_readme' && value === 1 && readmeLeft) return README_NOT_DELETED;
  const toggle = siteSecurityToggles.find((entry) => entry.field === field);
  if (!toggle) throw new Error(`No toggle has the field ${field}.`);
  return value === 1 ? toggle.messages.on : toggle.messages.off;
}
