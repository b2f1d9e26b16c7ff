import { type Address, parseAddress } from '../../lib/address.js';

/** Key of an address: its 16 bytes, IPv4 as ::ffff:a.b.c.d. What is no address has the key of `::`. */
export function keyOfAddress(address: string): Uint8Array {
  return keyOfWords(parseAddress(address)?.words ?? [0, 0, 0, 0]);
}

/** The same of an address that is already read. Keys sort as addresses do. */
export function keyOfWords(words: Address['words']): Uint8Array {
  const key = new Uint8Array(16);
  const view = new DataView(key.buffer);
  words.forEach((word, index) => {
    view.setUint32(index * 4, word);
  });
  return key;
}

/** Key of a user: the WordPress user id in 8 bytes, most significant first. */
export function keyOfUser(id: number): Uint8Array {
  const key = new Uint8Array(8);
  new DataView(key.buffer).setBigUint64(0, BigInt(id));
  return key;
}

export function userOfKey(key: Uint8Array): number {
  return Number(new DataView(key.buffer, key.byteOffset, key.byteLength).getBigUint64(0));
}

/** Bytes of a key in hexadecimal, as filters carry them. */
export function keyOfHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}
