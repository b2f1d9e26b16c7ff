import { activityEndpoints, weeklyReportEndpoints } from './activity/endpoints.js';
import { alertEndpoints } from './alerts/endpoints.js';
import type { Endpoint } from './endpoint.js';
import { loginEndpoints } from './login/endpoints.js';
import { overviewEndpoints } from './overview/endpoints.js';
import { checkupEndpoints } from './post-hack/checkup-endpoints.js';
import { postHackEndpoints } from './post-hack/endpoints.js';
import { fetchOptions, fetchSimpleSettings, siteSecurityEndpoints, toggleEndpoints } from './settings/endpoints.js';

/** All endpoints of the API in the order of the reference. */
export const endpoints = [
  fetchOptions,
  fetchSimpleSettings,
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
export type EndpointName = ApiEndpoint['name'];
