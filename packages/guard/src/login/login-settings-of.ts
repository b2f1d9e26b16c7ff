import { awayScheduleSchema, flag } from '@security-optimizer/contract/login';
import { LOGIN_ATTEMPT_VALUES } from '@security-optimizer/contract/login-limits';
import { z } from 'zod';
import { storedValues } from '../settings/stored-values.js';
import type { StoredSetting } from '../storage/settings-store.js';
import { defaultLoginSettings, type LoginSettings } from './login-settings.js';

/** What each stored value has to be. A member of `LoginSettings` without a line here does not compile. */
const schemas: { readonly [Name in keyof LoginSettings]: z.ZodType<LoginSettings[Name]> } = {
  login_attempts: z.literal([...LOGIN_ATTEMPT_VALUES]),
  login_access: z.array(z.string()),
  login_url: z.object({ type: z.enum(['default', 'custom']), login: z.string(), signup: z.string() }),
  disable_usernames: flag,
  sg2fa: flag,
  two_factor_app_passwords: flag,
  away_mode: awayScheduleSchema,
};

/**
 * The settings in force: what is stored, and the default for what was never changed.
 * @throws StorageError for a stored value that has another form; a default in its place could be the weaker one
 */
export function loginSettingsOf(stored: ReadonlyMap<string, StoredSetting>): LoginSettings {
  return storedValues(schemas, defaultLoginSettings, stored);
}
