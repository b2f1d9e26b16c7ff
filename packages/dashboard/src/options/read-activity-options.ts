import type { ActivityOptions } from '@security-optimizer/contract/activity';
import { isFields } from '../data/fields.js';
import { readFlag } from './read-flag.js';

/** Options of the activity log that the server knows. An older server may not know all of them. */
export type KnownActivityOptions = Readonly<Partial<ActivityOptions>>;

/** Reads the answered options. What has not the form that the contract gives it counts as not known. */
export function readActivityOptions(data: unknown): KnownActivityOptions {
  if (!isFields(data)) return {};
  const known: Partial<ActivityOptions> = {};
  const off = readFlag(data.disable_activity_log);
  if (off !== undefined) known.disable_activity_log = off;
  const anonymize = readFlag(data.anonymize_addresses);
  if (anonymize !== undefined) known.anonymize_addresses = anonymize;
  if (Array.isArray(data.log_lifetime)) {
    const days = data.log_lifetime.filter(isLifetime);
    if (days.length > 0) known.log_lifetime = days;
  }
  if (typeof data.dropped === 'number') known.dropped = data.dropped;
  return known;
}

/** Days that are kept now, or null when that is not known. */
export function keptDays({ log_lifetime }: KnownActivityOptions): number | null {
  return log_lifetime?.find(({ selected }) => readFlag(selected) === 1)?.value ?? null;
}

function isLifetime(value: unknown): value is ActivityOptions['log_lifetime'][number] {
  return isFields(value) && typeof value.value === 'number' && typeof value.label === 'string';
}
