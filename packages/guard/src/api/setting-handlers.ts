import {
  allowedValues,
  allSimpleSettings,
  hasUsualEndpoint,
  settingRequestName,
  toResponseValue,
} from '@security-optimizer/contract/settings/catalogue';
import type { fetchSimpleSettings, SettingCalls } from '@security-optimizer/contract/settings/endpoints';
import type { CallContext, CallHandlers, EndpointResult } from '../feature.js';
import { changeSimpleSetting, type SettingChangeContext } from '../settings/change-settings.js';
import { listOwnerSettings } from '../settings/simple-settings.js';
import { getSettingValue, readSiteSettings } from '../settings/site-settings.js';

type Handler = (input: Readonly<Record<string, number>>, context: CallContext) => Promise<EndpointResult<object>>;

/**
 * The endpoints of simple settings: one handler for each that has an endpoint of the catalogue, and the list of all. A
 * new setting of the catalogue needs no code here.
 */
export function settingHandlers(change: SettingChangeContext): CallHandlers<SettingCalls | typeof fetchSimpleSettings> {
  const handlers = allSimpleSettings.filter(hasUsualEndpoint).map((setting) => {
    const { field } = setting;
    const handle: Handler = async (input, { site, actor }) => {
      const value = input[field];
      if (value === undefined) throw new Error(`The contract lets ${field} be absent.`);
      const message = await changeSimpleSetting(change, { site, actor }, field, value);
      return { data: { [field]: toResponseValue(setting, value) }, message };
    };
    return [settingRequestName(field), handle] as const;
  });
  return {
    ...(Object.fromEntries(handlers) as unknown as CallHandlers<SettingCalls>),
    async fetchSimpleSettings(_input, { site }) {
      const stored = await readSiteSettings(change.settings, site.id);
      const settings = listOwnerSettings().map((setting) => ({
        name: setting.field,
        value: getSettingValue(stored, setting.field) as number,
        values: [...allowedValues(setting)],
        suffix: setting.suffix,
      }));
      return { data: { settings }, message: '' };
    },
  };
}
