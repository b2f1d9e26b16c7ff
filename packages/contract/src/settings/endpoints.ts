import * as z from 'zod/mini';
import { LOG_LIFETIMES } from '../activity/limits.js';
import { activityOptionsSchema } from '../activity/schemas.js';
import { type Endpoint, endpoint } from '../endpoint.js';
import { LOGIN_ATTEMPT_VALUES } from '../login/limits.js';
import { loginOptionsSchema } from '../login/schemas.js';
import { flag } from '../shapes.js';
import { securityOptionsSchema, signedXmlRpcSchema } from './options.js';
import { type SecurityField, siteSecurityToggles } from './protections.js';

export const fetchOptions = endpoint({
  name: 'fetchOptions',
  suffix: '/fetch-options',
  methods: ['POST', 'GET'],
  response: z.union([securityOptionsSchema, loginOptionsSchema, activityOptionsSchema]),
});

export const fetchSignedXmlRpc = endpoint({
  name: 'fetchSignedXmlRpc',
  suffix: '/signed-xml-rpc',
  methods: ['GET'],
  response: signedXmlRpcSchema,
});

export const updateSignedXmlRpc = endpoint({
  name: 'update:signed_xml_rpc',
  suffix: '/signed-xml-rpc',
  methods: ['POST'],
  response: signedXmlRpcSchema,
});

/** The setting beside "Disable XML-RPC". It is not one of the seven options of the specification. */
export const siteSecurityEndpoints = [fetchSignedXmlRpc, updateSignedXmlRpc] as const;

/**
 * Paths of the endpoints that change one simple setting, by its field; those of the toggles of Site Security are in
 * their own catalogue. The catalogue of simple settings refers to them. They are not written there, so that the browser
 * gets a path without the texts of all settings.
 */
export const settingPaths = {
  login_attempts: '/limit-login-attempts',
  two_factor_app_passwords: '/two-factor-app-passwords',
  disable_activity_log: '/manage-activity-log',
  log_lifetime: '/activity-log-lifetime',
  anonymize_addresses: '/anonymize-addresses',
  log_own_cron: '/log-own-cron',
  weekly_checkup: '/weekly-checkup',
} as const;

/** The values of those settings that are choices, not switches. */
export const settingChoices = { login_attempts: LOGIN_ATTEMPT_VALUES, log_lifetime: LOG_LIFETIMES } as const;

/** A setting with an endpoint that changes only this setting. */
export type EndpointField = SecurityField | keyof typeof settingPaths;
type Choices = typeof settingChoices;

/** Name of the endpoint that changes a setting. The dashboard tracks the request by it. */
export function settingRequestName<Field extends string>(field: Field): `update:${Field}` {
  return `update:${field}`;
}

type ChoiceList<Value extends number> = z.ZodMiniArray<
  z.ZodMiniObject<{ value: z.ZodMiniLiteral<Value>; label: z.ZodMiniString; selected: typeof flag }>
>;

/** The endpoint that changes a setting. The response contains its field: a switch, or the list of choices. */
export type SettingEndpoint<Field extends EndpointField> = Field extends EndpointField
  ? Endpoint<
      `update:${Field}`,
      z.ZodMiniObject<{ [Name in Field]: Name extends keyof Choices ? ChoiceList<Choices[Name][number]> : typeof flag }>
    >
  : never;

/** Endpoints that change a simple setting. */
export type SettingCalls = SettingEndpoint<EndpointField>;

/** Returns the endpoint that changes a setting. It is pure, so that a bundle contains only the endpoints that it uses. */
// @__NO_SIDE_EFFECTS__
export function settingEndpoint<const Field extends EndpointField>(field: Field): SettingEndpoint<Field> {
  const paths: Readonly<Record<string, string>> = settingPaths;
  const choices: Readonly<Record<string, readonly number[]>> = settingChoices;
  const values = choices[field];
  return endpoint({
    name: settingRequestName(field),
    suffix: (paths[field] ?? siteSecurityToggles.find((toggle) => toggle.field === field)?.suffix) as string,
    methods: ['POST'],
    response: z.object({ [field]: values ? choiceList(values) : flag }),
  }) as unknown as SettingEndpoint<Field>;
}

function choiceList(values: readonly number[]) {
  return z.array(z.object({ value: z.literal([...values]), label: z.string(), selected: flag })).check(z.minLength(1));
}

type EndpointsOf<Toggles extends readonly { readonly field: SecurityField }[]> = {
  readonly [Index in keyof Toggles]: SettingEndpoint<Toggles[Index]['field']>;
};

/** Endpoints that change the seven options, in the order of the catalogue. */
export const toggleEndpoints = /* @__PURE__ */ siteSecurityToggles.map(({ field }) =>
  settingEndpoint(field),
) as unknown as EndpointsOf<typeof siteSecurityToggles>;
