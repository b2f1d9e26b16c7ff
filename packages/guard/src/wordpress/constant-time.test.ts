import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { expect, it, onTestFinished } from 'vitest';
import { SECRET } from '../../test/support/site-config.js';
import { signValue, verifySignedValue } from '../http/login-cookies.js';
import { isFormToken, toFormToken } from '../two-factor/challenges.js';
import { findMatchingStep, hotp, toStep } from '../two-factor/totp.js';
import { equalText } from './signature.js';

const NOW = 1_700_000_000_000;
const secret = Buffer.from('12345678901234567890');
const code = hotp(secret, toStep(NOW));
const signed = signValue(SECRET, 'device', 'value');
const token = toFormToken('cookie');
const at = { now: NOW, lastStep: 0 };

/** The same text with another character at this index. */
function other(text: string, index: number): string {
  const at = (index + text.length) % text.length;
  return `${text.slice(0, at)}${text[at] === '1' ? '2' : '1'}${text.slice(at + 1)}`;
}

/** Number of constant-time comparisons while `work` ran. */
function comparisons(work: () => unknown): number {
  const { timingSafeEqual } = crypto;
  let count = 0;
  const put = (compare: typeof timingSafeEqual): void => {
    crypto.timingSafeEqual = compare;
    syncBuiltinESMExports();
  };
  onTestFinished(() => put(timingSafeEqual));
  put((a, b) => {
    count++;
    return timingSafeEqual(a, b);
  });
  work();
  put(timingSafeEqual);
  return count;
}

it.each<[string, string, (given: string) => unknown, number]>([
  ['a signature of the connector', 'f'.repeat(64), (given) => equalText(given, 'f'.repeat(64)), 1],
  ['a signed cookie', signed, (given) => verifySignedValue(SECRET, 'device', given), 1],
  ['the token of a form', token, (given) => isFormToken('cookie', given), 1],
  ['the code of an app, compared with those of three steps', code, (given) => findMatchingStep(secret, given, at), 3],
])(
  '%s is compared in constant time, whether it is right or wrong, and wherever it first differs',
  (_what, right, check, times) => {
    for (const given of [right, other(right, -5), other(right, -1)])
      expect(comparisons(() => check(given))).toBe(times);
  },
);
