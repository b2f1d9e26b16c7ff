import { toPlainAddresses } from './typed-text.js';

/**
 * Parses IP addresses and ranges as people type and paste them: from a mail, a spreadsheet, a log, the configuration of
 * a router. The dashboard and guard parse every field for addresses with these functions, so that all fields accept the
 * same text.
 *
 * The file is part of the pages, so it has no schemas and no regular expressions that the oldest browsers can't parse.
 */

/** The 4 or 16 bytes of an address. */
export type AddressBytes = readonly number[];

/** An inclusive range; both ends have the same length. */
export interface AddressRange {
  readonly first: AddressBytes;
  readonly last: AddressBytes;
}

/** A parsed address or range. */
export interface TypedRange extends AddressRange {
  /**
   * The normalized text, which is stored and shown: an address, a CIDR range (`198.51.100.0/24`), a pattern
   * (`198.51.100.*`), or a range with a hyphen and both ends in full.
   */
  readonly text: string;
}

/** `fault`: the first character or word that can't be parsed; empty if the text has no address. */
export type TypedAddresses = { readonly ranges: readonly TypedRange[] } | { readonly fault: string };

/** Maximum length of a `fault`. */
const FAULT_CHARACTERS = 40;

/**
 * Parses the addresses in a text: one or several, separated by spaces, commas, semicolons or line ends.
 *
 * It accepts addresses, CIDR ranges, net masks after `/` or a space, patterns (`198.51.100.*`, and `%` for `*`), ranges
 * with any dash, with spaces around it, and in short form (`198.51.100.7-9`). Brackets and quotes around an address,
 * with or without a port after them, are ignored. So are comments: text after `#` or `//`, and text in brackets that is
 * not an address. A zone (`%eth0`, RFC 4007) is ignored, because addresses are compared without it.
 */
export function readAddresses(typed: string): TypedAddresses {
  const ranges: TypedRange[] = [];
  for (const line of toPlainAddresses(typed).split(/[\r\n]+/)) {
    for (const word of splitLine(line)) {
      const range = readWord(word);
      if (typeof range === 'string') return { fault: range.slice(0, FAULT_CHARACTERS) };
      ranges.push(range);
    }
  }
  return ranges.length === 0 ? { fault: '' } : { ranges };
}

/** Parses a text with a single address or range; null for any other text. */
export function readAddressRange(typed: string): TypedRange | null {
  const read = readAddresses(typed);
  return 'ranges' in read && read.ranges.length === 1 ? (read.ranges[0] ?? null) : null;
}

/** Whether a range contains an address. IPv4-mapped IPv6 addresses (`::ffff:`) count as IPv4. */
export function isInRange(address: AddressBytes, { first, last }: AddressRange): boolean {
  const bytes = unwrapIpv4(address);
  const from = unwrapIpv4(first);
  const to = unwrapIpv4(last);
  return bytes.length === from.length && compare(from, bytes) <= 0 && compare(bytes, to) <= 0;
}

/**
 * Whether a range includes nearly all clients: half of all IPv4 addresses, or as many IPv6 addresses as are assigned
 * (2000::/3, RFC 4291 section 2.4).
 */
export function isEverybody({ first, last }: AddressRange): boolean {
  const from = unwrapIpv4(first);
  const to = unwrapIpv4(last);
  return (to[0] ?? 0) - (from[0] ?? 0) >= (from.length === 4 ? 127 : 31);
}

