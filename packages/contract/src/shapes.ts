import * as z from 'zod/mini';
import { toPlainText } from './typed-text.js';

/** A switch in a response. */
export const flag = z.literal([0, 1]);

/** A user in a list. */
export const userRef = z.object({ ID: z.int(), user_login: z.string() });

/** A toggle in a request body. Accepts 0, 1, "0", "1", true and false; parsed to 0 or 1. */
export const toggleValue = z.pipe(
  z.union([z.literal([0, 1]), z.literal(['0', '1']), z.boolean()], { error: 'Use 0 or 1.' }),
  z.transform((value): 0 | 1 => (value === 1 || value === '1' || value === true ? 1 : 0)),
);

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
