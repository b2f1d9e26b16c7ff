/** A text with something in it that changes; see `phrase.ts`. This file has no schema: the dashboard loads it. */
export interface Phrase {
  readonly text: string;
  readonly plural: string | null;
  readonly count: number | null;
  readonly words: Readonly<Record<string, string>>;
}

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
