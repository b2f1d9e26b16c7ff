import { type SecurityField, siteSecurityToggles } from '@security-optimizer/contract/protections';
import { type ChangeDeps, changeSettings } from '../settings/change-settings.js';
import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';

const README_NOT_DELETED =
  'Saved, but the file could not be deleted because WordPress may not write there. Requests for it are refused.';

export interface OptionChange {
  readonly site: SiteConfig;
  readonly field: SecurityField;
  readonly value: 0 | 1;
  readonly actor: Actor;
}

/**
 * Switches one toggle, everywhere or nowhere; see `changeSettings`.
 *
 * @returns the text for the owner
 * @throws ApiError when WordPress or the store can't take the change; then nothing is changed
 */
export async function setSecurityOption(
  deps: ChangeDeps,
  { site, field, value, actor }: OptionChange,
): Promise<string> {
  const { notes } = await changeSettings(deps, { site, actor }, () => ({ [field]: value }));
  if (field === 'delete_readme' && value === 1 && notes.delete_readme === 'not_deleted') return README_NOT_DELETED;
  const toggle = siteSecurityToggles.find((entry) => entry.field === field);
  if (!toggle) throw new Error(`No toggle has the field ${field}.`);
  return value === 1 ? toggle.messages.on : toggle.messages.off;
}
