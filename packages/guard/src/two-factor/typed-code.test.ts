import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBackupCode } from './enrolment.js';
import { parseCode } from './totp.js';
import { readCode } from './typed-code.js';

/** The ten digits of every decimal numbering system of this Node. */
const SCRIPTS = Intl.supportedValuesOf('numberingSystem')
  .map((numberingSystem) =>
    Array.from({ length: 10 }, (_, value) => new Intl.NumberFormat('en', { numberingSystem }).format(value)),
  )
  .filter((digits) => digits.every((digit) => /^\p{Nd}$/u.test(digit)));

const inScript = (code: string, digits: readonly string[]) => [...code].map((digit) => digits[Number(digit)]).join('');
const createCode = (length: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length }).map((all) => all.join(''));
/** Characters that keyboards and programs put between the digits of a number. */
const GAPS = [' ', '\u00a0', '\u2009', '\u3000', '\t', '\n', '-', '\u2010', '\u2011', '\u2013', '\u2212', '\u30fc', '_']
  .concat(['.', ',', '\u00b7', '\u30fb', '\u3002', "'", '\u2019'])
  .concat([
    '\u200b',
    '\u200e',
    '\u202a',
    '\u202c',
    '\u2060',
    '\u2066',
    '\u2069',
    '\u00ad',
    '\ufeff',
    '\ufe0f',
    '\u20e3',
  ]);

describe('a code', () => {
  it('is read in the digits of any script, and in several at once', () => {
    expect(SCRIPTS.length).toBeGreaterThan(50);
    for (const digits of SCRIPTS) {
      expect(parseCode(inScript('012345', digits))).toBe('012345');
      expect(parseBackupCode(inScript('98765432', digits))).toBe('98765432');
    }
    fc.assert(
      fc.property(
        createCode(6),
        fc.array(fc.constantFrom(...SCRIPTS), { minLength: 6, maxLength: 6 }),
        (code, scripts) => {
          const typed = [...code].map((digit, at) => inScript(digit, scripts[at] as string[])).join('');
          expect(parseCode(typed)).toBe(code);
        },
      ),
    );
  });

  it.each(GAPS)('is read with %j between its digits', (gap) => {
    expect(parseCode(`123${gap}456`)).toBe('123456');
    expect(parseCode([...'123456'].join(gap))).toBe('123456');
    expect(parseBackupCode(`1234${gap}5678`)).toBe('12345678');
    expect(parseCode(`${gap}123456${gap}`)).toBe('123456');
  });

  it.each([
    'Code: 123 456',
    'Your code is 123456.',
    '123456 is your code.',
    'Ihr Code lautet: 123-456',
    'コード：１２３４５６',
    'رمزك هو ١٢٣٤٥٦',
    'G-123456',
    '„123456“',
    '(123) 456',
    '12/34/56',
    '1 2 3 4 5 6',
    '123\u200a456',
    'Code 123456, valid for 30 seconds',
    '12:00 Code 123456',
    'Version 2. 123456',
    'Code 123456. 30 seconds left.',
  ])('is read from %j', (typed) => {
    expect(parseCode(typed)).toBe('123456');
  });

  it.each([
    '',
    ' ',
    '12345',
    '1234567',
    '12345a',
    '123 456 789',
    '1234 5678',
    'abc',
    '123a456',
    '1.5e3',
    '-1',
    '123456 654321 x',
    'Codes: 123456 and 654321',
    '123456. 654321',
    '12345½',
    '12345²',
    '½23456',
    '123456²',
    '²123456',
    '12345⑫',
    'Ⅳ123456',
    '\u202e123456',
    '123\u202e456',
    '123456\u202e',
  ])('is not read from %j', (typed) => {
    expect(parseCode(typed)).toBeNull();
  });

  it('is one code or none, and all its digits are in the text in the same order', () => {
    const pieces = fc.constantFrom(...'0123456789', ...GAPS, 'x', '/', ':', '²', '\u202e', '１', '٢');
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (all) => {
        const code = readCode(all.join(''), 6);
        if (code === null) return;
        const plain = all.join('').replaceAll('１', '1').replaceAll('٢', '2').replace(/\D/g, '');
        expect(code).toMatch(/^[0-9]{6}$/);
        expect(plain).toContain(code);
      }),
      { numRuns: 5000 },
    );
  });

  it('is null or digits for any text, and reading it never fails', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 10 }), (typed, length) => {
        const code = readCode(typed, length);
        expect(code === null || (code.length === length && /^[0-9]+$/.test(code))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('is null when the text contains two codes', () => {
    fc.assert(
      fc.property(
        createCode(6),
        createCode(6),
        fc.constantFrom(' or ', ' / ', '; ', '. ', ' x '),
        (one, other, between) => {
          expect(readCode(`${one}${between}${other}`, 6)).toBeNull();
        },
      ),
    );
  });
});
