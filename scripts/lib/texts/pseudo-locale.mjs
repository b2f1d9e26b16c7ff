/** Letters with marks, so that a text that was not looked up stands out; still readable. */
const MARKED = new Map([...'aAeEiIoOuUcCnNyYsS'].map((letter, at) => [letter, [...'áÁéÉíÍóÓúÚçÇñÑýÝšŠ'][at]]));
/** What must stay as it is; see check-translation.mjs. */
const KEPT = /(%(?:\d+\$)?[sd]|%\(\w+\)[sd]|\{\w+\}|<[^>]+>)/;
const WRITTEN_RIGHT_TO_LEFT = '\u202e';
const END = '\u202c';
/** As long as the words of languages with long ones. */
const LONG_WORD = 14;

/**
 * Jed locale data of a language that nobody speaks, for tests of the layout: every text is a third longer, marked, in
 * brackets, and written from right to left.
 *
 * @param {{ text: string, plural: string | null }[]} texts
 * @returns {string} JSON
 */
export function pseudoLocale(texts) {
  const messages = Object.fromEntries(
    texts.map(({ text, plural }) => [text, (plural === null ? [text] : [text, plural]).map(pseudo)]),
  );
  const own = { domain: 'messages', lang: 'ar', plural_forms: 'nplurals=2; plural=(n != 1);' };
  return JSON.stringify({ domain: 'messages', locale_data: { messages: { '': own, ...messages } } });
}

/** One text of that language. */
function pseudo(text) {
  const marked = text
    .split(KEPT)
    .map((part, at) => (at % 2 === 1 ? part : [...part].map((letter) => MARKED.get(letter) ?? letter).join('')))
    .join('');
  return `${WRITTEN_RIGHT_TO_LEFT}[${marked}${padding(Math.ceil(text.length / 3))}]${END}`;
}

/** One run of so many signs could not be broken into lines, as words can. */
function padding(length) {
  return Array.from({ length }, (_, at) => (at % LONG_WORD === LONG_WORD - 1 ? ' ' : '~')).join('');
}
