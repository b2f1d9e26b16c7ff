/**
 * Normalizes text that people type or paste. Keyboards and input methods of many languages produce other digits and
 * punctuation than ASCII, and text copied from a chat, a mail or a spreadsheet may contain invisible characters. The
 * dashboard and guard use the same functions; guard's result is the one that counts.
 *
 * The file is part of every page, so it has no schemas and no regular expressions that the oldest browsers can't parse.
 */

/**
 * Removes invisible characters and white space at the ends, and converts full-width forms, digits of other scripts and
 * typographic hyphens to ASCII. Letters of other scripts stay, so that a check refuses characters that only look like
 * ASCII. So do ² and ½, which are more than digits.
 */
export function toPlainText(typed: string): string {
  return isPlain(typed) ? typed.trim() : convert(typed, toPlainCharacter).trim();
}

/**
 * Normalizes an address or a range of addresses: like `toPlainText`, and converts any dash to the hyphen of a range and
 * dots of other scripts to ASCII. A dot or comma at the end, which belongs to a sentence, is removed.
 */
export function toPlainAddress(typed: string): string {
  const text = toPlainAddresses(typed);
  let end = text.length;
  while (end > 0 && ' \t\r\n.,;'.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end).trim();
}

/** Normalizes addresses like `toPlainAddress`, but keeps the text around them; see typed-addresses.ts. */
export function toPlainAddresses(typed: string): string {
  return isPlain(typed) ? typed : convert(typed, toAddressCharacter);
}

/** Removes invisible characters, and white space at the ends. Everything else stays as it was typed. */
export function dropUnseen(typed: string): string {
  return isPlain(typed) ? typed.trim() : convert(typed, keepVisible).trim();
}

/**
 * Returns the value of a decimal digit of any script (Unicode category Nd), or -1 for anything else, including numerals
 * such as ², ½ and ⑫. In browsers without Unicode categories only ASCII and full-width digits have a value.
 *
 * @param character one code point
 */
export function toDigit(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return code >= ZERO && code <= ZERO + 9 ? code - ZERO : -1;
  let value = values.get(code);
  if (value === undefined) {
    if (!isDigit(code)) return -1;
    // The ten digits of a script are consecutive, from 0 to 9. Several scripts may be adjacent.
    let first = code;
    while (isDigit(first - 1)) first--;
    value = (code - first) % 10;
    values.set(code, value);
  }
  return value;
}

/** Values of digits by code point, filled on demand; there are some hundreds. */
const values = new Map<number, number>();

/**
 * Whether a character is invisible: Default_Ignorable_Code_Point, and the invisible ones of category Cf.
 *
 * U+202E is not included: it reverses the text after it, so a person has seen another text than the one that is parsed.
 */
export function isUnseen(code: number): boolean {
  if (code < 0xad || code === RIGHT_TO_LEFT_OVERRIDE) return false;
  return INVISIBLE_RANGES.some(([first, last]) => code >= first && code <= last);
}

const ZERO = 0x30;
const RIGHT_TO_LEFT_OVERRIDE = 0x202e;

/** First and last code points. */
const INVISIBLE_RANGES: readonly (readonly [number, number])[] = [
  // Soft hyphen, grapheme joiner, Arabic letter mark.
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  // Hangul fillers and inherent vowels of Khmer.
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x3164, 0x3164],
  [0xffa0, 0xffa0],
  // Variation selectors.
  [0x180b, 0x180f],
  [0xfe00, 0xfe0f],
  // Zero-width spaces, joiners, directional marks.
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  // Byte order mark, interlinear annotations.
  [0xfeff, 0xfeff],
  [0xfff0, 0xfffb],
  // Shorthand and music; tags and further variation selectors.
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

/** Most texts: ASCII without characters to convert. */
function isPlain(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

function convert(text: string, toCharacter: (character: string, code: number) => string): string {
  let converted = '';
  for (const character of Array.from(text)) converted += toCharacter(character, character.codePointAt(0) ?? 0);
  return converted;
}

function keepVisible(character: string, code: number): string {
  return isUnseen(code) ? '' : character;
}

function toPlainCharacter(character: string, code: number): string {
  if (code < 0x7f) return character;
  if (isUnseen(code)) return '';
  const digit = toDigit(character);
  if (digit >= 0) return String(digit);
  if (HYPHENS.includes(character)) return '-';
  if (COMMAS.includes(character)) return ',';
  if (/\s/.test(character)) return ' ';
  // Full-width and small forms of ASCII characters.
  const hasForms = (code >= 0xfe50 && code <= 0xfe6f) || (code >= 0xff01 && code <= 0xff5e);
  const plain = hasForms ? character.normalize('NFKC') : '';
  return /^[\x21-\x7e]$/.test(plain) ? plain : character;
}

function toAddressCharacter(character: string, code: number): string {
  if (DASHES.includes(character)) return '-';
  return DOTS.includes(character) ? '.' : toPlainCharacter(character, code);
}

/** Characters that look like the ASCII hyphen. */
const HYPHENS = '\u2010\u2011\ufe63\uff0d';
/**
 * Characters between the ends of a range: figure dash, en dash, em dash, horizontal bar, minus sign, wave dash, the
 * long vowel mark of Japanese keyboards, and their presentation forms.
 */
const DASHES = `${HYPHENS}\u2012\u2013\u2014\u2015\u2212\u301c\u30fc\ufe31\ufe32\ufe58\uff5e`;
/** Ideographic full stop and its half-width form, Arabic full stop and decimal separator, one dot leader. */
const DOTS = '\u3002\uff61\u06d4\u066b\u2024';
/** Arabic comma, ideographic comma and its half-width form. The full-width comma is among the full-width forms. */
const COMMAS = '\u060c\u3001\uff64';

/**
 * Unicode's decimal digits. It is compiled at run time, because the oldest browsers refuse a script with this literal.
 */
const DECIMAL = decimalPattern();

function decimalPattern(): RegExp {
  try {
    return /^\p{Nd}$/u;
  } catch {
    return /^[\uff10-\uff19]$/;
  }
}

function isDigit(code: number): boolean {
  return DECIMAL.test(String.fromCodePoint(code));
}
