/**
 * Text from outside as one line that shows what it is: control characters and those that change the direction of
 * writing (UAX #9) stand as `\u000a`, and what is too long is cut.
 *
 * @param most characters, counted after escaping
 */
export function plainText(text: string, most: number): string {
  if (PRINTABLE.test(text)) return text.length <= most ? text : text.slice(0, most);
  const escaped = text.slice(0, most).replace(UNSAFE, escapedCharacter);
  if (escaped.length <= most && text.length <= most) return escaped;
  // Neither an escape nor a surrogate pair is cut in half.
  return escaped.slice(0, most).replace(/\\(?:u[0-9a-f]{0,3})?$|[\ud800-\udbff]$/, '');
}

/** By far the most texts; they are recognised before anything is replaced. */
const PRINTABLE = /^[\x20-\x7e]*$/;
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

function escapedCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
