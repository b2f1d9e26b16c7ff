import type { z } from 'zod';
import { ApiError } from '../lib/api-error.js';

/**
 * Checks the input of a call against the contract.
 *
 * @returns the parsed values
 * @throws ApiError invalid_input with one text per field; `body` stands for the whole when it is not an object
 */
export function parseInput(schema: z.ZodType, input: unknown): unknown {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const fields: Record<string, string> = {};
  for (const issue of result.error.issues) {
    const name = issue.path.length > 0 ? issue.path.join('.') : 'body';
    fields[name] ??= issue.path.length > 0 ? issue.message : 'Send a JSON object.';
  }
  throw new ApiError('invalid_input', { fields });
}
