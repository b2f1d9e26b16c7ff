import { DEFAULT_LOG_LIFETIME, LOG_LIFETIMES, type LogLifetime } from '@security-optimizer/contract/activity-limits';
import { flag } from '@security-optimizer/contract/login';
import { z } from 'zod';
import { storedValues } from '../settings/stored-values.js';
import type { StoredSetting } from '../storage/settings-store.js';

/** The settings of the Activity Log. Stored one row per member, under the API's names. */
export interface LogSettings {
  readonly disable_activity_log: 0 | 1;
  /** Days that visits and events are kept. */
  readonly log_lifetime: LogLifetime;
  /** Addresses are shortened before anything is written. */
  readonly anonymize_addresses: 0 | 1;
  /** Who gets the weekly report: addresses, lower-case. */
  readonly notification_emails: readonly string[];
}

/** The settings of a site whose owner has changed nothing. */
export const defaultLogSettings: LogSettings = Object.freeze({
  disable_activity_log: 0,
  log_lifetime: DEFAULT_LOG_LIFETIME,
  anonymize_addresses: 0,
  notification_emails: Object.freeze([]),
});

/** What each stored value has to be. A member of `LogSettings` without a line here does not compile. */
const schemas: { readonly [Name in keyof LogSettings]: z.ZodType<LogSettings[Name]> } = {
  disable_activity_log: flag,
  log_lifetime: z.literal([...LOG_LIFETIMES]),
  anonymize_addresses: flag,
  notification_emails: z.array(z.string()),
};

/** The settings as they are stored, defaults filled in. Throws StorageError. */
export function logSettingsOf(stored: ReadonlyMap<string, StoredSetting>): LogSettings {
  return storedValues(schemas, defaultLogSettings, stored);
}
