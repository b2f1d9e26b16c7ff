import { randomBytes } from 'node:crypto';

/** Creates a generator of request ids: 16 hexadecimal digits, unique in this process and random between processes. */
export function createRequestIds(): () => string {
  const prefix = randomBytes(3).toString('hex');
  let count = randomBytes(4).readUInt32BE() % 0x10000000;
  return () => {
    count = (count + 1) % 0x10000000000;
    return prefix + count.toString(16).padStart(10, '0');
  };
}

const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** All pairs of letters: 1024, with ten bits each. */
const PAIRS = Array.from({ length: 1024 }, (_, i) => `${LETTERS[i >> 5]}${LETTERS[i & 31]}`);

/** The number in the reference of a request: the last 40 bits of its id. */
export function toReferenceNumber(requestId: string): number {
  return Number.parseInt(requestId.slice(-10), 16);
}

/**
 * Reads a reference as people write it: ignoring case, hyphen and spaces, with I and L for 1 and O for 0.
 * @returns the number of `toReferenceNumber`; null for any other text
 */
export function parseReference(text: string): number | null {
  const [, first, second] = /^\s*([0-9a-z]{4})[-\s]?([0-9a-z]{4})\s*$/i.exec(text) ?? [];
  if (first === undefined || second === undefined) return null;
  let number = 0;
  for (const letter of (first + second).toUpperCase().replace(/[IL]/g, '1').replaceAll('O', '0')) {
    const value = LETTERS.indexOf(letter);
    if (value === -1) return null;
    number = number * 32 + value;
  }
  return number;
}

/** A short form of a request id for people (Crockford's base 32 of `toReferenceNumber`), for example `7K2M-94QX`. */
export function toReference(requestId: string): string {
  return formatReference(toReferenceNumber(requestId));
}

/** The text of a reference's number. */
export function formatReference(number: number): string {
  const high = Math.floor(number / 2 ** 20);
  const low = number % 2 ** 20;
  return `${PAIRS[high >> 10]}${PAIRS[high & 1023]}-${PAIRS[low >> 10]}${PAIRS[low & 1023]}`;
}
