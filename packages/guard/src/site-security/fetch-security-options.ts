import type { SecurityOptions } from '@security-optimizer/contract/protections';
import type { SiteId } from '../site.js';
import type { SettingsStore } from '../storage/settings-store.js';
import { securityOptionsOf } from './security-options.js';

/** The seven options as they are stored, defaults filled in. Throws StorageError. */
export async function fetchSecurityOptions(
  settings: Pick<SettingsStore, 'read'>,
  site: SiteId,
): Promise<SecurityOptions> {
  return securityOptionsOf(await settings.read(site));
}
