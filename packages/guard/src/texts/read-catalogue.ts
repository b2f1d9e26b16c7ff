import { z } from 'zod';
import type { Catalogue } from './language.js';

const forms = z.array(z.string().min(1)).min(1).max(2);

const jed = z.object({
  locale_data: z.object({
    messages: z.object({ '': z.object({ lang: z.string().regex(/^[a-z]{2,3}(?:[_-]\w+)*$/i) }) }).catchall(forms),
  }),
});

/**
 * Reads Jed locale data, as scripts/lib/texts/compile.mjs writes it.
 *
 * @param locale as WordPress names it
 * @throws SyntaxError or ZodError when it is something else
 */
export function readCatalogue(locale: string, json: string): Catalogue {
  const { '': own, ...texts } = jed.parse(JSON.parse(json)).locale_data.messages;
  return { locale, lang: own.lang, texts: new Map(Object.entries(texts)) };
}
