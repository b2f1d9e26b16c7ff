import { createHmac } from 'node:crypto';
import { toCanonicalPath } from './canonical-path.js';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** The target of a missing page that replaces one whose existence must stay hidden. */
export interface Decoy {
  readonly target: string;
  /** The connector, which has the same key, can derive the original path. */
  readonly reversible: boolean;
}

/** The key that disguises the names in one request. */
export function deriveDecoyKey(secret: string, requestId: string): Uint8Array {
  return createHmac('sha256', secret).update(`guard-decoy\n${requestId}`).digest();
}

/**
 * Replaces each hidden name in a target by another name of the same shape: `//WP-login.php;x?a` becomes
 * `//KQ-zhfwu.php;x?a`. Spelling, length, path and query stay the same, so that the web server and WordPress treat the
 * decoy like any missing path of this spelling. The letters are shifted with a key that the connector can derive too,
 * so the original path needs no additional bytes in the request. A decoy disguises all names beyond ASCII, because the
 * connector can't know which of them a file system would equate with a hidden one.
 *
 * @param target origin-form, accepted by `toCanonicalPath`
 * @param hidden lower-case names to replace
 * @param key of this request, see `deriveDecoyKey`
 * @returns null when the target contains no hidden name
 */
export function toDecoyTarget(target: string, hidden: ReadonlySet<string>, key: Uint8Array): Decoy | null {
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = mark === -1 ? '' : target.slice(mark);
  let reversible = true;
  const names = splitSegments(path).map((segment) => hiddenName(segment, hidden));
  if (names.every((name) => name === null)) return null;
  const disguised = splitSegments(path).map((segment, i) => {
    const name = names[i] as string | null;
    if (name !== null && !REVERSIBLE.has(name)) reversible = false;
    return name !== null || isBeyondAscii(segment) ? shiftLetters(segment, key) : segment;
  });
  const decoy = disguised.join('');
  const result = toCanonicalPath(decoy);
  if (result.ok && !result.path.segments.some((segment) => hidden.has(segment))) {
    return { target: decoy + query, reversible };
  }
  return { target: `/${shiftLetters('xx-xxxxx.php', key)}${query}`, reversible: false };
}

/** A missing page that replaces a target in which another program, but not guard, would find a hidden name. */
export function toPlainDecoy(target: string, key: Uint8Array): Decoy {
  const mark = target.indexOf('?');
  return { target: `/${shiftLetters('xxxxxxxx', key)}${mark === -1 ? '' : target.slice(mark)}`, reversible: false };
}

/**
 * A missing page in the folder of a target: the last name is replaced by a random one, which is longer only if that
 * name is very short. A long query is shortened by the difference.
 */
export function toSiblingTarget(target: string, random: () => number): string {
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = mark === -1 ? '' : target.slice(mark);
  const slash = path.endsWith('/') ? '/' : '';
  const parent = path.slice(0, path.lastIndexOf('/', path.length - 1 - slash.length) + 1);
  const length = Math.min(20, Math.max(5, path.length - parent.length - slash.length));
  const name = Array.from({ length }, () => LETTERS[Math.floor(random() * LETTERS.length)]).join('');
  const sibling = `${parent === '' ? '/' : parent}${name}${slash}`;
  const longer = Math.max(0, sibling.length - path.length);
  return sibling + (query.length > LONG_QUERY ? query.slice(0, query.length - longer) : query);
}

/** From this length on, shortening a query by a few characters is not noticeable. */
const LONG_QUERY = 1000;

/** Hidden names that the connector knows. A renamed admin folder is not among them. */
const REVERSIBLE = new Set(['wp-login.php', 'wp-admin', 'wp-register.php', 'wp-signup.php', 'wp-activate.php']);

/** Segments of a raw path and the slashes between them, plain or encoded. */
function splitSegments(path: string): string[] {
  return path.match(/%2f|\/|(?:(?!%2f)[^/])+/gi) ?? [];
}

function hiddenName(segment: string, hidden: ReadonlySet<string>): string | null {
  const canonical = /^(?:\/|%2f)$/i.test(segment) ? null : toCanonicalPath(`/${segment}`);
  if (canonical === null || !canonical.ok || canonical.path.segments.length !== 1) return null;
  const name = canonical.path.segments[0] as string;
  return hidden.has(name) ? name : null;
}

/** One byte of a path in its original spelling. */
interface Unit {
  readonly text: string;
  readonly byte: number;
}

function toUnits(segment: string): Unit[] {
  return (segment.match(/%[0-9a-f]{2}|[\s\S]/gi) ?? []).map((text) => ({
    text,
    byte: text.length === 3 ? Number.parseInt(text.slice(1), 16) : text.charCodeAt(0),
  }));
}

/** Characters that end the disguised part of a name: those before an extension, a parameter or a stream. */
const STOPS = new Set(['.', ';', ':', '?'].map((stop) => stop.charCodeAt(0)));

function isBeyondAscii(segment: string): boolean {
  const units = toUnits(segment);
  const end = units.findIndex(({ byte }) => STOPS.has(byte));
  return units.slice(0, end === -1 ? units.length : end).some(({ byte }) => byte >= 0x80);
}

/** Shifts letters, digits and the last byte of other characters within their kind. Keeps the spelling. */
function shiftLetters(segment: string, key: Uint8Array): string {
  const units = toUnits(segment);
  let result = '';
  for (const [i, unit] of units.entries()) {
    if (STOPS.has(unit.byte)) return result + units.slice(i).reduce((rest, { text }) => rest + text, '');
    const isLast = !isContinuation(units[i + 1]?.byte ?? 0);
    result += shiftedUnit(unit, isLast, key[i % key.length] as number);
  }
  return result;
}

function isContinuation(byte: number): boolean {
  return byte >= 0x80 && byte < 0xc0;
}

function shiftedUnit({ text, byte }: Unit, isLast: boolean, by: number): string {
  if (text.length === 1) {
    if (isContinuation(byte) && isLast) return String.fromCharCode((byte & 0xf0) | (((byte & 15) + by) & 15));
    return rotated(text, PLAIN_KINDS, by);
  }
  const kinds = ENCODED_KINDS[text[1] as string];
  if (kinds === undefined || (byte >= 0x80 && !isLast)) return text;
  return `%${text[1]}${rotated(text[2] as string, kinds, by)}`;
}

const PLAIN_KINDS = [LETTERS, LETTERS.toUpperCase(), '0123456789'];
const HEX_KINDS = ['0123456789', 'abcdef', 'ABCDEF'];
/** Second digits of an encoded byte that stay letters, digits or continuation bytes, by the first digit. */
const ENCODED_KINDS: Readonly<Record<string, readonly string[]>> = {
  3: ['0123456789'],
  4: ['123456789', 'abcdef', 'ABCDEF'],
  5: ['0123456789'],
  6: ['123456789', 'abcdef', 'ABCDEF'],
  7: ['0123456789'],
  8: HEX_KINDS,
  9: HEX_KINDS,
  a: HEX_KINDS,
  A: HEX_KINDS,
  b: HEX_KINDS,
  B: HEX_KINDS,
};

function rotated(character: string, kinds: readonly string[], by: number): string {
  const kind = kinds.find((letters) => letters.includes(character));
  return kind === undefined ? character : (kind[(kind.indexOf(character) + by) % kind.length] as string);
}
