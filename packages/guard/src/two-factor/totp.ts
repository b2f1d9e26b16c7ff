import { timingSafeEqual } from 'node:crypto';
import { HOTP, Secret, TOTP } from 'otpauth';
import { readCode } from './typed-code.js';

/** Accepted difference of a phone's clock in either direction, in steps (RFC 6238 section 5.2). */
const WINDOW = 1;
/** 160 bits, as RFC 4226 section 4 recommends for HMAC-SHA-1. */
export const SECRET_BYTES = 20;

/** The code of one counter value: HOTP with HMAC-SHA-1 and 6 digits, which every authenticator app uses (RFC 4226). */
export function hotp(secret: Uint8Array, counter: number, digits = HOTP.defaults.digits): string {
  return HOTP.generate({ secret: toSecret(secret), counter, digits });
}

/**
 * The 30-second step that contains a time (RFC 6238 section 4.2).
 * @param now milliseconds since the Unix epoch
 */
export function toStep(now: number): number {
  return TOTP.counter({ timestamp: now });
}

/**
 * The first step around `now` that has this code and comes after the last used step, or null. All steps are computed
 * and compared in every case, so that the duration reveals nothing. `HOTP.validate` of the library stops at the first
 * match and has no last used step.
 *
 * @param code as typed
 */
export function findMatchingStep(
  secret: Uint8Array,
  code: string,
  at: { readonly now: number; readonly lastStep: number },
): number | null {
  const typed = Buffer.from(parseCode(code) ?? '');
  const current = toStep(at.now);
  let found: number | null = null;
  for (let step = Math.max(0, current - WINDOW); step <= current + WINDOW; step++) {
    const expected = Buffer.from(hotp(secret, step));
    const equal = typed.length === expected.length && timingSafeEqual(typed, expected);
    if (equal && step > at.lastStep) found ??= step;
  }
  return found;
}

/** The six digits of a typed code in ASCII, or null when the text can't be a code. */
export function parseCode(typed: string): string | null {
  return readCode(typed, HOTP.defaults.digits);
}

/** Base 32 without padding (RFC 4648 section 6), as authenticator apps read keys. */
export function toBase32(bytes: Uint8Array): string {
  return toSecret(bytes).base32;
}

/**
 * The key URI in the QR code, with the site's host as issuer. It omits the defaults of apps (SHA-1, 6 digits, 30
 * seconds), so that the QR code is small.
 */
export function toKeyUri(secret: Uint8Array, account: { readonly host: string; readonly login: string }): string {
  const issuer = encodeURIComponent(account.host);
  return `otpauth://totp/${issuer}:${encodeURIComponent(account.login)}?secret=${toBase32(secret)}&issuer=${issuer}`;
}

function toSecret(bytes: Uint8Array): Secret {
  // Copied: a Buffer may share its memory with others.
  return new Secret({ buffer: new Uint8Array(bytes).buffer });
}
