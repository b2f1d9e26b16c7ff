import * as z from 'zod/mini';
import { choiceValue, type EndpointRequest, noInput, type RequestsOf } from '../request.js';
import { toggleValue } from '../shapes.js';
import {
  allSimpleSettings,
  hasUsualEndpoint,
  type SettingWithEndpoint,
  type SimpleSetting,
  settingRequestName,
} from './catalogue.js';
import type { fetchOptions, fetchSimpleSettings, siteSecurityEndpoints } from './endpoints.js';

/** Pages whose options can be fetched. */
const optionsPage = z.enum(['security', 'login', 'activity'], { error: 'Use security, login or activity.' });

export const siteSecurityRequests = {
  fetchOptions: { summary: 'The options of a page.', schema: z.object({ page: optionsPage }) },
  fetchSimpleSettings: {
    summary: 'The settings that are one number, with their values and the paths of the endpoints that change them.',
    schema: noInput,
  },
  fetchSignedXmlRpc: {
    summary:
      'Whether signed XML-RPC requests are allowed while XML-RPC is off, and the active plugins that need them. ' +
      'Without such a plugin none is allowed.',
    schema: noInput,
  },
  'update:signed_xml_rpc': {
    summary: 'Allow signed XML-RPC requests while XML-RPC is off (1) or refuse them (0).',
    schema: z.object({ signed_xml_rpc: toggleValue }),
  },
} satisfies RequestsOf<typeof fetchOptions | typeof fetchSimpleSettings | (typeof siteSecurityEndpoints)[number]>;

type SettingValue<Setting> = Setting extends { readonly values: readonly (infer Value extends number)[] }
  ? ReturnType<typeof choiceValue<Value>>
  : typeof toggleValue;

/** The requests of all simple settings that have an endpoint, from the catalogue. */
export const settingRequests = Object.fromEntries(
  allSimpleSettings.filter(hasUsualEndpoint).map((setting) => [settingRequestName(setting.field), toRequest(setting)]),
) as unknown as {
  readonly [Setting in SettingWithEndpoint as `update:${Setting['field']}`]: EndpointRequest<
    z.ZodMiniObject<{ [Field in Setting['field']]: SettingValue<Setting> }>
  >;
};

function toRequest({ field, title, summary, values, refusal }: SimpleSetting): EndpointRequest {
  return {
    summary: summary ?? `Switch "${title}" on (1) or off (0).`,
    schema: z.object({ [field]: values ? choiceValue(values, refusal) : toggleValue }),
  };
}
