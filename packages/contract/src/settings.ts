import * as z from 'zod/mini';
import { flag } from './login.js';
import { type SecurityField, siteSecurityToggles } from './protections.js';
import { toPlainText } from './typed-text.js';

/** A toggle in a request body. Accepts 0, 1, "0", "1", true and false; parsed to 0 or 1. */
export const toggleValue = z.pipe(
  z.union([z.literal([0, 1]), z.literal(['0', '1']), z.boolean()], { error: 'Use 0 or 1.' }),
  z.transform((value): 0 | 1 => (value === 1 || value === '1' || value === true ? 1 : 0)),
);

/**
 * A whole number in a request: a number, or text of digits as a query holds it. Anything else is refused, so that `true`
 * and `[1]` never pass for 1.
 */
export function wholeNumber(least: number, most: number, error: string) {
  const digits = z.pipe(z.string().check(z.overwrite(toPlainText), z.regex(/^\d{1,16}$/)), z.transform(Number));
  return z.pipe(
    z.union([z.int(), digits], { error }),
    z.number().check(z.int(error), z.minimum(least, error), z.maximum(most, error)),
  );
}

/** The seven options in a response: 0 or 1. */
export const securityOptionsSchema = z.strictObject(
  Object.fromEntries(siteSecurityToggles.map((toggle) => [toggle.field, flag])) as Record<SecurityField, typeof flag>,
);

/** Whether requests signed by plugins are allowed while XML-RPC is off, and the active plugins that need that. */
export const signedXmlRpcSchema = z.object({
  signed_xml_rpc: flag,
  plugins: z.array(z.object({ id: z.string(), name: z.string() })),
});

/** Pages whose options can be fetched. */
export const optionsPage = z.enum(['security', 'login', 'activity'], { error: 'Use security, login or activity.' });
export type OptionsPage = z.infer<typeof optionsPage>;
