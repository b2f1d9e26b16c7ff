import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dropUnseen, isUnseen, toDigit, toPlainAddress, toPlainText } from './typed-text.js';

const LAST_CODE_POINT = 0x10ffff;
const isSurrogate = (code: number) => code >= 0xd800 && code <= 0xdfff;

/** Every code point that this Node's Unicode tables have in a category. */
function listCharacters(category: RegExp): string[] {
  const found: string[] = [];
  for (let code = 0; code <= LAST_CODE_POINT; code++) {
    if (!isSurrogate(code) && category.test(String.fromCodePoint(code))) found.push(String.fromCodePoint(code));
  }
  return found;
}

const digits = listCharacters(/^\p{Nd}$/u);
/** Marks that a chat, a mail or a spreadsheet puts around what is copied. */
const INVISIBLE_CHARACTERS = ['\u200b', '\u200e', '\u200f', '\u2060', '\u2066', '\u2069', '\u00ad', '\ufeff', '\ufe0f'];
/** Numerals that are no decimal digits. */
const NUMERALS = ['²', '½', '⑫', 'Ⅳ', '一', '①', '₂'];

describe('a digit', () => {
  it('has its value in every script that Node supports', () => {
    expect(digits.length).toBeGreaterThan(600);
    for (const system of Intl.supportedValuesOf('numberingSystem')) {
      const shown = Array.from({ length: 10 }, (_, value) =>
        new Intl.NumberFormat('en', { numberingSystem: system, useGrouping: false }).format(value),
      );
      if (!shown.every((digit) => /^\p{Nd}$/u.test(digit))) continue;
      expect([system, shown.map(toDigit)]).toEqual([system, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]);
    }
  });

  it('occurs equally often for each value in all of Unicode', () => {
    const counts = new Map<number, number>();
    for (const digit of digits) counts.set(toDigit(digit), (counts.get(toDigit(digit)) ?? 0) + 1);
    expect([...counts.keys()].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(new Set(counts.values()).size).toBe(1);
  });

  it('has its value if the digits of several scripts are adjacent', () => {
    // Mathematical digits: bold, double-struck, sans-serif, bold sans-serif, monospace.
    const rows = Array.from({ length: 50 }, (_, i) => toDigit(String.fromCodePoint(0x1d7ce + i)));
    expect(rows).toEqual(Array.from({ length: 50 }, (_, i) => i % 10));
  });

  it('is not any other character', () => {
    for (const character of [...NUMERALS, 'a', 'O', 'l', '', ' ', '/', ':', '\u0000']) {
      expect([character, toDigit(character)]).toEqual([character, -1]);
    }
  });
});

describe('plain text', () => {
  it('has the digits of every script in ASCII', () => {
    for (const digit of digits) expect(toPlainText(digit)).toBe(String(toDigit(digit)));
  });

  it.each([
    ['５１４', '514'],
    ['ｏｗｎｅｒ＠ｅｘａｍｐｌｅ．ｃｏｍ', 'owner@example.com'],
    ['\u200b/\u2060door\ufeff ', '/door'],
    ['my\u2011door', 'my-door'],
    ['my\u2010door\uff0d2', 'my-door-2'],
    ['a\u3000b\u00a0c', 'a b c'],
    ['a\u060cb\u3001c\uff0cd', 'a,b,c,d'],
    ['٢٠٢٦-٠١-٠٢', '2026-01-02'],
    ['  door  ', 'door'],
  ])('of %j is %j', (typed, plain) => {
    expect(toPlainText(typed)).toBe(plain);
  });

  it('keeps letters of other scripts that look like ASCII', () => {
    for (const text of ['оwner', 'exаmple', 'ωner', 'straße', 'e\u0301']) expect(toPlainText(text)).toBe(text);
  });

  it('keeps numerals that mean more than a digit', () => {
    for (const numeral of NUMERALS) expect(toPlainText(`1${numeral}`)).toBe(`1${numeral}`);
  });

  it('keeps the right-to-left override, so that every check refuses the text', () => {
    expect(toPlainText('\u202e514')).toBe('\u202e514');
    expect(toPlainAddress('1.2.0.\u202e291')).toContain('\u202e');
    expect(dropUnseen('a\u202eb')).toBe('a\u202eb');
    expect(isUnseen(0x202e)).toBe(false);
  });

  it('of plain text is the same text, and a second conversion changes nothing', () => {
    const ascii = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });
    fc.assert(fc.property(ascii, (text) => toPlainText(text) === text.trim() && dropUnseen(text) === text.trim()));
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const convert of [toPlainText, toPlainAddress, dropUnseen]) {
          expect(convert(convert(text))).toBe(convert(text));
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('is the same with invisible characters at any place', () => {
    const marks = fc.constantFrom(...INVISIBLE_CHARACTERS);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...'19.:/-aF'), marks)), (pairs) => {
        const clean = pairs.map(([character]) => character).join('');
        const dirty = pairs.map(([character, mark]) => `${mark}${character}${mark}`).join('');
        expect([toPlainText(dirty), dropUnseen(dirty)]).toEqual([clean, clean]);
        expect(toPlainAddress(dirty)).toBe(toPlainAddress(clean));
      }),
    );
  });
});

