import type { z } from 'zod';

/** One call of the API. Guard mounts it, the dashboard calls it, the reference in docs/ lists it. */
export interface Endpoint<
  Request extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
  Name extends string = string,
> {
  /** Unique name; also the name under which the dashboard tracks the request. */
  readonly name: Name;
  /** Path below the namespace, for example `/xss-protection`. `{id}` stands for a value that `request` has as `id`. */
  readonly suffix: string;
  /** `provider`: the provider's shared settings API; else the plugin's own. */
  readonly namespace?: 'provider';
  readonly methods: readonly ('GET' | 'POST' | 'PUT')[];
  readonly summary: string;
  /** Body of the call; for GET its query parameters. */
  readonly request: Request;
  /** Field of the request that a body which is a bare list stands for. */
  readonly listField?: string;
  /** Shape of `data` in the answer. */
  readonly response: Response;
}

export function endpoint<Request extends z.ZodType, Response extends z.ZodType, const Name extends string>(
  definition: Endpoint<Request, Response, Name>,
): Endpoint<Request, Response, Name> {
  return definition;
}
