import { type Address, parseAddress, toAddress } from './address.js';
import { AddressListReader, AddressSet, parseRange, privateNetworks, type Range } from './address-set.js';

/**
 * IPv6 addresses that carry an IPv4 address: a translator or a tunnel derived them from it, so both identify one
 * visitor. The mapped form ::ffff:0:0/96 needs no special treatment, since `parseAddress` reads it as IPv4.
 *
 * Decisions about trust (proxies, the machine's own addresses) never use the carried address; see
 * docs/decisions/0038-addresses-that-carry-another.md.
 */

/**
 * The IPv4 address that an address carries; the address itself when it carries none. Only an IPv4 address that can be a
 * visitor on the Internet is used: 2002:7f00:1:: stays IPv6 and does not become the loopback address.
 *
 * Supported are the well-known prefix of NAT64 (64:ff9b::/96, RFC 6052 section 2.1), its prefix for local use
 * (64:ff9b:1::/48, RFC 8215), 6to4 (2002::/16, RFC 3056 section 2), Teredo (2001::/32, RFC 4380 section 4),
 * IPv4-translated addresses of SIIT (::ffff:0:0:0/96, RFC 2765 section 2.1) and IPv4-compatible ones (::/96, RFC 4291
 * section 2.5.5.1). ISATAP (RFC 5214) is not supported: its interface identifier may follow any prefix, so the owner of
 * a prefix could name any IPv4 address.
 *
 * @returns the same object for IPv4 and ordinary IPv6; else a new one whose `seen` is the given address
 */
export function toCarriedAddress(address: Address): Address {
  const word = address.family === 4 ? 0 : findCarried(address.words);
  if (word === 0) return address;
  const carried = toAddress([0, 0, 0xffff, word]);
  if (privateNetworks.has(carried)) return address;
  return { words: carried.words, text: carried.text, family: 4, seen: address };
}

const NAT64 = 0x0064ff9b;
const TEREDO = 0x20010000;
const SIX_TO_FOUR = 0x2002;
/** The upper half of the second word, after `NAT64`, in the prefix for local use. */
const LOCAL_USE = 1;

/** @returns the IPv4 address as an unsigned 32-bit number, 0 for none */
function findCarried([first, second, third, last]: Address['words']): number {
  if (first >>> 16 === SIX_TO_FOUR) return ((first << 16) | (second >>> 16)) >>> 0;
  if (first === TEREDO) return ~last >>> 0;
  if (first === NAT64) {
    if (second >>> 16 === LOCAL_USE) return findLocalUse(second, third, last);
    return second === 0 && third === 0 ? last : 0;
  }
  // The IPv4-compatible addresses :: and ::1 would carry addresses in 0.0.0.0/8, so they carry none.
  return first === 0 && second === 0 && (third === 0 || third === TRANSLATED) ? last : 0;
}

/** Whether an address has the well-known prefix of NAT64, so that its last word is an IPv4 address. */
export function isNat64([first, second, third]: Address['words']): boolean {
  return first === NAT64 && second === 0 && third === 0;
}

const TRANSLATED = 0xffff0000;

/**
 * Operators choose prefixes of several lengths in 64:ff9b:1::/48, and an address does not show which (RFC 6052 section
 * 2.2). Two forms can be distinguished, because unused bits are zero:
 *
 * - a /96: bits 64 to 95 are zero, and the IPv4 address is at the end. With a shorter prefix, the address would end in
 *   bits that must be zero, or would be in 0.0.0.0/8.
 * - the /48 itself: bits 48 to 63 and 72 to 87, with zeros in bits 64 to 71 and after bit 87.
 *
 * Others (/56, /64) stay IPv6 addresses.
 */
function findLocalUse(second: number, third: number, last: number): number {
  if (third === 0) return last;
  if (last !== 0 || third >>> 24 !== 0 || (third & 0xff) !== 0) return 0;
  return ((second << 16) | (third >>> 8)) >>> 0;
}

/** The address in the connection or header, for functions that must not use the carried one. */
export function toSeenAddress(address: Address): Address {
  return address.seen ?? address;
}

/** Reads the address of a visitor: the carried one if there is one. Null for any other text. */
export function parseVisitor(text: string): Address | null {
  const address = parseAddress(text);
  return address === null ? null : toCarriedAddress(address);
}

/** The canonical text of a visitor's address; any other text is returned unchanged. */
export function toVisitorText(text: string): string {
  return parseVisitor(text)?.text ?? text;
}

/**
 * Reads an address or range that names visitors, like `parseRange`. A range whose addresses all carry the same IPv4
 * address (`2002:c000:201::/48`) becomes that address. A wider one stays IPv6: sets of visitors match it against
 * `Address.seen`.
 */
export function parseVisitorRange(line: string): Range | null {
  const range = parseRange(line);
  return range === null ? null : (findCarriedRange(range) ?? range);
}

/** The single IPv4 address that all addresses of a range carry, as a range; null when they carry none or several. */
export function findCarriedRange({ from, to }: Range): Range | null {
  if (findCarried(from) === 0 || from[0] !== to[0]) return null;
  // In 6to4 the carried address is at the start, so a whole range can share it. In the other forms it is at the end.
  const isOne =
    from[0] >>> 16 === SIX_TO_FOUR
      ? from[1] >>> 16 === to[1] >>> 16
      : from[1] === to[1] && from[2] === to[2] && from[3] === to[3];
  const first = isOne ? toCarriedAddress(toAddress(from)) : null;
  if (first?.seen === undefined) return null;
  return { from: first.words, to: first.words };
}

/** The ranges of a list that names visitors, and the addresses that they carry; invalid lines are ignored. */
export function toVisitorRanges(lines: readonly string[]): Range[] {
  const ranges = lines.map(parseRange).filter((range) => range !== null);
  return [...ranges, ...ranges.map(findCarriedRange).filter((range) => range !== null)];
}

/** Reads lines that name visitors. The set contains carried addresses in addition to the written ranges. */
export function createVisitorListReader(): AddressListReader {
  return new AddressListReader(findCarriedRange);
}

/** A set of visitors. Lines that `parseRange` rejects are omitted. */
export function toVisitorSet(lines: Iterable<string>): AddressSet {
  const read = createVisitorListReader();
  for (const line of lines) read.add(line);
  return AddressSet.unpack(read.pack());
}

/**
 * Whether a list of `toVisitorSet` admits an address. A network that announces a route for 6to4 or Teredo receives the
 * responses to all addresses of that prefix, whatever IPv4 address they carry. That is enough to be blocked, but not to
 * be admitted: such an address must itself be on the list. Responses to the other forms reach a translator of the
 * server's own network or provider.
 */
export function isAdmitted(list: AddressSet, address: Address): boolean {
  const { seen } = address;
  if (seen === undefined) return list.has(address);
  const first = seen.words[0];
  return list.has(first === TEREDO || first >>> 16 === SIX_TO_FOUR ? seen : address);
}
