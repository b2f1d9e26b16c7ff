import { isUnseen, toDigit } from '@security-optimizer/contract/typed-text';

/**
 * The code in what somebody typed or pasted, in ASCII digits; null when there is none, or more than one.
 *
 * Decimal digits of any script count. Marks that nobody sees, white space, dashes, dots and the like between digits are
 * left out, and so are words around the number: `Code: 123 456`. One text is never read as two codes, so however it is
 * written it costs a try like any other.
 *
 * @param length how many digits a code has
 */
export function readCode(typed: string, length: number): string | null {
  const outline = toOutline(typed);
  if (outline === null) return null;
  const numbers = (outline.match(NUMBER) ?? []).map(withoutGaps).filter((digits) => digits.length === length);
  if (numbers.length > 1) return null;
  if (numbers[0] !== undefined) return numbers[0];
  // Without words around it, all of it is the code: `(123) 456`, `12/34/56`.
  const digits = outline.includes(LETTER) ? '' : withoutGaps(outline);
  return digits.length === length ? digits : null;
}

const LETTER = 'x';
const OTHER_SIGN = '/';

/** A number with gaps. A dot before white space ends a sentence, and so the number. */
const NUMBER = /\d(?:(?:[- ]|\.(?! ))*\d)*/g;

function withoutGaps(text: string): string {
  return text.replace(/\D/g, '');
}

/**
 * The text with one sign for each kind of character: digits, white space, `-` and `.` for what may stand between digits,
 * `x` for letters, `/` for all else. Null when it holds numerals that are no decimal digits (½, ², ⑫), which are no part
 * of a code and must not look like its end, or the mark that turns text round (see `isUnseen`).
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
/** With the blank Braille pattern, which some use for a space. */
const SPACES = /[\s\p{Z}\p{Cc}\u2800]/u;
/** Of emoji (keycaps), and lines under or through digits. */
const MARKS = /[\p{M}\p{Cf}]/u;
/** Also the minus signs, what a Japanese keyboard has for the hyphen, low lines and apostrophes. */
const DASHES = /[\p{Pd}\p{Pc}\u2212\u207b\u208b\u30fc\uff70'\u2018\u2019\u02bc\uff07]/u;
/** Full stops, commas and middle dots of several scripts. */
const DOTS =
  '.,\u00b7\u060c\u066b\u066c\u06d4\u2022\u2024\u2027\u2219\u22c5\u3001\u3002\u30fb\ufe50\ufe52\uff0c\uff0e\uff61\uff64\uff65';
