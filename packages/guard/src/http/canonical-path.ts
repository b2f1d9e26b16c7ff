import { listInterpretations } from './path-interpretations.js';
import {
  type CanonicalPath,
  containsScriptEnding,
  decodeUtf8,
  FOREIGN,
  isScriptName,
  NAME_END,
  percentDecode,
  resolvePath,
} from './path-segments.js';

/**
 * One canonical form of a request target, computed once and used by every rule.
 *
 * A web server, PHP and a file system may each interpret a target differently. So the path is percent-decoded once (RFC
 * 3986 section 2.1), slashes are collapsed and dot segments removed (section 5.2.4). Path parameters (`;x`), encoded
 * question marks, NTFS streams (`::$DATA`) and trailing dots and spaces are cut, and letters become lower-case.
 *
 * File names and search terms may contain any other character. When a target has other interpretations, the result
 * lists them: the rules decide on each (`rules/doubtful-paths.ts`), and a target that no rule protects is forwarded
 * byte by byte. This function refuses only paths that name nothing, and paths that are a script for one program and
 * something else for another.
 */

export type { CanonicalPath } from './path-segments.js';
export { foldCase } from './path-segments.js';

export type CanonicalResult =
  | { readonly ok: true; readonly path: CanonicalPath; readonly query: string; readonly ambiguity: Ambiguity | null }
  | { readonly ok: false; readonly reason: AmbiguousTarget };

/** A path that some program may read differently. */
export interface Ambiguity {
  readonly reason: AmbiguousTarget;
  /** Interpretations of other programs, without the canonical path itself. */
  readonly interpretations: readonly CanonicalPath[];
}

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
  if (PLAIN.test(raw) && raw !== '') return { ok: true, path: split(raw), query, ambiguity: null };
  const result = canonicalise(raw);
  if (typeof result === 'string') return { ok: false, reason: result };
  return { ok: true, path: result.path, query, ambiguity: result.ambiguity };
}

function split(path: string): CanonicalPath {
  const segments = path.split('/');
  segments.shift();
  if (segments[segments.length - 1] === '') segments.pop();
  return { path, segments };
}

function canonicalise(
  raw: string,
): { readonly path: CanonicalPath; readonly ambiguity: Ambiguity | null } | AmbiguousTarget {
  if (!raw.startsWith('/')) return 'not-a-path';
  if (/%(?![0-9a-f]{2})/i.test(raw)) return 'bad-percent-encoding';
  const text = decodeOnce(raw);
  // Web servers' patterns end at a line end, PHP ends a name at NUL, and a redirect that repeats such a path ends its
  // header.
  if (UNREADABLE.some((character) => text.includes(character))) return 'control-character';
  const resolved = resolvePath(text, { cut: true, dropUnnamed: false });
  if (typeof resolved === 'string') return resolved;
  const { path, segments, hasUnnamed } = resolved;
  const main = { path, segments };
  const reason = AMBIGUOUS.test(text) ? findReason(text) : hasUnnamed ? 'not-a-path' : null;
  if (reason === null) return { path: main, ambiguity: null };
  if (isScriptForSome(text, segments)) return reason;
  const interpretations = listInterpretations(text, main);
  return interpretations === null ? reason : { path: main, ambiguity: { reason, interpretations: interpretations } };
}

const UNREADABLE = ['\0', '\r', '\n'];

/** Percent-decodes once as UTF-8; raw bytes above 127 are treated like encoded ones. */
function decodeOnce(raw: string): string {
  if (!raw.includes('%') && !/[\x80-\xff]/.test(raw)) return raw;
  return decodeUtf8(percentDecode(raw));
}

/** Any part of a decoded path that some program may interpret differently. */
const AMBIGUOUS = /[\\;?\p{Cc}\uf780-\uf7ff]|%(?:[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})|:\$/u;

function findReason(text: string): AmbiguousTarget {
  if (text.search(FOREIGN) !== -1) return 'bad-utf8';
  if (/\p{Cc}/u.test(text)) return 'control-character';
  if (/%(?:[0-9a-f]{2}|u[0-9a-f]{4})/i.test(text)) return 'double-encoding';
  return text.includes('\\') ? 'backslash' : 'two-names';
}

/**
 * Whether a name is a script for one program and something else for another: `x.jpg;.php` is either a picture with a
 * parameter, or a script. The same applies to a script name with a byte or a control character that other programs
 * drop.
 */
function isScriptForSome(text: string, segments: readonly string[]): boolean {
  if (segments.some((name) => isScriptName(name) && /[\p{Cc}\uf780-\uf7ff]/u.test(name))) return true;
  return text.split('/').some((part) => {
    const mark = part.search(NAME_END);
    return mark !== -1 && containsScriptEnding(part.slice(mark).toLowerCase());
  });
}

/** Longest original path that is sent to WordPress in addition to the target, characters. */
const PATH_MAX = 1024;

/**
 * The path that the client requested, in the form that WordPress receives in addition to the target; undefined when it
 * is too long. Raw bytes, one character each in Node, are percent-encoded because JSON can't represent them.
 */
export function toOriginalPath(requested: string): string | undefined {
  const mark = requested.indexOf('?');
  // A question mark without a query stays part of the path, because the target has none.
  const path = mark === -1 || mark === requested.length - 1 ? requested : requested.slice(0, mark);
  const encoded = path.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  return encoded.length > PATH_MAX ? undefined : encoded;
}
