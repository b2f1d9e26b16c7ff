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

/**
 * Plain text for a mail, with three dots where it was cut. Mail programs make links of whatever looks like one; a space
 * without width behind each of these signs prevents that, and lets long paths break.
 */
export function unlinkedText(text: string, most: number): string {
  const whole = plainText(text, most + 1);
  const cut = whole.length > most ? `${plainText(text, most - 1)}…` : whole;
  return cut.replace(/[/.:@]/g, '$&\u200b');
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
