import { requests } from '@security-optimizer/contract/requests';
import {
  allSimpleSettings,
  hasUsualEndpoint,
  type SettingFields,
  type SettingGroup,
  settingRequestName,
  simpleDefaults,
  toResponseValue,
  toResponseValues,
} from '@security-optimizer/contract/settings/catalogue';
import * as z from 'zod/mini';
import { ok, type Reply, refused } from './replies.js';

/** The settings of a group on a fresh site, as guard returns them. */
export function freshSettings<Group extends SettingGroup>(group: Group): SettingFields<Group> {
  return toResponseValues(group, simpleDefaults(group));
}

/**
 * Stores the value of a simple setting and returns it, like guard; null for any other request.
 * @param holders objects with settings; the value is stored where its field is
 */
export function storeSetting(holders: readonly (object | null)[], suffix: string, body: string): Reply | null {
  const setting = allSimpleSettings.find((item) => hasUsualEndpoint(item) && item.suffix === suffix);
  const holder = setting && holders.find((item) => item !== null && setting.field in item);
  if (setting === undefined || !holder) return null;
  const { field, messages } = setting;
  const { schema } = requests[settingRequestName(field) as keyof typeof requests];
  const parsed = z.safeParse(schema as z.ZodMiniType<Record<string, number>>, JSON.parse(body));
  if (!parsed.success) return refused(400, 'invalid_input', z.prettifyError(parsed.error));
  const value = parsed.data[field] as number;
  const stored = { [field]: toResponseValue(setting, value) };
  Object.assign(holder, stored);
  if (messages === undefined) return ok(stored);
  return ok(stored, typeof messages === 'function' ? 'Saved.' : messages[value === 1 ? 'on' : 'off']);
}
