import * as z from 'zod/mini';
import { activityEndpoints, weeklyReportEndpoints } from './activity/endpoints.js';
import { activityOptionsSchema } from './activity/schemas.js';
import { alertEndpoints } from './alerts/endpoints.js';
import { type Endpoint, endpoint } from './endpoint.js';
import { loginEndpoints } from './login/endpoints.js';
import { loginOptionsSchema } from './login/schemas.js';
import { overviewEndpoints } from './overview/endpoints.js';
import { checkupEndpoints } from './post-hack/checkup-endpoints.js';
import { postHackEndpoints } from './post-hack/endpoints.js';
import { settingEndpoints, settingRequestName } from './settings/endpoints.js';
import { optionsPage, securityOptionsSchema, signedXmlRpcSchema } from './settings/options.js';
import type { SecurityField } from './settings/protections.js';
import { toggleValue } from './shapes.js';

export type { Endpoint } from './endpoint.js';

export const fetchOptions = endpoint({
  name: 'fetchOptions',
  suffix: '/fetch-options',
  methods: ['POST', 'GET'],
  summary: 'The options of a page.',
  request: z.object({ page: optionsPage }),
  response: z.union([securityOptionsSchema, loginOptionsSchema, activityOptionsSchema]),
});

/** The request of a toggle. The dashboard tracks each by this name. */
export const toggleRequestName = settingRequestName<SecurityField>;

/** Endpoints that change the seven options. */
export const toggleEndpoints = settingEndpoints('options');

/** The setting beside "Disable XML-RPC". It is not one of the seven options of the specification. */
export const siteSecurityEndpoints = [
  endpoint({
    name: 'fetchSignedXmlRpc',
    suffix: '/signed-xml-rpc',
    methods: ['GET'],
    summary:
      'Whether signed XML-RPC requests are allowed while XML-RPC is off, and the active plugins that need them. ' +
      'Without such a plugin none is allowed.',
    request: z.object({}),
    response: signedXmlRpcSchema,
  }),
  endpoint({
    name: 'update:signed_xml_rpc',
    suffix: '/signed-xml-rpc',
    methods: ['POST'],
    summary: 'Allow signed XML-RPC requests while XML-RPC is off (1) or refuse them (0).',
    request: z.object({ signed_xml_rpc: toggleValue }),
    response: signedXmlRpcSchema,
  }),
] as const;

/** All endpoints of the API in the order of the reference. */
export const endpoints = [
  fetchOptions,
  ...toggleEndpoints,
  ...siteSecurityEndpoints,
  ...loginEndpoints,
  ...activityEndpoints,
  ...weeklyReportEndpoints,
  ...alertEndpoints,
  ...postHackEndpoints,
  ...checkupEndpoints,
  ...overviewEndpoints,
] as const satisfies readonly Endpoint[];

/** Any endpoint of the API. Guard does not compile without a handler for each name. */
export type ApiEndpoint = (typeof endpoints)[number];
