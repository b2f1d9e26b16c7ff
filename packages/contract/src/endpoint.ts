import type * as z from 'zod/mini';

/** Namespace of the plugin's own API, below the REST root of WordPress; served by guard. */
export const API_NAMESPACE = 'security-optimizer/v1';
/** Namespace of the provider's shared settings API, served by guard. */
export const PROVIDER_NAMESPACE = 'provider-settings/v1';
/** Namespace of commands from guard to the connector; guard responds with 404 to other clients. */
export const CONNECTOR_NAMESPACE = 'security-optimizer-connector/v1';

/** Maximum size of a request body in bytes; larger ones get 413. */
export const MAX_BODY_BYTES = 64 * 1024;

/**
 * An endpoint of the API, as far as a client needs it. Guard mounts it, the dashboard calls it, and the reference in
 * docs/ lists it. What guard alone needs is in the `requests.ts` beside it.
 */
export interface Endpoint<Name extends string = string, Response extends z.ZodMiniType = z.ZodMiniType> {
  /** Unique name; also the name under which the dashboard tracks the request. */
  readonly name: Name;
  /** Path below the namespace, for example `/xss-protection`. `{id}` is replaced by the field `id` of the request. */
  readonly suffix: string;
  /** `provider`: the provider's shared settings API; default: the plugin's own API. */
  readonly namespace?: 'provider';
  /** The dashboard uses the first one. */
  readonly methods: readonly ('GET' | 'POST' | 'PUT')[];
  /** Shape of `data` in the response. */
  readonly response: Response;
}

/** Declares an endpoint. It is pure, so that a bundle contains only the endpoints that it uses. */
// @__NO_SIDE_EFFECTS__
export function endpoint<const Name extends string, Response extends z.ZodMiniType>(
  definition: Endpoint<Name, Response>,
): Endpoint<Name, Response> {
  return definition;
}
