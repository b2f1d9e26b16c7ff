import * as z from 'zod/mini';
import { activityOptionsSchema } from '../activity/schemas.js';
import { type Endpoint, endpoint } from '../endpoint.js';
import { loginOptionsSchema } from '../login/schemas.js';
import {
  type alertRows,
  hasUsualEndpoint,
  type loginRows,
  type logRows,
  type postHackRows,
  type SettingRow,
  toSettingEndpoint,
} from './catalogue.js';
import {
  type SettingSchemas,
  securityOptionsSchema,
  settingSchemas,
  signedXmlRpcSchema,
  simpleSettingSchema,
} from './options.js';
import { siteSecurityToggles } from './protections.js';

export const fetchOptions = endpoint({
  name: 'fetchOptions',
  suffix: '/fetch-options',
  methods: ['POST', 'GET'],
  response: z.union([securityOptionsSchema, loginOptionsSchema, activityOptionsSchema]),
});

/** The settings that WP-CLI may change, with their endpoints. */
export const fetchSimpleSettings = endpoint({
  name: 'fetchSimpleSettings',
  suffix: '/simple-settings',
  methods: ['POST', 'GET'],
  response: z.object({ settings: z.array(simpleSettingSchema) }),
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

/** A simple setting whose endpoint is made from the catalogue. */
type UsualRow = Exclude<
  (typeof siteSecurityToggles | typeof loginRows | typeof logRows | typeof alertRows | typeof postHackRows)[number],
  { readonly ownEndpoint: true }
>;

/** The endpoint that changes a setting. The response contains its field: a switch, or the list of choices. */
export type SettingEndpoint<Row extends SettingRow> = Row extends SettingRow
  ? Endpoint<`update:${Row['field']}`, z.ZodMiniObject<SettingSchemas<readonly [Row]>>>
  : never;

/** Endpoints that change a simple setting. */
export type SettingCalls = SettingEndpoint<UsualRow>;

type EndpointsOf<Rows extends readonly SettingRow[]> = Rows extends readonly [
  infer Row extends SettingRow,
  ...infer Others extends readonly SettingRow[],
]
  ? Row extends { readonly ownEndpoint: true }
    ? EndpointsOf<Others>
    : [SettingEndpoint<Row>, ...EndpointsOf<Others>]
  : [];

/** The endpoints that change the settings of these rows, except those with rules of their own. */
// @__NO_SIDE_EFFECTS__
export function settingEndpoints<const Rows extends readonly SettingRow[]>(rows: Rows): EndpointsOf<Rows> {
  return rows
    .filter(hasUsualEndpoint)
    .map((row) => endpoint({ ...toSettingEndpoint(row), response: z.object(settingSchemas([row])) })) as never;
}

/** Endpoints that change the seven options, in the order of the catalogue. */
export const toggleEndpoints = /* @__PURE__ */ settingEndpoints(siteSecurityToggles);
