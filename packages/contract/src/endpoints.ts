import { z } from 'zod';
import { activityOptionsSchema } from './activity.js';
import { activityEndpoints, weeklyReportEndpoints } from './activity-endpoints.js';
import { type Endpoint, endpoint } from './endpoint.js';
import { loginOptionsSchema } from './login.js';
import { loginEndpoints } from './login-endpoints.js';
import { overviewEndpoints } from './overview.js';
import { postHackEndpoints } from './post-hack.js';
import { type SecurityField, siteSecurityToggles } from './protections.js';
import { optionsPage, securityOptionsSchema, toggleValue } from './settings.js';

export type { Endpoint } from './endpoint.js';

export const fetchOptions = endpoint({
  name: 'fetchOptions',
  suffix: '/fetch-options',
  methods: ['POST', 'GET'],
  summary: 'The options of one page.',
  request: z.object({ page: optionsPage }),
  response: z.union([securityOptionsSchema, loginOptionsSchema, activityOptionsSchema]),
});

/** Name of the request that changes a toggle, tracked per row in the dashboard. */
export function toggleRequestName<Field extends SecurityField>(field: Field): `update:${Field}` {
  return `update:${field}`;
}

/** One call for each entry of the catalogue; its body holds the field of the same name. */
export const toggleEndpoints = siteSecurityToggles.map((toggle) =>
  endpoint({
    name: toggleRequestName(toggle.field),
    suffix: toggle.suffix,
    methods: ['POST'],
    summary: `Switch "${toggle.title}" on (1) or off (0).`,
    request: z.object({ [toggle.field]: toggleValue }),
    response: z.object({ [toggle.field]: z.literal([0, 1]) }),
  }),
);

/** Every call of the API in the order of the reference. */
export const endpoints = [
  fetchOptions,
  ...toggleEndpoints,
  ...loginEndpoints,
  ...activityEndpoints,
  ...weeklyReportEndpoints,
  ...postHackEndpoints,
  ...overviewEndpoints,
] as const satisfies readonly Endpoint[];

/** Any call of the API. Guard has one handler for each name, or it does not compile. */
export type ApiEndpoint = (typeof endpoints)[number];
