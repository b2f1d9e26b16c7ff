import {
  type CanonicalPath,
  decodeUtf8,
  encodeUtf8,
  FOREIGN,
  percentDecode,
  resolvePath,
  toForeignByte,
} from './path-segments.js';

/**
 * Maximum number of texts that one path may turn into, and of characters in all of them. Paths of pages and files turn
 * into two or three texts of some hundred characters; the limits bound the work that a single request can cause.
 */
const MAX_TEXTS = 24;
const MAX_CHARACTERS = 8192;

/**
 * The other ways in which a web server, PHP or a file system may read a path: percent-decoded again; with backslashes
 * as slashes; with control characters ignored or as the end of a name; with bytes that are not UTF-8 omitted, read as
 * Latin-1 or as an overlong form; with the text after `;` or `?` as part of a name. These may be combined.
 *
 * @param text the path, decoded once
 * @param main the canonical path, which is not among the interpretations
 * @returns null when there are too many, or when some program would read a path that names nothing
 */
export function listInterpretations(text: string, main: CanonicalPath): readonly CanonicalPath[] | null {
  const texts = new Set([text]);
  let characters = 0;
  for (const each of texts) {
    characters += each.length;
    if (texts.size > MAX_TEXTS || characters > MAX_CHARACTERS) return null;
    for (const next of nextTexts(each)) texts.add(next);
  }
  const interpretations = new Map<string, CanonicalPath>();
  for (const each of texts) {
    for (const how of NAME_INTERPRETATIONS) {
      const interpretation = resolvePath(each, how);
      if (typeof interpretation === 'string') return null;
      if (interpretation.path !== main.path) interpretations.set(interpretation.path, interpretation);
    }
  }
  return [...interpretations.values()];
}

const NAME_INTERPRETATIONS = [
  { cut: true, dropUnnamed: false },
  { cut: true, dropUnnamed: true },
  { cut: false, dropUnnamed: false },
] as const;

const ENCODED = /%(?:[0-9a-f]{2}|u[0-9a-f]{4})/i;
/** C0, DEL and C1 control characters. */
const CONTROL = /\p{Cc}/gu;

/** The texts that one more program may read in a text. */
function nextTexts(text: string): string[] {
  const next: string[] = [];
  if (ENCODED.test(text)) next.push(decodeAgain(text));
  if (text.search(FOREIGN) !== -1) {
    next.push(text.replace(FOREIGN, ''), text.replace(FOREIGN, toForeignByte), decodeOverlong(text));
  }
  if (text.includes('\\')) next.push(text.replaceAll('\\', '/'));
  if (text.search(CONTROL) !== -1) {
    next.push(text.replace(CONTROL, ''), text.replace(/\p{Cc}[^/]*/gu, ''));
  }
  // A path that is parsed again ends at its question mark.
  const mark = text.indexOf('?');
  if (mark > 0) next.push(text.slice(0, mark));
  return next;
}

/** Also decodes the form `%u0061` of Microsoft's servers. */
function decodeAgain(text: string): string {
  const plain = text.replace(/%u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decodeUtf8(percentDecode(encodeUtf8(plain)));
}

/** Overlong UTF-8 sequences, which RFC 3629 section 3 forbids and lenient decoders accept. */
const OVERLONG = /[\xc0\xc1][\x80-\xbf]|\xe0[\x80-\x9f][\x80-\xbf]|\xf0[\x80-\x8f][\x80-\xbf]{2}/g;

function decodeOverlong(text: string): string {
  const decoded = encodeUtf8(text).replace(OVERLONG, (bytes) => {
    const first = bytes.charCodeAt(0) & (bytes.length === 2 ? 0x1f : bytes.length === 3 ? 0x0f : 0x07);
    const code = [...bytes.slice(1)].reduce((sum, byte) => (sum << 6) | (byte.charCodeAt(0) & 0x3f), first);
    return Buffer.from(String.fromCodePoint(code), 'utf8').toString('latin1');
  });
  return decodeUtf8(decoded).replace(FOREIGN, '');
}
