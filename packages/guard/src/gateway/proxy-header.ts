import { type Address, parseAddress, parseIPv4, toAddress } from '../lib/address.js';

/** The header of the PROXY protocol, versions 1 and 2, at the start of a proxied connection. */
export interface ProxyHeader {
  /** Length, bytes. The client's data follow. */
  readonly length: number;
  /** Null when the proxy names no source: the connection is its own, or the protocol is unknown. */
  readonly source: Address | null;
  /** Whether the client's connection to the proxy was encrypted. */
  readonly isEncrypted: boolean;
}

/** Longest header of version 1, with its line end, bytes. */
const MAX_TEXT_BYTES = 107;
/** Longest header of version 2, bytes: it must fit in the smallest TCP segment. */
const MAX_BINARY_BYTES = 536;

const TEXT_PREFIX = Buffer.from('PROXY ', 'latin1');
const BINARY_PREFIX = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const BINARY_HEAD_BYTES = 16;

/**
 * Parses the header at the start of a connection. A header is malformed as soon as it can't become valid, so that no
 * more bytes are read than the longest header has.
 */
export function parseProxyHeader(bytes: Buffer): ProxyHeader | 'incomplete' | 'malformed' {
  if (matchesPrefix(bytes, TEXT_PREFIX)) return parseText(bytes);
  if (matchesPrefix(bytes, BINARY_PREFIX)) return parseBinary(bytes);
  return 'malformed';
}

/** Whether the bytes read so far match a prefix. */
function matchesPrefix(bytes: Buffer, prefix: Buffer): boolean {
  const length = Math.min(bytes.length, prefix.length);
  return bytes.compare(prefix, 0, length, 0, length) === 0;
}

const TEXT_LINE = /^PROXY (TCP4|TCP6) ([0-9a-fA-F:.]+) ([0-9a-fA-F:.]+) (0|[1-9]\d{0,4}) (0|[1-9]\d{0,4})$/;

function parseText(bytes: Buffer): ProxyHeader | 'incomplete' | 'malformed' {
  const text = bytes.toString('latin1', 0, MAX_TEXT_BYTES);
  const end = text.indexOf('\r\n');
  if (end === -1) {
    const couldGoOn = bytes.length < MAX_TEXT_BYTES && /^[\x20-\x7e]*\r?$/.test(text);
    return couldGoOn ? 'incomplete' : 'malformed';
  }
  const line = text.slice(0, end);
  const length = end + 2;
  if (/^PROXY UNKNOWN(?: [\x20-\x7e]*)?$/.test(line)) return { length, source: null, isEncrypted: false };
  const [, family, from = '', to = '', fromPort, toPort] = TEXT_LINE.exec(line) ?? [];
  if (family === undefined || !isOfFamily(from, family) || !isOfFamily(to, family)) return 'malformed';
  if (Number(fromPort) > 65_535 || Number(toPort) > 65_535) return 'malformed';
  return { length, source: parseAddress(from), isEncrypted: Number(toPort) === HTTPS_PORT };
}

function isOfFamily(text: string, family: string): boolean {
  return family === 'TCP4' ? parseIPv4(text) >= 0 : text.includes(':') && parseAddress(text) !== null;
}

/**
 * Version 1 and senders without TLVs do not report whether TLS was used. A proxy that terminates TLS accepts it on this
 * port.
 */
const HTTPS_PORT = 443;

/** Lengths of the addresses by the byte for family and protocol; stream sockets only. */
const TCP4 = 0x11;
const TCP6 = 0x21;
const ADDRESS_BYTES: ReadonlyMap<number, number> = new Map([
  [TCP4, 12],
  [TCP6, 36],
  // A Unix socket of the proxy.
  [0x31, 216],
]);
const UNSPECIFIED = 0x00;

function parseBinary(bytes: Buffer): ProxyHeader | 'incomplete' | 'malformed' {
  const versionAndCommand = bytes[12];
  if (versionAndCommand === undefined) return 'incomplete';
  if (versionAndCommand !== 0x20 && versionAndCommand !== 0x21) return 'malformed';
  if (bytes.length < BINARY_HEAD_BYTES) return 'incomplete';
  const length = BINARY_HEAD_BYTES + bytes.readUInt16BE(14);
  if (length > MAX_BINARY_BYTES) return 'malformed';
  if (bytes.length < length) return 'incomplete';
  const isLocal = versionAndCommand === 0x20;
  const family = bytes[13] as number;
  if (isLocal || family === UNSPECIFIED) return { length, source: null, isEncrypted: false };
  const size = ADDRESS_BYTES.get(family);
  if (size === undefined || length < BINARY_HEAD_BYTES + size) return 'malformed';
  const extensions = readExtensions(bytes.subarray(0, length), BINARY_HEAD_BYTES + size);
  if (extensions === null) return 'malformed';
  const at = BINARY_HEAD_BYTES;
  if (family === TCP4) {
    const source = toAddress([0, 0, 0xffff, bytes.readUInt32BE(at)]);
    return { length, source, isEncrypted: extensions.isEncrypted ?? bytes.readUInt16BE(at + 10) === HTTPS_PORT };
  }
  if (family === TCP6) {
    const word = (index: number): number => bytes.readUInt32BE(at + index * 4);
    const source = toAddress([word(0), word(1), word(2), word(3)]);
    return { length, source, isEncrypted: extensions.isEncrypted ?? bytes.readUInt16BE(at + 34) === HTTPS_PORT };
  }
  return { length, source: null, isEncrypted: extensions.isEncrypted ?? false };
}

const TLV_CHECKSUM = 0x03;
const TLV_SSL = 0x20;
/** Bit in the TLS TLV: the client's connection was encrypted. */
const CLIENT_SSL = 0x01;

/** Reads the TLVs after the addresses that concern guard. @returns null when they are malformed */
function readExtensions(header: Buffer, from: number): { readonly isEncrypted: boolean | null } | null {
  let isEncrypted: boolean | null = null;
  for (let at = from; at < header.length; ) {
    if (at + 3 > header.length) return null;
    const type = header[at];
    const value = at + 3;
    const end = value + header.readUInt16BE(at + 1);
    if (end > header.length) return null;
    if (type === TLV_SSL) {
      if (end - value < 5) return null;
      isEncrypted = ((header[value] as number) & CLIENT_SSL) !== 0;
    } else if (type === TLV_CHECKSUM) {
      if (end - value !== 4 || header.readUInt32BE(value) !== computeChecksum(header, value)) return null;
    }
    at = end;
  }
  return { isEncrypted };
}

/** CRC-32C (RFC 4960 appendix B) of a header. The four bytes of the checksum count as zero. */
function computeChecksum(header: Buffer, checksumAt: number): number {
  let crc = 0xffffffff;
  for (let at = 0; at < header.length; at++) {
    crc ^= at >= checksumAt && at < checksumAt + 4 ? 0 : (header[at] as number);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
