import { isUnseen, toDigit } from '@security-optimizer/contract/typed-text';

/**
 * The code in a typed or pasted text, in ASCII digits. Null when there is none, or more than one.
 *
 * Decimal digits of any script count. Invisible characters, white space, dashes, dots and similar characters between
 * digits are ignored, and so are words around the number: `Code: 123 456`. One text is never read as two codes, so in
 * any form it counts as one try.
 *
 * @param length number of digits of a code
 */
export function readCode(typed: string, length: number): string | null {
  const outline = toOutline(typed);
  if (outline === null) return null;
  const numbers = (outline.match(NUMBER) ?? []).map(withoutGaps).filter((digits) => digits.length === length);
  if (numbers.length > 1) return null;
  if (numbers[0] !== undefined) return numbers[0];
  // Without words around it, the whole text is the code: `(123) 456`, `12/34/56`.
  const digits = outline.includes(LETTER) ? '' : withoutGaps(outline);
  return digits.length === length ? digits : null;
}

const LETTER = 'x';
const OTHER_SIGN = '/';

/** A number with gaps. A dot before white space ends a sentence, and with it the number. */
const NUMBER = /\d(?:(?:[- ]|\.(?! ))*\d)*/g;

function withoutGaps(text: string): string {
  return text.replace(/\D/g, '');
}

/**
 * The text with one character for each kind: digits, white space, `-` and `.` for separators between digits, `x` for
 * letters, `/` for all others. Null when it contains numerals that are not decimal digits (½, ², ⑫), which are not part
 * of a code and must not look like its end, or the mark that reverses the text direction (see `isUnseen`).
 */
function toOutline(text: string): string | null {
  let outline = '';
  for (const character of text) {
    const digit = toDigit(character);
    if (digit >= 0) outline += digit;
    else if (UNREADABLE.test(character)) return null;
    else outline += toSign(character);
  }
  return outline;
}

function toSign(character: string): string {
  if (SPACES.test(character)) return ' ';
  if (isUnseen(character.codePointAt(0) ?? 0) || MARKS.test(character)) return '';
  if (DASHES.test(character)) return '-';
  if (DOTS.includes(character)) return '.';
  return /\p{L}/u.test(character) ? LETTER : OTHER_SIGN;
}

const UNREADABLE = /[\p{No}\p{Nl}\u202e]/u;
/** Includes the blank Braille pattern, which some use as a space. */
const SPACES = /[\s\p{Z}\p{Cc}\u2800]/u;
/** Marks of emoji (keycaps), and lines under or through digits. */
const MARKS = /[\p{M}\p{Cf}]/u;
/** Includes the minus signs, the character that a Japanese keyboard has for the hyphen, low lines and apostrophes. */
const DASHES = /[\p{Pd}\p{Pc}\u2212\u207b\u208b\u30fc\uff70'\u2018\u2019\u02bc\uff07]/u;
/** Full stops, commas and middle dots of several scripts. */
const DOTS =
  '.,\u00b7\u060c\u066b\u066c\u06d4\u2022\u2024\u2027\u2219\u22c5\u3001\u3002\u30fb\ufe50\ufe52\uff0c\uff0e\uff61\uff64\uff65';
