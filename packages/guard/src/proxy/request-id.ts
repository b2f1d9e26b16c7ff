import { randomBytes } from 'node:crypto';

/** Makes request ids: 16 hexadecimal digits, unique in this process and, by its random part, almost surely elsewhere. */
export function requestIds(): () => string {
  const prefix = randomBytes(3).toString('hex');
  let count = randomBytes(4).readUInt32BE() % 0x10000000;
  return () => {
    count = (count + 1) % 0x10000000000;
    return prefix + count.toString(16).padStart(10, '0');
  };
}

const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** All pairs of letters: 1024, ten bits each. */
const PAIRS = Array.from({ length: 1024 }, (_, i) => `${LETTERS[i >> 5]}${LETTERS[i & 31]}`);

/** A form of the request id that people can read out (Crockford's base 32 of its last 40 bits): `7K2M-94QX`. */
export function reference(requestId: string): string {
  const high = Number.parseInt(requestId.slice(-10, -5), 16);
  const low = Number.parseInt(requestId.slice(-5), 16);
  return `${PAIRS[high >> 10]}${PAIRS[high & 1023]}-${PAIRS[low >> 10]}${PAIRS[low & 1023]}`;
}
