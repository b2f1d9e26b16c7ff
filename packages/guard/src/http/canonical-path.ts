/**
 * One canonical form of a request target, computed once and used by every rule.
 *
 * A web server, PHP and a file system may each interpret a target differently. So the path is percent-decoded once
 * (RFC 3986 section 2.1), slashes are collapsed and dot segments removed (section 5.2.4). Path parameters (`;x`), encoded
 * question marks, NTFS streams (`::$DATA`) and trailing dots and spaces are cut, and letters become lower-case. A target
 * that two programs could read as two different paths is refused as ambiguous.
 */

export interface CanonicalPath {
  /** Starts with a slash, lower-case, without empty or dot segments; a trailing slash is kept. */
  readonly path: string;
  readonly segments: readonly string[];
}

export type CanonicalResult =
  | { readonly ok: true; readonly path: CanonicalPath; readonly query: string }
  | { readonly ok: false; readonly reason: AmbiguousTarget };

export type AmbiguousTarget =
  | 'not-a-path'
  | 'fragment'
  | 'control-character'
  | 'bad-percent-encoding'
  | 'bad-utf8'
  | 'double-encoding'
  | 'backslash'
  | 'two-names'
  | 'above-root';

/** Paths that need no decoding: unreserved letters only, no `//`, no segment that starts or ends with a dot. */
const PLAIN = /^(?:\/[a-z0-9_~-]+(?:\.[a-z0-9_~-]+)*)*\/?$/;

/**
 * Converts an origin-form target (`/path?query`) to its canonical form.
 *
 * @param target as on the request line; absolute-form must be reduced to origin-form before
 */
export function toCanonicalPath(target: string): CanonicalResult {
  // A fragment is not part of a request target (RFC 9112 section 3.2). nginx ends the query there, Node and PHP do not.
  if (target.includes('#')) return { ok: false, reason: 'fragment' };
  const mark = target.indexOf('?');
  const raw = mark === -1 ? target : target.slice(0, mark);
  const query = mark === -1 ? '' : target.slice(mark + 1);
  if (PLAIN.test(raw) && raw !== '') return { ok: true, path: split(raw), query };
  const path = canonicalise(raw);
  return typeof path === 'string' ? { ok: false, reason: path } : { ok: true, path, query };
}

function split(path: string): CanonicalPath {
  const segments = path.split('/');
  segments.shift();
  if (segments[segments.length - 1] === '') segments.pop();
  return { path, segments };
}

function canonicalise(raw: string): CanonicalPath | AmbiguousTarget {
  if (!raw.startsWith('/')) return 'not-a-path';
  const decoded = decodeOnce(raw);
  if (typeof decoded !== 'object') return decoded;
  const text = decoded.text;
  if (hasControlCharacter(text)) return 'control-character';
  if (text.includes('\\')) return 'backslash';
  if (/%[0-9a-f]{2}/i.test(text)) return 'double-encoding';

  const segments: string[] = [];
  const parts = text.split('/');
  for (const part of parts) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (segments.pop() === undefined) return 'above-root';
      continue;
    }
    const name = plainName(part);
    if (name === null) return 'two-names';
    // Windows and Linux interpret a name of only dots, spaces or parameters differently.
    if (name === '') return 'not-a-path';
    segments.push(name);
  }
  const last = parts[parts.length - 1];
  const slash = segments.length === 0 || last === '' || last === '.' || last === '..' ? '/' : '';
  return { path: segments.length === 0 ? '/' : `/${segments.join('/')}${slash}`, segments };
}

/** Percent-decodes once as UTF-8; raw bytes above 127 are treated like encoded ones. */
function decodeOnce(raw: string): { text: string } | AmbiguousTarget {
  if (/%(?![0-9a-f]{2})/i.test(raw)) return 'bad-percent-encoding';
  try {
    // Node provides the request line as latin1: one character per byte.
    const encoded = raw.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
    return { text: decodeURIComponent(encoded) };
  } catch {
    return 'bad-utf8';
  }
}

/** C0, DEL and C1 control characters. */
function hasControlCharacter(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 32 || (code >= 127 && code < 160)) return true;
  }
  return false;
}

/** Where some program ends a name: path parameters, `?` decoded too early (CVE-2024-38474), NTFS streams. */
const NAME_END = /;|\?|:\$/;

/**
 * The name under which a file system would look a segment up. Null when the part that one program cuts could contain the
 * file name ending for another: `x.jpg;.php` is a picture for one and a script for the other.
 */
function plainName(segment: string): string | null {
  const cut = segment.search(NAME_END);
  if (cut !== -1 && segment.includes('.', cut)) return null;
  let end = cut === -1 ? segment.length : cut;
  // Both colons of `x::$DATA` belong to the stream.
  if (cut > 0 && segment[cut] === ':' && segment[cut - 1] === ':') end--;
  while (end > 0 && (segment[end - 1] === '.' || segment[end - 1] === ' ')) end--;
  const name = segment.slice(0, end).toLowerCase();
  return BEYOND_ASCII.test(name) ? foldLetters(name) : name;
}

const BEYOND_ASCII = /[^\x20-\x7e]/;
/** Characters that macOS file systems ignore in comparisons of names (CVE-2014-9390). */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/** Maps letters that case-insensitive file systems equate with ASCII ones: long s, Kelvin sign, full-width letters. */
export function foldLetters(name: string): string {
  return name.replace(INVISIBLE, '').normalize('NFKC').toLowerCase();
}

/** Longest original path that is sent to WordPress besides the target, characters. */
const PATH_MAX = 1024;

/**
 * The path that the client requested, in the form in which WordPress receives it besides the target; undefined when it
 * is too long. Raw bytes, one character each in Node, are percent-encoded because they would not survive JSON.
 */
export function toOriginalPath(requested: string): string | undefined {
  const mark = requested.indexOf('?');
  // A question mark without a query is kept, because the target has none.
  const path = mark === -1 || mark === requested.length - 1 ? requested : requested.slice(0, mark);
  const encoded = path.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  return encoded.length > PATH_MAX ? undefined : encoded;
}
