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

/** A form of the request id that people can read out (Crockford's base 32 of its last 40 bits): `7K2M-94QX`. */
export function reference(requestId: string): string {
  let value = Number.parseInt(requestId.slice(-10), 16);
  let text = '';
  for (let i = 0; i < 8; i++) {
    text = (LETTERS[value % 32] as string) + text;
    if (i === 3) text = `-${text}`;
    value = Math.floor(value / 32);
  }
  return text;
}
