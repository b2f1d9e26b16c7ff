import * as z from 'zod/mini';

/** A switch in a response. */
export const flag = z.literal([0, 1]);

/** A user in a list. */
export const userRef = z.object({ ID: z.int(), user_login: z.string() });

/** A toggle in a request body. Accepts 0, 1, "0", "1", true and false; parsed to 0 or 1. */
export const toggleValue = z.pipe(
  z.union([z.literal([0, 1]), z.literal(['0', '1']), z.boolean()], { error: 'Use 0 or 1.' }),
  z.transform((value): 0 | 1 => (value === 1 || value === '1' || value === true ? 1 : 0)),
);
