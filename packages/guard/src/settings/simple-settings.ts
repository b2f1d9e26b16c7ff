import type { ServerText } from '@security-optimizer/contract/server-message';
import {
  allowedValues,
  allSimpleSettings,
  type SettingField,
  type SettingGroup,
  type SettingValues,
  type SimpleSetting,
  simpleSettings,
} from '@security-optimizer/contract/settings/catalogue';
import { z } from 'zod';
import type { PolicyNotes } from '../wordpress/connector-responses.js';

/**
 * Derives schemas of stored values, the connector's policy, and messages of the API from the contract's catalogue of
 * simple settings. A new entry of the catalogue needs no change here.
 */

/** The schemas of the stored values of a group. */
export function simpleSchemas<Group extends SettingGroup>(
  group: Group,
): { readonly [Field in keyof SettingValues<Group>]: z.core.$ZodType<SettingValues<Group>[Field]> } {
  return byField(group, (setting) => z.literal([...allowedValues(setting)])) as never;
}

/** The values of a group that are in force during a pause. */
export function pausedValues<Group extends SettingGroup>(group: Group): Partial<SettingValues<Group>> {
  return byField(group, ({ paused }) => paused) as Partial<SettingValues<Group>>;
}

function byField(group: SettingGroup, toValue: (setting: SimpleSetting) => unknown): Record<string, unknown> {
  const settings: readonly SimpleSetting[] = simpleSettings[group];
  const entries = settings.map((setting) => [setting.field, toValue(setting)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Simple settings that WordPress enforces, entirely or in part. */
export const simpleFieldsInWordPress: readonly string[] = listWordPressSettings().map(({ field }) => field);

/**
 * The part of the simple settings that WordPress enforces, as it is sent to the connector.
 * @param values of all groups, by field
 */
export function simplePolicy(values: Readonly<Record<string, unknown>>): Record<string, number> {
  return Object.fromEntries(
    listWordPressSettings().flatMap(({ field, oppositeInPolicy }) => {
      const value = values[field] as number;
      return oppositeInPolicy?.map((name) => [name, value === 1 ? 0 : 1]) ?? [[field, value]];
    }),
  );
}

function listWordPressSettings() {
  return allSimpleSettings.filter(({ enforcedAt }) => enforcedAt.includes('php'));
}

/** Simple settings that WP-CLI may change as well as the dashboard. */
export function listOwnerSettings() {
  return allSimpleSettings.flatMap((setting) => {
    const { suffix, changedBy = 'owner' } = setting;
    return suffix !== undefined && changedBy === 'owner' ? [{ ...setting, suffix }] : [];
  });
}

/** The label of a value in the audit trail. */
export function toValueName({ values, valueNames }: SimpleSetting, value: unknown): string {
  const name = valueNames?.[Number(value)];
  if (name !== undefined) return name;
  if (values !== undefined) return String(value);
  return value === 1 ? 'On' : 'Off';
}

export function getSetting(field: SettingField): SimpleSetting {
  return allSimpleSettings.find((setting) => setting.field === field) as SimpleSetting;
}

/** The message for the owner after a change; empty for a setting without one. */
export function toMessage({ field, messages }: SimpleSetting, value: number, notes: PolicyNotes): ServerText {
  if (messages === undefined) return '';
  if (typeof messages === 'function') return messages(value);
  if (value === 0) return messages.off;
  const note = (notes as Readonly<Record<string, string>>)[field];
  return (note === undefined ? undefined : messages.notes?.[note]) ?? messages.on;
}
