import { type SettingCalls, settingRequestName } from '@security-optimizer/contract/settings/endpoints';
import { allSimpleSettings } from '@security-optimizer/contract/settings/simple-settings';
import type { CallContext, CallHandlers, EndpointResult } from '../feature.js';
import { changeSimpleSetting, type SettingChangeContext } from '../settings/change-settings.js';
import { toResponseValue } from '../settings/simple-settings.js';

type Handler = (input: Readonly<Record<string, number>>, context: CallContext) => Promise<EndpointResult<object>>;

/** One handler for each simple setting that has an endpoint. New settings of the catalogue need no code here. */
export function settingHandlers(change: SettingChangeContext): CallHandlers<SettingCalls> {
  const handlers = allSimpleSettings
    .filter(({ suffix }) => suffix !== undefined)
    .map((setting) => {
      const { field } = setting;
      const handle: Handler = async (input, { site, actor }) => {
        const value = input[field];
        if (value === undefined) throw new Error(`The contract lets ${field} be absent.`);
        const message = await changeSimpleSetting(change, { site, actor }, field, value);
        return { data: { [field]: toResponseValue(setting, value) }, message };
      };
      return [settingRequestName(field), handle] as const;
    });
  return Object.fromEntries(handlers) as unknown as CallHandlers<SettingCalls>;
}
