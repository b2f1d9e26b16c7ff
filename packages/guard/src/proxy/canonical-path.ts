/**
 * One canonical form of a request target, computed once and used by every rule.
 *
 * A web server, PHP and a file system may each read the same target in another way. So the path is decoded once
 * (RFC 3986 section 2.1), slashes are collapsed, dot segments removed (section 5.2.4), path parameters (`;x`), encoded
 * question marks, NTFS streams (`::$DATA`) and trailing dots and spaces cut, letters lowered. What two readers could
 * take for two different paths is not guessed at: it is refused as ambiguous.
 */

export interface CanonicalPath {
  /** Starts with a slash, lower-case, without empty or dot segments; a slash at the end is kept. */
  readonly path: string;
  readonly segments: readonly string[];
}

export type Canonical =
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
 * Canonicalises an origin-form target (`/path?query`).
 * @param target as it stood on the request line; absolute-form must be cut to origin-form before
 */
export function canonicalPath(target: string): Canonical {
  // Not part of a request target (RFC 9112 section 3.2). nginx ends the query at it, Node and PHP do not.
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
    // A name of nothing but dots, spaces or parameters means one thing to Windows and another to Linux.
    if (name === '') return 'not-a-path';
    segments.push(name);
  }
  const last = parts[parts.length - 1];
  const slash = segments.length === 0 || last === '' || last === '.' || last === '..' ? '/' : '';
  return { path: segments.length === 0 ? '/' : `/${segments.join('/')}${slash}`, segments };
}

/** Percent-decodes once as UTF-8; raw bytes above 127 count as if they had been encoded. */
function decodeOnce(raw: string): { text: string } | AmbiguousTarget {
  if (/%(?![0-9a-f]{2})/i.test(raw)) return 'bad-percent-encoding';
  try {
    // Node hands the request line over as latin1: one character per byte.
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

/** Where some reader ends a name: path parameters, `?` decoded too early (CVE-2024-38474), NTFS streams. */
const NAME_END = /;|\?|:\$/;

/**
 * The name under which a file system would look a segment up. Null when the rest that one reader cuts could carry a
 * file name ending for another: `x.jpg;.php` is a picture for the one and a script for the other.
 */
function plainName(segment: string): string | null {
  const cut = segment.search(NAME_END);
  if (cut !== -1 && segment.includes('.', cut)) return null;
  let end = cut === -1 ? segment.length : cut;
  // `x::$DATA`: both colons belong to the stream.
  if (cut > 0 && segment[cut] === ':' && segment[cut - 1] === ':') end--;
  while (end > 0 && (segment[end - 1] === '.' || segment[end - 1] === ' ')) end--;
  const name = segment.slice(0, end).toLowerCase();
  return BEYOND_ASCII.test(name) ? foldLetters(name) : name;
}

const BEYOND_ASCII = /[^\x20-\x7e]/;
/** Characters that file systems of macOS skip when they compare names (CVE-2014-9390). */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/** Letters that a case-blind file system takes for ASCII ones: the long s, the Kelvin sign, full-width letters. */
export function foldLetters(name: string): string {
  return name.replace(INVISIBLE, '').normalize('NFKC').toLowerCase();
}
