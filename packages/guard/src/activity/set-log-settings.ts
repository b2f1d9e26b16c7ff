import { LOG_LIFETIMES, type LogLifetime, WEEKLY_REPORT_MIN_DAYS } from '@security-optimizer/contract/activity-limits';
import { type ChangeDeps, changeSettings } from '../settings/change-settings.js';
import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import { english } from '../texts/language.js';

interface Change<Value> {
  readonly site: SiteConfig;
  readonly actor: Actor;
  readonly value: Value;
}

/**
 * Switches the log off (1) or on (0). While it is off nothing is written; what is kept stays for its days.
 * @returns the text for the owner
 * @throws ApiError when WordPress or the store can't take the change; then nothing is changed
 */
export async function setDisableActivityLog(deps: ChangeDeps, { site, actor, value }: Change<0 | 1>): Promise<string> {
  await changeSettings(deps, { site, actor }, () => ({ disable_activity_log: value }));
  return value === 1
    ? 'The activity log is off. Failed log-ins are still counted and locked.'
    : 'The activity log is on.';
}

/**
 * How many days the log is kept.
 * @returns the text for the owner, which says when weekly reports stop
 * @throws ApiError
 */
export async function setLogLifetime(deps: ChangeDeps, { site, actor, value }: Change<LogLifetime>): Promise<string> {
  await changeSettings(deps, { site, actor }, () => ({ log_lifetime: value }));
  return value < WEEKLY_REPORT_MIN_DAYS
    ? english.counted(
        'The activity log is kept for {count} day. No weekly reports are sent while it is kept for fewer than {least} days.',
        'The activity log is kept for {count} days. No weekly reports are sent while it is kept for fewer than {least} days.',
        value,
        { least: WEEKLY_REPORT_MIN_DAYS },
      )
    : english.counted('The activity log is kept for {count} day.', 'The activity log is kept for {count} days.', value);
}

/**
 * Whether addresses are shortened before they are written. What is written already stays as it is.
 * @returns the text for the owner
 * @throws ApiError
 */
export async function setAnonymizeAddresses(deps: ChangeDeps, { site, actor, value }: Change<0 | 1>): Promise<string> {
  await changeSettings(deps, { site, actor }, () => ({ anonymize_addresses: value }));
  return value === 1
    ? 'Addresses are shortened from now on. Entries that are already there stay as they are.'
    : 'Addresses are kept whole from now on.';
}

/** The choices of days, the present one selected. */
export function lifetimeOptions(present: LogLifetime): { value: number; label: string; selected: 0 | 1 }[] {
  return LOG_LIFETIMES.map((value) => ({ value, label: days(value), selected: value === present ? 1 : 0 }));
}

function days(count: number): string {
  return count === 1 ? '1 day' : `${count} days`;
}
