import { z } from 'zod';
import { type SecurityField, siteSecurityToggles } from './protections.js';
import { optionsPage, securityOptionsSchema, toggleValue } from './settings.js';

/** One call of the API. Guard mounts it, the dashboard calls it, the reference in docs/ lists it. */
export interface Endpoint<
  Request extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
  Name extends string = string,
> {
  /** Unique name; also the name under which the dashboard tracks the request. */
  readonly name: Name;
  /** Path below the namespace, for example `/xss-protection`. */
  readonly suffix: string;
  readonly methods: readonly ('GET' | 'POST' | 'PUT')[];
  readonly summary: string;
  /** Body of the call; for GET its query parameters. */
  readonly request: Request;
  /** Shape of `data` in the answer. */
  readonly response: Response;
}

function endpoint<Request extends z.ZodType, Response extends z.ZodType, const Name extends string>(
  definition: Endpoint<Request, Response, Name>,
): Endpoint<Request, Response, Name> {
  return definition;
}

export const fetchOptions = endpoint({
  name: 'fetchOptions',
  suffix: '/fetch-options',
  methods: ['POST', 'GET'],
  summary: 'The options of one page.',
  request: z.object({ page: optionsPage }),
  response: securityOptionsSchema,
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
export const endpoints = [fetchOptions, ...toggleEndpoints] as const satisfies readonly Endpoint[];

/** Any call of the API. Guard has one handler for each name, or it does not compile. */
export type ApiEndpoint = (typeof endpoints)[number];
