/**
 * Returns untrusted text as one line that shows all of its characters. Control characters, those that change the
 * direction of writing (UAX #9), invisible ones, and marks that are stacked over other lines are escaped like `\u000a`,
 * and a text that is too long is cut. The invisible joiners of scripts and emoji stay.
 *
 * @param maxLength maximum number of characters after escaping
 */
export function plainText(text: string, maxLength: number): string {
  if (PRINTABLE.test(text)) return text.length <= maxLength ? text : text.slice(0, maxLength);
  const escaped = text.slice(0, maxLength).replace(UNSAFE, escapedCharacter);
  if (escaped.length <= maxLength && text.length <= maxLength) return escaped;
  // Neither an escape nor a surrogate pair is cut in half.
  return escaped.slice(0, maxLength).replace(/\\(?:u[0-9a-f]{0,3})?$|[\ud800-\udbff]$/, '');
}

/** Plain text that ends with three dots if it was cut. */
export function shortText(text: string, maxLength: number): string {
  const plain = plainText(text, maxLength + 1);
  return plain.length > maxLength ? `${plainText(text, maxLength - 1)}…` : plain;
}

/**
 * Plain text for a mail, with three dots if it was cut. Mail programs create links from text that resembles one. A
 * zero-width space after each of these signs prevents that, and allows line breaks in long paths.
 */
export function unlinkedText(text: string, maxLength: number): string {
  return shortText(text, maxLength).replace(/[/.:@]/g, '$&\u200b');
}

/**
 * Plain text for the subject of a mail. Text that looks like an encoded word (RFC 2047) would be decoded, and could
 * hide marks. An invisible word joiner prevents that with every mail transport.
 */
export function subjectText(text: string): string {
  return text.replaceAll('=?', '=\u2060?');
}

/** Plain text as one line of any length, for a value in a command's output. */
export function lineText(text: string): string {
  return plainText(text, Number.POSITIVE_INFINITY);
}

/** Plain text of several lines for a terminal. Line breaks stay, and so does the layout of a command's output. */
export function terminalText(text: string): string {
  return text.split('\n').map(lineText).join('\n');
}

/**
 * Escapes plain text, such as the name of a file, for the message of an API response: clients may show `strong` and
 * links in it (specification section 9).
 */
export function escapeMarkup(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
}

/** Matches most texts, which then need no replacements. */
const PRINTABLE = /^[\x20-\x7e]*$/;
const UNSAFE =
  /[\p{Cc}\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|(?<=[\p{Mn}\p{Me}]{5})[\p{Mn}\p{Me}]/gu;

function escapedCharacter(character: string): string {
  let escaped = '';
  for (let i = 0; i < character.length; i++) escaped += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`;
  return escaped;
}
