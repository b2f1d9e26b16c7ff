import type * as z from 'zod/mini';

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
