import { flag } from '@security-optimizer/contract/login';
import type { z } from 'zod';
import { storedValues } from '../settings/stored-values.js';
import type { StoredSetting } from '../storage/settings-store.js';

/** What the owner was asked once. Stored one row per member. */
export interface OverviewSettings {
  /** Technical data may be collected. */
  readonly data_consent: 0 | 1;
  /** Occasional e-mails are welcome. */
  readonly email_consent: 0 | 1;
  /** The owner answered, so nobody asks again. */
  readonly consent_asked: 0 | 1;
  /** The owner does not want to be asked for a review. */
  readonly rate_dismissed: 0 | 1;
}

/** Without an answer the owner agreed to nothing. */
export const defaultOverviewSettings: OverviewSettings = Object.freeze({
  data_consent: 0,
  email_consent: 0,
  consent_asked: 0,
  rate_dismissed: 0,
});

/** What each stored value has to be. A member of `OverviewSettings` without a line here does not compile. */
const schemas: { readonly [Name in keyof OverviewSettings]: z.ZodType<OverviewSettings[Name]> } = {
  data_consent: flag,
  email_consent: flag,
  consent_asked: flag,
  rate_dismissed: flag,
};

/** The settings as they are stored, defaults filled in. Throws StorageError. */
export function overviewSettingsOf(stored: ReadonlyMap<string, StoredSetting>): OverviewSettings {
  return storedValues(schemas, defaultOverviewSettings, stored);
}
