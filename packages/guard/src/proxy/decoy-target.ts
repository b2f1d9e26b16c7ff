import { canonicalPath } from './canonical-path.js';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/**
 * The same target with a random name of the same shape in place of each hidden one: `//WP-login.php;x?a` becomes
 * `//KQ-zhfwu.php;x?a`. Spelling, path and query stay, so that the web server and WordPress treat it as they treat any
 * missing path spelled like this.
 *
 * @param target origin-form, accepted by `canonicalPath`
 * @param hidden lower-case names to replace
 * @param random gives numbers from 0 up to, but without, 1
 */
export function decoyTarget(target: string, hidden: ReadonlySet<string>, random: () => number): string {
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = mark === -1 ? '' : target.slice(mark);
  const decoy = path.replace(/%2f|(?:(?!%2f)[^/])+/gi, (piece) => {
    if (/^%2f$/i.test(piece)) return piece;
    const canonical = canonicalPath(`/${piece}`);
    const name = canonical.ok && canonical.path.segments.length === 1 ? (canonical.path.segments[0] as string) : '';
    return hidden.has(name) ? disguised(piece, name, random) : piece;
  });
  const result = canonicalPath(decoy);
  if (result.ok && !result.path.segments.some((segment) => hidden.has(segment))) return decoy + query;
  return `/${disguised('xx-xxxxx.php', 'xx-xxxxx.php', random)}${query}`;
}

/** A target beside this one that does not exist: another name in place of the last one of its path. */
export function siblingTarget(target: string, random: () => number): string {
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = mark === -1 ? '' : target.slice(mark);
  const slash = path.endsWith('/') ? '/' : '';
  const parent = path.slice(0, path.lastIndexOf('/', path.length - 1 - slash.length) + 1);
  return `${parent === '' ? '/' : parent}${disguised('xxxxxxxx', 'xxxxxxxx', random)}${slash}${query}`;
}

/** Replaces letters and digits of the name at the start of a piece, but those of its ending. Encoded ones stay encoded. */
function disguised(piece: string, name: string, random: () => number): string {
  const pick = (letters: string): string => letters[Math.floor(random() * letters.length)] as string;
  const ending = name.lastIndexOf('.');
  let at = 0;
  let result = '';
  for (let i = 0; i < (ending === -1 ? name.length : ending); i++) {
    const encoded = piece[at] === '%';
    const letter = encoded ? String.fromCharCode(Number.parseInt(piece.slice(at + 1, at + 3), 16)) : piece[at];
    at += encoded ? 3 : 1;
    const other = disguisedLetter(letter as string, pick);
    result += encoded ? `%${other.charCodeAt(0).toString(16)}` : other;
  }
  return result + piece.slice(at);
}

function disguisedLetter(letter: string, pick: (letters: string) => string): string {
  if (/[a-z]/.test(letter)) return pick(LETTERS);
  if (/[A-Z]/.test(letter)) return pick(LETTERS).toUpperCase();
  return /\d/.test(letter) ? pick('0123456789') : letter;
}
