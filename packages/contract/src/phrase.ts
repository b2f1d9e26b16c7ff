import { z } from 'zod';

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
export type Phrase = z.infer<typeof phrase>;

/** How small numbers begin a sentence. */
export const NUMBER_WORDS = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine'] as const;

/** The language that a phrase is said in. */
export interface PhraseLanguage {
  translate(text: string): string;
  plural(one: string, many: string, count: number): string;
  number(value: number): string;
}

export const english: PhraseLanguage = {
  translate: (text) => text,
  plural: (one, many, count) => (count === 1 ? one : many),
  number: (value) => value.toLocaleString('en-US'),
};

/** A phrase as people read it. A name without a word stays as it is. */
export function sayPhrase({ text, plural, count, words }: Phrase, language: PhraseLanguage = english): string {
  const template = plural === null || count === null ? language.translate(text) : language.plural(text, plural, count);
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => {
    if (name === 'count' && count !== null) {
      const word = NUMBER_WORDS[count];
      return word === undefined ? language.number(count) : language.translate(word);
    }
    return Object.hasOwn(words, name) ? (words[name] as string) : whole;
  });
}
