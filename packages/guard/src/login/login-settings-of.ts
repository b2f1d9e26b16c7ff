import { awayScheduleSchema, flag } from '@security-optimizer/contract/login';
import { LOGIN_ATTEMPT_VALUES } from '@security-optimizer/contract/login-limits';
import { z } from 'zod';
import type { StoredSetting } from '../storage/settings-store.js';
import { StorageError } from '../storage/storage-error.js';
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

export const loginSettingNames = Object.keys(schemas) as readonly (keyof LoginSettings)[];

/**
 * The settings in force: what is stored, and the default for what was never changed.
 * @throws StorageError for a stored value that has another form; a default in its place could be the weaker one
 */
export function loginSettingsOf(stored: ReadonlyMap<string, StoredSetting>): LoginSettings {
  const entries = loginSettingNames.map((name) => {
    const setting = stored.get(name);
    if (setting === undefined) return [name, defaultLoginSettings[name]];
    const parsed = schemas[name].safeParse(setting.value);
    if (!parsed.success) throw new StorageError('corrupt', `The stored value of ${name} has an unknown form.`);
    return [name, parsed.data];
  });
  return Object.fromEntries(entries) as LoginSettings;
}
