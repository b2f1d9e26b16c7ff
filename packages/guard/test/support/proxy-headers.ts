import { Buffer } from 'node:buffer';

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');

/** One TLV of version 2. */
export function tlv(type: number, value: Buffer): Buffer {
  const head = Buffer.alloc(3);
  head.writeUInt8(type);
  head.writeUInt16BE(value.length, 1);
  return Buffer.concat([head, value]);
}

/**
 * The TLV about TLS.
 * @param flags 1: the client's connection was encrypted
 */
export const tlsTlv = (flags: number): Buffer => tlv(0x20, Buffer.from([flags, 0, 0, 0, 0]));

export interface BinaryHeader {
  /** Version and command; 0x21 is PROXY of version 2, 0x20 LOCAL. */
  readonly command?: number;
  /** Family and protocol; 0x11 TCP over IPv4, 0x21 over IPv6. */
  readonly family?: number;
  /** The block of addresses. */
  readonly addresses?: Buffer;
  readonly tlvs?: Buffer;
  /** The length that is written, when it differs from the real one. */
  readonly length?: number;
}

/** A header of version 2, built from the specification alone. */
export function binaryHeader(parts: BinaryHeader = {}): Buffer {
  const { command = 0x21, family = 0x11, addresses = ipv4('192.0.2.7', 80), tlvs = Buffer.alloc(0) } = parts;
  const head = Buffer.alloc(4);
  head.writeUInt8(command);
  head.writeUInt8(family, 1);
  head.writeUInt16BE(parts.length ?? addresses.length + tlvs.length, 2);
  return Buffer.concat([SIGNATURE, head, addresses, tlvs]);
}

/** Addresses of TCP over IPv4: this source, port 4711, to 198.51.100.1. */
export function ipv4(source: string, toPort: number): Buffer {
  const block = Buffer.alloc(12);
  for (const [at, part] of source.split('.').entries()) block.writeUInt8(Number(part), at);
  block.set([198, 51, 100, 1], 4);
  block.writeUInt16BE(4711, 8);
  block.writeUInt16BE(toPort, 10);
  return block;
}

/**
 * Addresses of TCP over IPv6.
 * @param source 32 hexadecimal digits
 */
export function ipv6(source: string, toPort: number): Buffer {
  const block = Buffer.alloc(36);
  block.set(Buffer.from(source, 'hex'));
  block.writeUInt16BE(toPort, 34);
  return block;
}
