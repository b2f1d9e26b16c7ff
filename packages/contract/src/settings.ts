import { z } from 'zod';
import { type SecurityField, siteSecurityToggles } from './protections.js';

/** A toggle in a request body. Accepts 0, 1, "0", "1", true and false; gives 0 or 1. */
export const toggleValue = z
  .union([z.literal([0, 1]), z.literal(['0', '1']), z.boolean()], {
    error: 'Use 0 or 1.',
  })
  .transform((value): 0 | 1 => (value === 1 || value === '1' || value === true ? 1 : 0));

/** The seven options as they are answered: numbers 0 or 1. */
export const securityOptionsSchema = z.strictObject(
  Object.fromEntries(siteSecurityToggles.map((toggle) => [toggle.field, z.literal([0, 1])])) as Record<
    SecurityField,
    z.ZodLiteral<0 | 1>
  >,
);

/** Pages whose options can be fetched. Grows with the pages that are built. */
export const optionsPage = z.enum(['security', 'login', 'activity'], { error: 'Use security, login or activity.' });
export type OptionsPage = z.infer<typeof optionsPage>;
