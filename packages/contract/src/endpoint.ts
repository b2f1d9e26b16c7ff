import type * as z from 'zod/mini';

/** Namespace of the plugin's own API, below the REST root of WordPress; served by guard. */
export const API_NAMESPACE = 'security-optimizer/v1';
/** Namespace of the provider's shared settings API, served by guard. */
export const PROVIDER_NAMESPACE = 'provider-settings/v1';
/** Namespace of commands from guard to the connector; guard responds with 404 to other clients. */
export const CONNECTOR_NAMESPACE = 'security-optimizer-connector/v1';

/** Maximum size of a request body in bytes; larger ones get 413. */
export const MAX_BODY_BYTES = 64 * 1024;

/** An endpoint of the API. Guard mounts it, the dashboard calls it, and the reference in docs/ lists it. */
export interface Endpoint<
  Request extends z.ZodMiniType = z.ZodMiniType,
  Response extends z.ZodMiniType = z.ZodMiniType,
  Name extends string = string,
> {
  /** Unique name; also the name under which the dashboard tracks the request. */
  readonly name: Name;
  /** Path below the namespace, for example `/xss-protection`. `{id}` is replaced by the field `id` of `request`. */
  readonly suffix: string;
  /** `provider`: the provider's shared settings API; default: the plugin's own API. */
  readonly namespace?: 'provider';
  readonly methods: readonly ('GET' | 'POST' | 'PUT')[];
  readonly summary: string;
  /** Body of the request; for GET its query parameters. */
  readonly request: Request;
  /** Field that receives a body that is a bare list. */
  readonly listField?: string;
  /** Shape of `data` in the response. */
  readonly response: Response;
}

// @__NO_SIDE_EFFECTS__
export function endpoint<Request extends z.ZodMiniType, Response extends z.ZodMiniType, const Name extends string>(
  definition: Endpoint<Request, Response, Name>,
): Endpoint<Request, Response, Name> {
  return definition;
}
