import { createHmac, timingSafeEqual } from 'node:crypto';

/** Length of a step, seconds, and of a code, digits: what every authenticator app takes for granted. */
const STEP_SECONDS = 30;
const DIGITS = 6;
/** Steps that a phone's clock may be off to either side (RFC 6238 section 5.2). */
const WINDOW = 1;
/** 160 bits, as RFC 4226 section 4 recommends for HMAC-SHA-1. */
export const SECRET_BYTES = 20;

/** Code of one counter value: HOTP with HMAC-SHA-1 (RFC 4226 section 5.3). */
export function hotp(secret: Uint8Array, counter: number, digits = DIGITS): string {
  const message = Buffer.alloc(8);
  message.writeBigUInt64BE(BigInt(counter));
  const mac = createHmac('sha1', secret).update(message).digest();
  const offset = (mac[mac.length - 1] as number) & 15;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** The step in which a time lies (RFC 6238 section 4.2). @param now milliseconds since the Unix epoch */
export function stepAt(now: number): number {
  return Math.floor(now / 1000 / STEP_SECONDS);
}

/**
 * The first step around `now` whose code this is and that lies after the last used one, or null. Takes the same time
 * whether a code is right or not.
 *
 * @param code as typed; spaces don't matter
 */
export function matchingStep(
  secret: Uint8Array,
  code: string,
  at: { readonly now: number; readonly lastStep: number },
): number | null {
  const typed = Buffer.from(normaliseCode(code) ?? '');
  const middle = stepAt(at.now);
  let found: number | null = null;
  for (let step = Math.max(0, middle - WINDOW); step <= middle + WINDOW; step++) {
    const expected = Buffer.from(hotp(secret, step));
    const equal = typed.length === expected.length && timingSafeEqual(typed, expected);
    if (equal && step > at.lastStep) found ??= step;
  }
  return found;
}

/** Six digits without the spaces that people and apps put in, or null when it can't be a code. */
export function normaliseCode(typed: string): string | null {
  const digits = typed.replace(/[\s-]/g, '');
  return /^\d{6}$/.test(digits) ? digits : null;
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Base 32 without padding (RFC 4648 section 6), as authenticator apps read keys. */
export function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += BASE32[(value >>> (bits - 5)) & 31];
    value &= (1 << bits) - 1;
  }
  return bits > 0 ? text + BASE32[(value << (5 - bits)) & 31] : text;
}

/** What the QR code says: the key URI that authenticator apps understand, with the site's host as issuer. */
export function keyUri(secret: Uint8Array, account: { readonly host: string; readonly login: string }): string {
  const issuer = encodeURIComponent(account.host);
  return `otpauth://totp/${issuer}:${encodeURIComponent(account.login)}?secret=${base32(secret)}&issuer=${issuer}`;
}
