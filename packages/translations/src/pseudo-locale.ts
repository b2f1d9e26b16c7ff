import type { CollectedText } from './collect-texts.js';

/** Letters with diacritics: readable, but a text that was not translated stands out. */
const MARKED = new Map([...'aAeEiIoOuUcCnNyYsS'].map((letter, index) => [letter, [...'áÁéÉíÍóÓúÚçÇñÑýÝšŠ'][index]]));
/** Parts that must not change; see check-translation.ts. */
const KEPT = /(%(?:\d+\$)?[sd]|%\(\w+\)[sd]|\{\w+\}|<[^>]+>)/;
/** RIGHT-TO-LEFT OVERRIDE and POP DIRECTIONAL FORMATTING of Unicode. */
const RIGHT_TO_LEFT = '\u202e';
const POP = '\u202c';
/** As long as the words of languages with long words. */
const LONG_WORD = 14;

/**
 * Compiles the flat Jed messages of an artificial language for layout tests: every text is a third longer, has
 * diacritics and brackets, and is written from right to left.
 *
 * @returns JSON
 */
export function pseudoLocale(texts: readonly Pick<CollectedText, 'text' | 'plural' | 'code'>[]): string {
  const messages = Object.fromEntries(
    texts.flatMap(({ text, plural, code }) => {
      const forms = (plural === null ? [text] : [text, plural]).map(translate);
      return [text, ...(code === undefined ? [] : [code])].map((key) => [key, forms]);
    }),
  );
  const header = { lang: 'ar', plural_forms: 'nplurals=2; plural=(n != 1);' };
  return JSON.stringify({ '': header, ...messages });
}

function translate(text: string): string {
  const marked = text
    .split(KEPT)
    .map((part, index) => (index % 2 === 1 ? part : [...part].map((letter) => MARKED.get(letter) ?? letter).join('')))
    .join('');
  return `${RIGHT_TO_LEFT}[${marked}${padding(Math.ceil(text.length / 3))}]${POP}`;
}

/** Padding in pieces: a single run of this length could not be wrapped as words can. */
function padding(length: number): string {
  return Array.from({ length }, (_, index) => (index % LONG_WORD === LONG_WORD - 1 ? ' ' : '~')).join('');
}
