import * as z from 'zod/mini';
import type { Endpoint } from './endpoint.js';
import { toPlainText } from './typed-text.js';

/** What guard alone needs of an endpoint: how it checks the request, and the text of the API reference. */
export interface EndpointRequest<Schema extends z.ZodMiniType = z.ZodMiniType> {
  readonly summary: string;
  /** Body of the request; for GET its query parameters. */
  readonly schema: Schema;
  /** Field that receives a body that is a bare list. */
  readonly listField?: string;
}

/** Exactly one request for each of these endpoints, by name. */
export type RequestsOf<Endpoints extends Endpoint> = {
  readonly [Each in Endpoints as Each['name']]: EndpointRequest;
};

/** The request of an endpoint that needs no input. */
export const noInput = z.object({});

/**
 * A whole number in a request: a number, or a text of digits, as in a query. Anything else is refused, so that `true`
 * and `[1]` never count as 1.
 */
export function integerBetween(min: number, max: number, error: string) {
  const digits = z.pipe(z.string().check(z.overwrite(toPlainText), z.regex(/^\d{1,16}$/)), z.transform(Number));
  return z.pipe(
    z.union([z.int(), digits], { error }),
    z.number().check(z.int(error), z.minimum(min, error), z.maximum(max, error)),
  );
}

/** One of these numbers in a request, as a number or a text. */
export function choiceValue<const Value extends number>(values: readonly Value[], error = 'Choose one of the values.') {
  return z.pipe(
    z.union([z.literal([...values]), z.literal(values.map((value) => `${value}` as const))], { error }),
    z.transform((value) => Number(value) as Value),
  );
}
