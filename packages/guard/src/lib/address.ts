/**
 * IP addresses as numbers. An address is four 32-bit words, most significant first; IPv4 takes the
 * mapped form ::ffff:a.b.c.d (RFC 4291 section 2.5.5.2), so that both families share one order and
 * `::ffff:192.0.2.1` is the same visitor as `192.0.2.1`.
 */

export interface Address {
  readonly words: readonly [number, number, number, number];
  /** Canonical text: dotted IPv4, or IPv6 as RFC 5952 writes it. */
  readonly text: string;
  readonly family: 4 | 6;
}

/**
 * Reads an IPv4 address in strict dotted form, as one unsigned 32-bit number, or -1. Leading zeros are refused.
 * @param from where it begins in the text
 * @param to where it ends
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
 * Reads an IPv4 or IPv6 address. A zone id (`%eth0`) is cut, since it only means something on one
 * host; brackets and ports are not accepted here. Returns null for anything else.
 */
export function parseAddress(text: string): Address | null {
  const v4 = parseIPv4(text);
  if (v4 >= 0) return { words: [0, 0, 0xffff, v4], text, family: 4 };
  if (text.length > 60 || !text.includes(':')) return null;
  const zone = text.indexOf('%');
  const words = parseIPv6(zone === -1 ? text : text.slice(0, zone));
  return words === null ? null : addressOf(words);
}

/** The address of four words, with its canonical text. */
export function addressOf(words: readonly [number, number, number, number]): Address {
  if (words[0] === 0 && words[1] === 0 && words[2] === 0xffff) {
    return { words, text: formatIPv4(words[3]), family: 4 };
  }
  return { words, text: formatIPv6(words), family: 6 };
}

function parseIPv6(text: string): [number, number, number, number] | null {
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const head = parseGroups(halves[0] ?? '', halves.length === 1);
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? '', true) : [];
  if (head === null || tail === null) return null;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const groups = [...head, ...new Array<number>(missing).fill(0), ...tail];
  const word = (i: number): number => (((groups[i] ?? 0) << 16) | (groups[i + 1] ?? 0)) >>> 0;
  return [word(0), word(2), word(4), word(6)];
}

/** @param last whether this is the end of the address: only there may a dotted IPv4 address stand (RFC 4291 section 2.2) */
function parseGroups(text: string, last: boolean): number[] | null {
  if (text === '') return [];
  const parts = text.split(':');
  const groups: number[] = [];
  for (const [i, part] of parts.entries()) {
    if (last && i === parts.length - 1 && part.includes('.')) {
      const v4 = parseIPv4(part);
      if (v4 < 0) return null;
      groups.push(v4 >>> 16, v4 & 0xffff);
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(part)) return null;
      groups.push(Number.parseInt(part, 16));
    }
  }
  return groups;
}

function formatIPv4(word: number): string {
  return `${word >>> 24}.${(word >>> 16) & 255}.${(word >>> 8) & 255}.${word & 255}`;
}

function formatIPv6(words: readonly [number, number, number, number]): string {
  const groups = words.flatMap((word) => [word >>> 16, word & 0xffff]);
  let best = { start: -1, length: 1 };
  for (let i = 0; i < 8; i++) {
    let length = 0;
    while (i + length < 8 && groups[i + length] === 0) length++;
    if (length > best.length) best = { start: i, length };
  }
  const hex = (from: number, to: number): string =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(':');
  if (best.start === -1) return hex(0, 8);
  return `${hex(0, best.start)}::${hex(best.start + best.length, 8)}`;
}
