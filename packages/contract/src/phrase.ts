import { z } from 'zod';

export * from './say-phrase.js';

/**
 * A text with something in it that changes, so that whoever shows it can put it into another language first. A text
 * in which nothing changes needs no phrase: it is looked up as it is.
 */
export const phrase = z.object({
  /** English, with `{name}` where a word belongs and `{count}` where the number does. */
  text: z.string(),
  /** The form for other numbers than one, or null when the text does not count. */
  plural: z.string().nullable(),
  count: z.number().int().nullable(),
  words: z.record(z.string(), z.string()),
});