describe('a plain address', () => {
  it.each([
    ['192.0.2.1,', '192.0.2.1'],
    ['192.0.2.1.', '192.0.2.1'],
    [' 192.0.2.1; ', '192.0.2.1'],
    ['192.0.2.1\uff0c', '192.0.2.1'],
    ['192.0.2.1\u3002', '192.0.2.1'],
    ['192\u30020\u30022\u30021', '192.0.2.1'],
    ['192\uff0e0\uff0e2\uff0e1', '192.0.2.1'],
    ['192\u066b0\u066b2\u066b1', '192.0.2.1'],
    ['١٩٢.٠.٢.١', '192.0.2.1'],
    ['１９２．０．２．０／２４', '192.0.2.0/24'],
    ['192.0.2.＊', '192.0.2.*'],
    ['２００１：ｄｂ８：：１', '2001:db8::1'],
    ['192.0.2.1\u2013192.0.2.9', '192.0.2.1-192.0.2.9'],
    ['192.0.2.1 \u2014 192.0.2.9', '192.0.2.1 - 192.0.2.9'],
    ['192.0.2.1\u2212192.0.2.9', '192.0.2.1-192.0.2.9'],
    ['192.0.2.1\u30fc192.0.2.9', '192.0.2.1-192.0.2.9'],
    ['192.0.2.1\uff5e192.0.2.9', '192.0.2.1-192.0.2.9'],
    ['\u200e192.0.2.1\u200e', '192.0.2.1'],
    ['2001:db8::', '2001:db8::'],
    ['.,;', ''],
    ['', ''],
  ])('of %j is %j', (typed, plain) => {
    expect(toPlainAddress(typed)).toBe(plain);
  });

  it('is never another address than the visible one', () => {
    for (const text of ['192.0.2.1²', '192.0.2.½', '192.0.2.l', '192.0.2.O', '192.0.2.1 192.0.2.2']) {
      expect(toPlainAddress(text)).toBe(text);
    }
  });
});

describe('text without invisible characters', () => {
  it('keeps everything else as it was typed', () => {
    const visible = 'Größe \u2013 ５ ٣ ½ 名前 👍';
    expect(dropUnseen(` \ufeff${visible}\u200b `)).toBe(visible);
  });

  it('has none of Unicode’s default-ignorable characters', () => {
    const ignorable = listCharacters(/^\p{Default_Ignorable_Code_Point}$/u);
    expect(ignorable.length).toBeGreaterThan(100);
    expect(ignorable.filter((mark) => dropUnseen(`a${mark}b`) !== 'ab')).toEqual(['\u202e']);
  });

  it('keeps every letter, digit and symbol', () => {
    const lost = listCharacters(/^[\p{L}\p{N}\p{P}\p{S}]$/u).filter(
      (character) => dropUnseen(`a${character}b`) === 'ab',
    );
    // The fillers of Hangul are letters by their category alone.
    expect(lost).toEqual(['\u115f', '\u1160', '\u3164', '\uffa0']);
  });
});
