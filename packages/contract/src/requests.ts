import type * as z from 'zod/mini';
import { activityRequests, weeklyReportRequests } from './activity/requests.js';
import { alertRequests } from './alerts/requests.js';
import type { Endpoint } from './endpoint.js';
import type { EndpointName, endpoints } from './endpoints.js';
import { loginRequests } from './login/requests.js';
import { overviewRequests } from './overview/requests.js';
import { checkupRequests, postHackRequests } from './post-hack/requests.js';
import { settingRequests, siteSecurityRequests } from './settings/requests.js';

const joined = {
  ...settingRequests,
  ...siteSecurityRequests,
  ...loginRequests,
  ...activityRequests,
  ...weeklyReportRequests,
  ...alertRequests,
  ...postHackRequests,
  ...checkupRequests,
  ...overviewRequests,
};

/** The names that several endpoints have. */
type Repeated<List extends readonly unknown[], Seen = never, Found = never> = List extends readonly [
  Endpoint<infer Name>,
  ...infer Others,
]
  ? Repeated<Others, Seen | Name, Found | (Name extends Seen ? Name : never)>
  : Found;

/** Names of endpoints without a request, of requests without an endpoint, and of more than one endpoint. */
type Mistake =
  | Exclude<EndpointName, keyof typeof joined>
  | Exclude<keyof typeof joined, EndpointName>
  | Repeated<typeof endpoints>;

/** The requests of all endpoints, by name. It does not compile if one is missing, superfluous or repeated. */
export const requests = joined satisfies Record<Mistake, never>;

/** What a client sends to an endpoint. */
export type RequestOf<Name extends EndpointName> = z.input<(typeof requests)[Name]['schema']>;
/** What guard gets of it: the checked and normalized request. */
export type ParsedRequestOf<Name extends EndpointName> = z.output<(typeof requests)[Name]['schema']>;
