import { sayRole } from './event-values.js';

/** A text with something in it that changes; see `phrase.ts`. This file has no schema: the dashboard loads it. */
export interface Phrase {
  readonly text: string;
  readonly plural: string | null;
  readonly count: number | null;
  readonly words: Readonly<Record<string, string>>;
}

/**
 * What stands at a place of a text. Most words are names and stay as they are; a reason is a sentence, and a role is
 * what WordPress calls it, so they are said in the reader's language themselves.
 */
export function sayWord(place: string, word: string, translate: (text: string) => string): string {
  if (place === 'reason') return translate(word);
  return place === 'role' ? sayRole(word, translate) : word;
}

/** How small numbers begin a sentence. */
const NUMBER_WORDS = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine'] as const;

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
    if (!Object.hasOwn(words, name)) return whole;
    return sayWord(name, words[name] as string, language.translate);
  });
}
