import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findMatchingStep, hotp, parseCode, toBase32, toKeyUri, toStep } from './totp.js';

const rfcSecret = Buffer.from('12345678901234567890');

describe('codes', () => {
  it('are those of RFC 4226 appendix D', () => {
    const expected = [
      '755224',
      '287082',
      '359152',
      '969429',
      '338314',
      '254676',
      '287922',
      '162583',
      '399871',
      '520489',
    ];
    expect(expected.map((_, counter) => hotp(rfcSecret, counter))).toEqual(expected);
  });

  it.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('are those of RFC 6238 appendix B at %i seconds', (seconds, code) => {
    expect(hotp(rfcSecret, toStep(seconds * 1000), 8)).toBe(code);
  });

  it('are accepted one step early and late, and no more', () => {
    const time = fc.integer({ min: 60_000, max: 4e12 });
    const secret = fc.uint8Array({ minLength: 20, maxLength: 20 });
    fc.assert(
      fc.property(secret, time, fc.integer({ min: -1, max: 1 }), (bytes, now, off) => {
        const step = toStep(now) + off;
        const found = findMatchingStep(bytes, hotp(bytes, step), { now, lastStep: 0 });
        // Two adjacent steps may have the same code by chance; the earlier one is returned then.
        expect(found !== null && found <= step && hotp(bytes, found) === hotp(bytes, step)).toBe(true);
      }),
    );
    const now = 1_700_000_000_000;
    for (const off of [-3, -2, 2, 3]) {
      expect(findMatchingStep(rfcSecret, hotp(rfcSecret, toStep(now) + off), { now, lastStep: 0 })).toBeNull();
    }
  });

  it('are never accepted for a step at or before the last used one', () => {
    const now = 1_700_000_000_000;
    const step = toStep(now);
    for (const lastStep of [step, step + 1, step + 100]) {
      expect(findMatchingStep(rfcSecret, hotp(rfcSecret, step), { now, lastStep })).toBeNull();
    }
    expect(findMatchingStep(rfcSecret, hotp(rfcSecret, step), { now, lastStep: step - 1 })).toBe(step);
  });

  it('may be typed in digits of any script, with gaps and with words around them', () => {
    for (const typed of [' 123 456 ', '123-456', '١٢٣٤٥٦', '１２３　４５６', 'Code: 123 456']) {
      expect([typed, parseCode(typed)]).toEqual([typed, '123456']);
    }
    for (const typed of ['', '12345', '1234567', '12345a', '-1.5e3', '12345½']) {
      expect([typed, parseCode(typed)]).toEqual([typed, null]);
    }
  });

  it('match no step when no code can be read in the text', () => {
    fc.assert(
      fc.property(fc.string(), (typed) => {
        fc.pre(parseCode(typed) === null);
        expect(findMatchingStep(rfcSecret, typed, { now: 0, lastStep: 0 })).toBeNull();
      }),
    );
  });
});

describe('keys', () => {
  it.each([
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ])('are encoded in base 32 as in RFC 4648 section 10: %s', (text, expected) => {
    expect(toBase32(Buffer.from(text))).toBe(expected);
  });

  it('are passed to the app unchanged, whatever the login name contains', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (login) => {
        const uri = new URL(toKeyUri(rfcSecret, { host: 'example.com', login }));
        expect(decodeURIComponent(uri.pathname)).toContain(`example.com:${login}`);
        expect(Object.fromEntries(uri.searchParams)).toEqual({ secret: toBase32(rfcSecret), issuer: 'example.com' });
      }),
    );
  });
});
