/**
 * Text from outside as one line that shows what it is: control characters, those that change the direction of writing
 * (UAX #9), those that nobody sees, and marks that pile up over other lines stand as `\u000a`, and what is too long is
 * cut. The invisible joiners that scripts and emoji are written with stay.
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

/** Plain text with three dots where it was cut. */
export function shortText(text: string, most: number): string {
  const whole = plainText(text, most + 1);
  return whole.length > most ? `${plainText(text, most - 1)}…` : whole;
}

/**
 * Plain text for a mail, with three dots where it was cut. Mail programs make links of whatever looks like one; a space
 * without width behind each of these signs prevents that, and lets long paths break.
 */
export function unlinkedText(text: string, most: number): string {
  return shortText(text, most).replace(/[/.:@]/g, '$&\u200b');
}

/**
 * Plain text for the subject of a mail. What was typed like an encoded word (RFC 2047) would be read as one, and could
 * hide marks in it; a word joiner, which nobody sees, prevents that by every way of sending.
 */
export function subjectText(text: string): string {
  return text.replaceAll('=?', '=\u2060?');
}

/**
 * Plain text of several lines for a terminal: line breaks stay, and with them the form that a command gives its output.
 */
export function terminalText(text: string): string {
  return text
    .split('\n')
    .map((line) => plainText(line, Number.POSITIVE_INFINITY))
    .join('\n');
}

/** By far the most texts; they are recognised before anything is replaced. */
const PRINTABLE = /^[\x20-\x7e]*$/;
const UNSAFE =
  /[\p{Cc}\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|(?<=[\p{Mn}\p{Me}]{5})[\p{Mn}\p{Me}]/gu;

function escapedCharacter(character: string): string {
  let escaped = '';
  for (let i = 0; i < character.length; i++) escaped += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`;
  return escaped;
}
