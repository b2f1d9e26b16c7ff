import { messages } from '@security-optimizer/contract/messages';
import type { z } from 'zod';
import { ApiError } from '../lib/api-error.js';

/**
 * Checks the input of a call against the contract.
 *
 * @returns the parsed values
 * @throws ApiError invalid_input with one text per field; `body` stands for the whole when it is not an object
 */
export function parseInput(schema: z.ZodType, input: unknown): unknown {
  const result = schema.safeParse(input, { error: plainWords });
  if (result.success) return result.data;
  const fields: Record<string, string> = {};
  for (const issue of result.error.issues) {
    const name = issue.path.length > 0 ? issue.path.join('.') : 'body';
    fields[name] ??= issue.path.length > 0 ? issue.message : 'Send a JSON object.';
  }
  throw new ApiError('invalid_input', { fields });
}

/** For fields whose schema has no words of its own: those of the validator are for programmers. */
function plainWords(issue: { readonly input?: unknown }): string {
  return issue.input === undefined ? messages.required : messages.invalidFormat;
}
