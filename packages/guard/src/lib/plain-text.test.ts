import fc from 'fast-check';
import { expect, it } from 'vitest';
import { plainText, terminalText } from './plain-text.js';

it('ordinary text of any language is not changed', () => {
  for (const text of ['Hello', 'Grüße, 世界', '<b>"\'&</b>', 'שלום', 'a\\b', '👍🏽'])
    expect(plainText(text, 100)).toBe(text);
});

it('the result has no control character, never exceeds its limit, and never ends in half a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 1, max: 40 }), (text, maxLength) => {
      const plain = plainText(text, maxLength);
      expect(plain).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      expect(plain.length).toBeLessThanOrEqual(maxLength);
      expect(plain).not.toMatch(/[\ud800-\udbff]$/);
    }),
  );
});

it('invisible characters are shown, so that no name can imitate another', () => {
  for (const [text, shown] of [
    ['own\u200ber', 'own\\u200ber'],
    ['\ufeffowner', '\\ufeffowner'],
    ['owner\u3164', 'owner\\u3164'],
    ['ow\u2060ner', 'ow\\u2060ner'],
  ] as const)
    expect(plainText(text, 100)).toBe(shown);
});

it('combining marks are not stacked so high that they cover other lines', () => {
  const stacked = `Z${'\u0301'.repeat(90)}`;
  expect(plainText(stacked, 300)).toBe(`Z${'\u0301'.repeat(5)}${'\\u0301'.repeat(49)}`.slice(0, 300));
  for (const text of ['Việt', 'שָׁלוֹם', 'ที่นี่', '👨‍👩‍👧', 'می‌خواهم']) expect(plainText(text, 100)).toBe(text);
});

it('replaced characters are shown', () => {
  expect(plainText('a\nb\u202ec', 20)).toBe('a\\u000ab\\u202ec');
  expect(plainText('ab\n\n', 9)).toBe('ab\\u000a');
});

it.each([
  ['\x1b[31mred\x1b]0;title\x07', '\\u001b[31mred\\u001b]0;title\\u0007'],
  ['\u009b2J', '\\u009b2J'],
  ['Site a\r\n  Blog\tb\n', 'Site a\\u000d\n  Blog\\u0009b\n'],
  ['x\u202ey \u2066z\n\n', 'x\\u202ey \\u2066z\n\n'],
  ['„Grüße“ 世界 👩‍👩‍👧\n', '„Grüße“ 世界 👩‍👩‍👧\n'],
])('%j has no control characters for a terminal, and keeps its lines', (text, shown) => {
  expect(terminalText(text)).toBe(shown);
});
