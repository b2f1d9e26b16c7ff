import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { macWith } from './mac.js';

const expected = (key: string, text: string): string =>
  createHmac('sha256', Buffer.from(key, 'ascii')).update(text).digest('hex');

test('signs as HMAC-SHA-256 does, for keys of every length up to a block and texts around block ends', () => {
  for (const keyLength of [0, 1, 31, 32, 63, 64]) {
    const key = '0123456789abcdef'.repeat(4).slice(0, keyLength);
    const mac = macWith(key);
    for (const length of [0, 1, 54, 55, 56, 63, 64, 65, 119, 120, 1000, 100_000]) {
      const text = 'guard-request\n'.repeat(8000).slice(0, length);
      expect(mac(text), `key of ${keyLength}, text of ${length}`).toBe(expected(key, text));
    }
  }
});

test('gives the MAC of RFC 4231, test case 2', () => {
  expect(macWith('Jefe')('what do ya want for nothing?')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
});

test('takes texts beyond ASCII as UTF-8', () => {
  const mac = macWith('k');
  for (const text of ['naïve', '日本語', '\u0080\u00ff', 'a\0b']) expect(mac(text)).toBe(expected('k', text));
});

test('two keys in turn do not mix', () => {
  const one = macWith('one');
  const two = macWith('two');
  const first = one('text');
  two('text');
  expect(one('text')).toBe(first);
  expect(two('text')).toBe(expected('two', 'text'));
});

test.each(['k'.repeat(65), 'schlüssel', 'a\n'])('refuses a key that it would sign wrongly with: %j', (key) => {
  expect(() => macWith(key)).toThrow(RangeError);
});
