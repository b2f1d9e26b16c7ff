import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ApiError } from '../lib/api-error.js';
import { parseInput } from './request.js';

function refusal(schema: z.ZodType, input: unknown): unknown {
  try {
    return parseInput(schema, input);
  } catch (error) {
    return (error as ApiError).fields;
  }
}

describe('input that the contract does not allow', () => {
  const schema = z.object({
    filter: z.string(),
    search: z.string().max(3).optional(),
    only: z.array(z.string()).optional(),
    show: z.literal(0, { error: 'Use 0.' }).optional(),
  });

  it.each<[string, object, object]>([
    ['a missing field', {}, { filter: 'This field is required.' }],
    ['a value of the wrong type', { filter: 7 }, { filter: 'Invalid format.' }],
    ['null for a text', { filter: null }, { filter: 'Invalid format.' }],
    ['a text that is too long', { filter: '', search: 'long' }, { search: 'Invalid format.' }],
    ['an item of the wrong type', { filter: '', only: [7] }, { 'only.0': 'Invalid format.' }],
    ['a field with its own message', { filter: '', show: 1 }, { show: 'Use 0.' }],
  ])('%s is explained in plain words', (_words, input, fields) => {
    expect(refusal(schema, input)).toEqual(fields);
  });

  it('that is no object is named as a whole', () => {
    expect(refusal(schema, [1])).toEqual({ body: 'Send a JSON object.' });
  });
});
