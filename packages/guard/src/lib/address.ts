/**
 * IP addresses as numbers. An address is four 32-bit words, most significant first. IPv4 uses the mapped form
 * ::ffff:a.b.c.d (RFC 4291 section 2.5.5.2), so that both families share one order, and `::ffff:192.0.2.1` is the same
 * visitor as `192.0.2.1`.
 */

export interface Address {
  readonly words: readonly [number, number, number, number];
  /** Canonical text: dotted IPv4, or IPv6 according to RFC 5952. */
  readonly text: string;
  readonly family: 4 | 6;
  /** The IPv6 address that carried this one (`toCarriedAddress`); absent when none did. */
  readonly seen?: Address;
}

/**
 * Reads an IPv4 address in strict dotted form, as one unsigned 32-bit number, or -1. Leading zeros are refused.
 * @param from index of its first character
 * @param to index after its last character
 */
export function parseIPv4(text: string, from = 0, to = text.length): number {
  let value = 0;
  let part = 0;
  let digits = 0;
  let dots = 0;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (code === 46) {
      if (digits === 0 || ++dots > 3) return -1;
      value = value * 256 + part;
      part = 0;
      digits = 0;
    } else {
      if (code < 48 || code > 57) return -1;
      if (digits > 0 && part === 0) return -1;
      part = part * 10 + code - 48;
      if (++digits > 3 || part > 255) return -1;
    }
  }
  return dots === 3 && digits > 0 ? value * 256 + part : -1;
}

/**
 * Reads an IPv4 or IPv6 address. A zone id (`%eth0`) is cut, since it has a meaning only on one host; brackets and
 * ports are not accepted. Returns null for anything else.
 */
export function parseAddress(text: string): Address | null {
  const v4 = parseIPv4(text);
  if (v4 >= 0) return { words: [0, 0, 0xffff, v4], text, family: 4 };
  if (text.length > 60 || !text.includes(':')) return null;
  const zone = text.indexOf('%');
  const words = parseIPv6(text, zone === -1 ? text.length : zone);
  return words === null ? null : toAddress(words);
}

/** The address of four words, with its canonical text. */
export function toAddress(words: readonly [number, number, number, number]): Address {
  if (words[0] === 0 && words[1] === 0 && words[2] === 0xffff) {
    return { words, text: formatIPv4(words[3]), family: 4 };
  }
  return { words, text: formatIPv6(words), family: 6 };
}

/**
 * Reads the characters in one pass: behind a proxy every request has such a text.
 * @param to index after its last character
 */
function parseIPv6(text: string, to: number): [number, number, number, number] | null {
  const groups = [0, 0, 0, 0, 0, 0, 0, 0];
  let count = 0;
  let gap = -1;
  let at = 0;
  if (text.startsWith('::')) {
    gap = 0;
    at = 2;
  }
  while (at < to) {
    const from = at;
    let group = 0;
    let digit = hexDigit(text, at, to);
    for (; digit >= 0; digit = hexDigit(text, ++at, to)) group = group * 16 + digit;
    if (text.charCodeAt(at) === DOT) {
      // A dotted IPv4 address is allowed only at the end (RFC 4291 section 2.2).
      const v4 = parseIPv4(text, from, to);
      if (v4 < 0 || count > 6) return null;
      groups[count++] = v4 >>> 16;
      groups[count++] = v4 & 0xffff;
      break;
    }
    if (at === from || at - from > 4 || count > 7) return null;
    groups[count++] = group;
    if (at === to) break;
    if (text.charCodeAt(at++) !== COLON || at === to) return null;
    if (text.charCodeAt(at) === COLON) {
      if (gap !== -1) return null;
      gap = count;
      at++;
    }
  }
  if (gap === -1 ? count !== 8 : count > 7) return null;
  if (gap !== -1) groups.splice(gap, 0, ...ZEROS.slice(count));
  const word = (i: number): number => (((groups[i] as number) << 16) | (groups[i + 1] as number)) >>> 0;
  return [word(0), word(2), word(4), word(6)];
}

const DOT = 46;
const COLON = 58;
const ZEROS = [0, 0, 0, 0, 0, 0, 0, 0];

/** Value of the hexadecimal digit at an index, or -1 when there is none. */
function hexDigit(text: string, at: number, to: number): number {
  if (at >= to) return -1;
  const code = text.charCodeAt(at);
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

function formatIPv4(word: number): string {
  return `${word >>> 24}.${(word >>> 16) & 255}.${(word >>> 8) & 255}.${word & 255}`;
}

/** RFC 5952: lower case, no leading zeros, the first of the longest runs of zero groups as `::`. */
function formatIPv6(words: readonly [number, number, number, number]): string {
  let start = 8;
  let longest = 1;
  for (let i = 0; i < 8; i++) {
    let length = 0;
    while (i + length < 8 && getGroup(words, i + length) === 0) length++;
    if (length > longest) {
      start = i;
      longest = length;
    }
  }
  let text = '';
  for (let i = 0; i < 8; i++) {
    if (i !== start) text += i === 7 ? hex(getGroup(words, i)) : `${hex(getGroup(words, i))}:`;
    else {
      text += i === 0 ? '::' : ':';
      i += longest - 1;
    }
  }
  return text;
}

function getGroup(words: readonly [number, number, number, number], index: number): number {
  const word = words[index >> 1] as number;
  return (index & 1) === 0 ? word >>> 16 : word & 0xffff;
}

const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16));
const PADDED = BYTES.map((text) => text.padStart(2, '0'));

/** Twice as fast as toString(16). */
function hex(group: number): string {
  const low = group & 0xff;
  return group > 0xff ? `${BYTES[group >> 8]}${PADDED[low]}` : (BYTES[low] as string);
}

/** Keys of IPv6 addresses, created once per connection. */
const keys = new WeakMap<Address, string>();

/**
 * The key under which failures are counted: an IPv4 address, or the /64 of an IPv6 one, since every customer has at
 * least a whole /64 (RFC 6177). `parseRange` reads the text: `192.0.2.1`, `2001:db8:0:1::/64`.
 */
export function toClientKey(address: Address): string {
  if (address.family === 4) return address.text;
  let key = keys.get(address);
  if (key === undefined) {
    key = `${toAddress([address.words[0], address.words[1], 0, 0]).text}/64`;
    keys.set(address, key);
  }
  return key;
}

/** Returns the subnet by which addresses are grouped and blocked: /24 of IPv4, /64 of IPv6. */
export function toSubnet(address: Address): string {
  if (address.family === 6) return toClientKey(address);
  return `${address.text.slice(0, address.text.lastIndexOf('.'))}.0/24`;
}

/**
 * The network of a key, as text: the /24 of an IPv4 address, the /48 of an IPv6 one. The owner of a network can use all
 * addresses in it, so shares are counted for networks, too. Other text is a network of its own.
 *
 * @param key from `toClientKey`
 */
export function networkKey(key: string): string {
  const address = parseAddress(key.replace(/\/\d+$/, ''));
  if (address === null) return key;
  if (address.family === 4) return key.slice(0, key.lastIndexOf('.'));
  return `${toAddress([address.words[0], (address.words[1] & 0xffff0000) >>> 0, 0, 0]).text}/48`;
}

/** Host and port as in URLs and the header `Host` (RFC 3986 section 3.2): an IPv6 address is in brackets. */
export function toAuthority({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The host of an authority, without its port. */
export function stripPort(authority: string): string {
  return authority.replace(/:\d+$/, '');
}