/** Splits a line into words of one address each. White space is collapsed first, so that no expression backtracks. */
function splitLine(line: string): readonly string[] {
  return line
    .replace(/\s+/g, ' ')
    .replace(/(?:#|\/\/).*/, '')
    .replace(/^ ?[-*\u2022\xb7] /, '')
    .replace(/\(([^()]*)\)/g, (_, inside: string) => (/^[\da-f.:*/% -]*$/i.test(inside) ? ` ${inside} ` : ' '))
    .replace(/\[([^[\]]*)\](?::\d{1,5}(?![\d.:]))?/g, '$1')
    .replace(/["'<>`\xab\xbb\u2018-\u201f\u2039\u203a]/g, ' ')
    .replace(/ *-+ *| +to +/gi, '-')
    .replace(/((?:\d{1,3}\.){3}\d{1,3}) +(?:(?:net)?mask:? +)?((?:\d{1,3}\.){3}\d{1,3})(?![\d./*-])/gi, joinMask)
    .split(/[ ,;|]+/)
    .map(cutFullStops)
    .filter((word) => word !== '');
}

function joinMask(pair: string, address: string, mask: string): string {
  return toPrefixLength(mask) === null ? pair : `${address}/${mask}`;
}

function cutFullStops(word: string): string {
  let end = word.length;
  while (word.charAt(end - 1) === '.') end--;
  return word.slice(0, end);
}

/** @returns the fault as a text if the word can't be parsed */
function readWord(word: string): TypedRange | string {
  const text = word.includes(':') ? word.replace(/%[\w.~]+/g, '') : word.replace(/%/g, '*');
  // The characters of the specification's section 5. The percent sign has been replaced before.
  const sign = Array.from(text).find((character) => !/[\da-f.:*/-]/i.test(character));
  // A whole word explains more than its first letter.
  if (sign !== undefined) return /[a-z]/i.test(sign) ? word : nameSign(sign);
  if (text.includes('/')) return readBlock(text);
  if (text.includes('-')) return readSpan(text);
  if (text.includes('*')) return readPattern(text) ?? text;
  return readAddress(/^((?:\d+\.){3}\d+):\d{1,5}$/.exec(text)?.[1] ?? text);
}

/** Formats a character for a message; an invisible one by its code. */
function nameSign(sign: string): string {
  const code = sign.codePointAt(0) ?? 0;
  const isVisible = code > 0x20 && (code < 0x7f || code > 0xa0) && (code < 0x2000 || code > 0x206f);
  return isVisible
    ? sign
    : `U+${`000${code.toString(16).toUpperCase()}`.slice(-Math.max(4, code.toString(16).length))}`;
}

function readAddress(text: string): TypedRange | string {
  const address = parseAddress(text);
  return address === null ? text : { text, first: address, last: address };
}

function readBlock(text: string): TypedRange | string {
  const slash = text.indexOf('/');
  const [base, suffix] = [text.slice(0, slash), text.slice(slash + 1)];
  const address = parseAddress(base);
  if (address === null) return base === '' ? text : base;
  const length = /^\d{1,3}$/.test(suffix) ? Number(suffix) : address.length === 4 ? toPrefixLength(suffix) : null;
  if (length === null || length > address.length * 8) return `/${suffix}`;
  const masks = address.map((_, index) => (0xff << (8 - Math.min(8, Math.max(0, length - index * 8)))) & 0xff);
  return {
    text: `${base}/${length}`,
    first: address.map((byte, index) => byte & (masks[index] ?? 0)),
    last: address.map((byte, index) => byte | (~(masks[index] ?? 0) & 0xff)),
  };
}

/** The prefix length of a net mask (`255.255.255.0`) or of a router's wildcard mask (`0.0.0.255`); otherwise null. */
function toPrefixLength(mask: string): number | null {
  const bytes = parseIpv4(mask);
  if (bytes === null) return null;
  const bits = bytes.map((byte) => (byte + 256).toString(2).slice(1)).join('');
  if (/^1*0*$/.test(bits)) return bits.lastIndexOf('1') + 1;
  return /^0+1+$/.test(bits) ? bits.indexOf('1') : null;
}

/** IPv4 only. Missing parts at the end count as `*`. */
function readPattern(text: string): TypedRange | null {
  const parts = text.split('.');
  if (parts.length > 4 || parts.length < (parts[0] === '*' ? 4 : 2)) return null;
  if (parts.slice(parts.indexOf('*')).some((part) => part !== '*')) return null;
  while (parts.length < 4) parts.push('*');
  const [first, last] = ['0', '255'].map((end) => parseAddress(parts.map((part) => part.replace('*', end)).join('.')));
  return first && last ? { text: parts.join('.'), first, last } : null;
}

function readSpan(text: string): TypedRange | string {
  const [from = '', to = '', ...rest] = text.split('-');
  if (from === '' || to === '' || rest.length > 0) return text;
  const first = parseAddress(from);
  if (first === null) return from;
  const end = completeEnd(from, to);
  const last = parseAddress(end);
  if (last === null) return to;
  if (first.length !== last.length || compare(first, last) > 0) return text;
  return compare(first, last) === 0 ? { text: from, first, last } : { text: `${from}-${end}`, first, last };
}

/** Returns the end of a range in full: 198.51.100.9 for `198.51.100.7-9`, 2001:db8::f for `2001:db8::1-f`. */
function completeEnd(from: string, to: string): string {
  if (from.includes(':')) return /^[\da-f]{1,4}$/i.test(to) ? from.replace(/[\da-f]*$/i, to) : to;
  const own = to.split('.');
  return [...from.split('.').slice(0, Math.max(0, 4 - own.length)), ...own].join('.');
}

function compare(a: AddressBytes, b: AddressBytes): number {
  const index = a.findIndex((byte, index) => byte !== b[index]);
  return index < 0 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}

function unwrapIpv4(address: AddressBytes): AddressBytes {
  const isWrapped =
    address.length === 16 && address.slice(0, 12).every((byte, index) => byte === (index < 10 ? 0 : 255));
  return isWrapped ? address.slice(12) : address;
}

/** @returns null for anything but an IPv4 or IPv6 address */
export function parseAddress(text: string): AddressBytes | null {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text: string): AddressBytes | null {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part))) return null;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : null;
}

/**
 * RFC 4291, section 2.2: groups of four hexadecimal digits, at most one `::`, optionally an IPv4 address at the end.
 */
function parseIpv6(text: string): AddressBytes | null {
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const [head, tail] = halves.map(readGroups);
  if (head === null || head === undefined || tail === null) return null;
  if (tail === undefined) return head.length === 16 ? head : null;
  if (text.split('::')[0]?.includes('.')) return null;
  const missing = 16 - head.length - tail.length;
  return missing >= 2 ? [...head, ...Array.from({ length: missing }, () => 0), ...tail] : null;
}

function readGroups(text: string): number[] | null {
  if (text === '') return [];
  const groups = text.split(':');
  const bytes: number[] = [];
  for (const [index, group] of Array.from(groups.entries())) {
    if (group.includes('.')) {
      const ipv4 = index === groups.length - 1 ? parseIpv4(group) : null;
      if (ipv4 === null) return null;
      bytes.push(...ipv4);
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(group)) return null;
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 255);
    }
  }
  return bytes;
}
