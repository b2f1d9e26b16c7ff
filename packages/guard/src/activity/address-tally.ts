import { Buffer } from 'node:buffer';

/** How often an address asked. */
export interface AddressHits {
  readonly address: string;
  readonly hits: number;
}

/** Where things stand in an entry; the address follows, one byte per character. */
const HITS = 0;
const LENGTH = 4;
const TEXT = 5;
const SMALLEST = 256;

/**
 * Counts hits of addresses as bytes: in a flood ten thousand addresses a second, which as objects would keep the
 * collector of garbage busy (decision 14). Only hits that follow one another share an entry, so an address may stand
 * there more than once.
 */
export class AddressTally {
  #bytes = Buffer.alloc(0);
  #used = 0;
  #last = '';
  #lastAt = 0;

  /** Bytes that are taken. */
  get used(): number {
    return this.#used;
  }

  add(address: string): void {
    if (address === this.#last) {
      this.#bytes.writeUInt32LE(this.#bytes.readUInt32LE(this.#lastAt) + 1, this.#lastAt);
      return;
    }
    const end = this.#used + TEXT + address.length;
    if (end > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, SMALLEST, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#used);
      this.#bytes = larger;
    }
    this.#last = address;
    this.#lastAt = this.#used + HITS;
    this.#bytes.writeUInt32LE(1, this.#lastAt);
    this.#bytes.writeUInt8(address.length, this.#used + LENGTH);
    this.#bytes.write(address, this.#used + TEXT, 'latin1');
    this.#used = end;
  }

  /** What was counted, for `readTally`. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#used);
  }
}

/** What a tally counted, in the order of its hits. */
export function* readTally({ buffer, byteOffset, byteLength }: Uint8Array): Generator<AddressHits> {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  for (let at = 0; at < bytes.length; ) {
    const end = at + TEXT + bytes.readUInt8(at + LENGTH);
    yield { address: bytes.toString('latin1', at + TEXT, end), hits: bytes.readUInt32LE(at + HITS) };
    at = end;
  }
}
