import { hotp, toStep } from '@security-optimizer/guard/testing';

/**
 * The code of an authenticator app.
 *
 * @param key as the set-up page shows it: base 32 with spaces between
 * @param ahead steps of 30 seconds from now; guard takes one step early or late, and each step once
 */
export function codeOf(key: string, ahead = 0): string {
  return hotp(fromBase32(key), toStep(Date.now()) + ahead);
}

/** RFC 4648 section 6, with spaces between. */
export function fromBase32(text: string): Buffer {
  const digits = [...text.replaceAll(' ', '')].map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter));
  const bits = digits.map((digit) => digit.toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
