import {
  defaultSecurityOptions,
  type SecurityField,
  type SecurityOptions,
  siteSecurityToggles,
} from '@security-optimizer/contract/protections';
import type { StoredSetting } from '../storage/settings-store.js';
import { StorageError } from '../storage/storage-error.js';

/**
 * The options in force: what is stored, and the default for what was never changed.
 * @throws StorageError for a stored value that is neither 0 nor 1; a default in its place could be the weaker one
 */
export function securityOptionsOf(stored: ReadonlyMap<string, StoredSetting>): SecurityOptions {
  const options: Record<SecurityField, 0 | 1> = { ...defaultSecurityOptions };
  for (const { field } of siteSecurityToggles) {
    const setting = stored.get(field);
    if (setting === undefined) continue;
    if (setting.value !== 0 && setting.value !== 1) {
      throw new StorageError('corrupt', `The stored value of ${field} is neither 0 nor 1.`);
    }
    options[field] = setting.value;
  }
  return options;
}
