/**
 * Splits a path into bytes, characters, segments and names. Used for the canonical path and for other interpretations
 * of the same target.
 */

export interface CanonicalPath {
  /** Starts with a slash, lower-case, without empty or dot segments; a trailing slash is kept. */
  readonly path: string;
  readonly segments: readonly string[];
}

/** Why a path names nothing. */
export type PathFault = 'above-root' | 'not-a-path';

/**
 * A byte that is not UTF-8 becomes a separate character in Unicode's private use area, so that it equals no letter and
 * can be distinguished from every character that was sent as UTF-8.
 */
const FOREIGN_BYTE = 0xf700;
export const FOREIGN = /[\uf780-\uf7ff]/g;

/** One UTF-8 sequence, one character per byte (RFC 3629 section 4), or a byte that belongs to no sequence. */
const SEQUENCE =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g;

/**
 * Reads bytes as UTF-8. A byte that belongs to no valid sequence becomes a foreign character.
 *
 * @param bytes one character per byte
 */
export function decodeUtf8(bytes: string): string {
  return bytes.replace(SEQUENCE, (sequence) =>
    sequence.length === 1
      ? String.fromCharCode(FOREIGN_BYTE + sequence.charCodeAt(0))
      : Buffer.from(sequence, 'latin1').toString('utf8'),
  );
}

/** The inverse of `decodeUtf8`. */
export function encodeUtf8(text: string): string {
  const parts = text.split(/([\uf780-\uf7ff])/);
  return parts
    .map((part, i) => (i % 2 === 1 ? toForeignByte(part) : Buffer.from(part, 'utf8').toString('latin1')))
    .join('');
}

/** The byte that a foreign character represents, as one character. */
export function toForeignByte(character: string): string {
  return String.fromCharCode(character.charCodeAt(0) - FOREIGN_BYTE);
}

/** Percent-decodes once (RFC 3986 section 2.1). Invalid encodings stay unchanged. @returns one character per byte */
export function percentDecode(bytes: string): string {
  return bytes.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Where some programs end a name: path parameters, `?` decoded too early (CVE-2024-38474), NTFS streams. */
export const NAME_END = /;|\?|:\$/;

/** How segments are converted to names. */
export interface NameInterpretation {
  /** Names end at a parameter, a question mark or a stream. */
  readonly cut: boolean;
  /** Segments without a name (`...`, spaces, only a parameter) are omitted, as Windows file systems do. */
  readonly dropUnnamed: boolean;
}

/** The path, and whether it has unnamed segments. */
export interface ResolvedPath extends CanonicalPath {
  /** A segment has no name for some programs. */
  readonly hasUnnamed: boolean;
}

/**
 * Collapses slashes, removes dot segments (RFC 3986 section 5.2.4) and maps each name to the one under which a file
 * system that ignores case would look it up.
 *
 * @param text a decoded path that starts with a slash
 */
export function resolvePath(text: string, { cut, dropUnnamed }: NameInterpretation): ResolvedPath | PathFault {
  const segments: string[] = [];
  let hasUnnamed = false;
  const parts = text.split('/');
  for (const part of parts) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (segments.pop() === undefined) return 'above-root';
      continue;
    }
    const name = toName(part, cut);
    if (name !== '') {
      segments.push(name);
      continue;
    }
    // A dot segment for some programs and a name for others. No page or file has such a name.
    if (part.startsWith('.') && !/^\.{3,}$/.test(part)) return 'not-a-path';
    hasUnnamed = true;
    if (!dropUnnamed) segments.push(foldCase(part));
  }
  const last = parts[parts.length - 1];
  const slash = segments.length === 0 || last === '' || last === '.' || last === '..' ? '/' : '';
  return { path: segments.length === 0 ? '/' : `/${segments.join('/')}${slash}`, segments, hasUnnamed };
}

/** The name that a file system would look up for a segment; may be empty. */
function toName(segment: string, cut: boolean): string {
  const at = cut ? segment.search(NAME_END) : -1;
  let end = at === -1 ? segment.length : at;
  // Both colons of `x::$DATA` belong to the stream.
  if (at > 0 && segment[at] === ':' && segment[at - 1] === ':') end--;
  while (end > 0 && (segment[end - 1] === '.' || segment[end - 1] === ' ')) end--;
  const name = segment.slice(0, end).toLowerCase();
  return BEYOND_ASCII.test(name) ? foldCase(name) : name;
}

const BEYOND_ASCII = /[^\x20-\x7e]/;
/** Characters that macOS file systems ignore in comparisons of names (CVE-2014-9390). */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/** Maps letters that case-insensitive file systems equate with ASCII ones: long s, Kelvin sign, full-width letters. */
export function foldCase(name: string): string {
  return name.replace(INVISIBLE, '').normalize('NFKC').toLowerCase();
}

/** File name endings that some web server may pass to an interpreter. */
export const SCRIPT_ENDINGS =
  'php\\d*|phtml?|pht|phps|phar|pgif|shtml?|stm|cgi|fcgi|pl|py|rb|lua|sh|aspx?|ashx|asmx|cer|asa|jspx?|cfml?|cfc';
const SCRIPT_SEGMENT = new RegExp(`\\.(?:${SCRIPT_ENDINGS})$`);
const SCRIPT_BEFORE_MARK = new RegExp(`\\.(?:${SCRIPT_ENDINGS})(?:[;?:. ]|$)`);

/** Whether a segment of a canonical path is named like a script. */
export function isScriptName(segment: string): boolean {
  return segment.includes('.') && SCRIPT_SEGMENT.test(segment);
}

/** Whether a part of a name has the extension of a script, at its end or before another mark. */
export function containsScriptEnding(part: string): boolean {
  return SCRIPT_BEFORE_MARK.test(part);
}
