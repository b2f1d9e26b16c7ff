/** Letters with diacritics: readable, but a text that was not translated stands out. */
const MARKED = new Map([...'aAeEiIoOuUcCnNyYsS'].map((letter, at) => [letter, [...'áÁéÉíÍóÓúÚçÇñÑýÝšŠ'][at]]));
/** Parts that must not change; see check-translation.mjs. */
const KEPT = /(%(?:\d+\$)?[sd]|%\(\w+\)[sd]|\{\w+\}|<[^>]+>)/;
const WRITTEN_RIGHT_TO_LEFT = '\u202e';
const END = '\u202c';
/** As long as the words of languages with long words. */
const LONG_WORD = 14;

/**
 * Creates the flat Jed messages of an artificial language for layout tests: every text is a third longer, has diacritics and
 * brackets, and is written from right to left.
 *
 * @param {{ text: string, plural: string | null, code?: string }[]} texts
 * @returns {string} JSON
 */
export function pseudoLocale(texts) {
  const messages = Object.fromEntries(
    texts.flatMap(({ text, plural, code }) => {
      const said = (plural === null ? [text] : [text, plural]).map(pseudo);
      return [text, ...(code === undefined ? [] : [code])].map((key) => [key, said]);
    }),
  );
  const own = { lang: 'ar', plural_forms: 'nplurals=2; plural=(n != 1);' };
  return JSON.stringify({ '': own, ...messages });
}

/** One text of that language. */
function pseudo(text) {
  const marked = text
    .split(KEPT)
    .map((part, at) => (at % 2 === 1 ? part : [...part].map((letter) => MARKED.get(letter) ?? letter).join('')))
    .join('');
  return `${WRITTEN_RIGHT_TO_LEFT}[${marked}${padding(Math.ceil(text.length / 3))}]${END}`;
}

/** A single run of this length could not be wrapped as words can. */
function padding(length) {
  return Array.from({ length }, (_, at) => (at % LONG_WORD === LONG_WORD - 1 ? ' ' : '~')).join('');
}
