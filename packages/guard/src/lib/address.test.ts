import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAddress, parseIPv4, toAddress } from './address.js';

const word = fc.integer({ min: 0, max: 0xffffffff });
const words = fc.tuple(word, word, word, word);
const sparse = fc.tuple(
  fc.constantFrom(0, 0x20010db8, 1, 0xffff0000),
  fc.constantFrom(0, 1, 0x00010000),
  fc.constantFrom(0, 0xffff, 1),
  word,
);

describe('parsing an address', () => {
  it('returns the written address, for every address', () => {
    fc.assert(
      fc.property(fc.oneof(words, sparse), (four) => {
        const address = toAddress(four);
        expect(parseAddress(address.text)).toEqual(address);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['192.0.2.1', '192.0.2.1', 4],
    ['::ffff:192.0.2.1', '192.0.2.1', 4],
    ['::FFFF:c000:201', '192.0.2.1', 4],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1', 4],
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1', 6],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1', 6],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1', 6],
    ['::', '::', 6],
    ['::1', '::1', 6],
    ['1::', '1::', 6],
    ['64:ff9b::192.0.2.1', '64:ff9b::c000:201', 6],
    ['fe80::1%eth0', 'fe80::1', 6],
    ['fe80::1%25', 'fe80::1', 6],
  ])('reads %s as %s', (text, canonical, family) => {
    expect(parseAddress(text)).toMatchObject({ text: canonical, family });
  });

  it.each([
    '',
    ' ',
    '192.0.2',
    '192.0.2.1.1',
    '192.0.2.256',
    '192.0.02.1',
    '010.0.0.1',
    '0x7f.0.0.1',
    '2130706433',
    '192.0.2.1 ',
    '192.0.2.1:80',
    '[2001:db8::1]',
    '192.0.2.1%eth0',
    '1.2.3.4::',
    '1.2.3.4::5',
    '::1.2.3.4:5',
    '::192.0.2.01',
    '2001:db8:::1',
    '2001::db8::1',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '12345::',
    'g::1',
    ':1',
    '1:',
    '-1.0.0.0',
    '１９２.0.2.1',
    'example.com',
    `::${'0'.repeat(80)}1`,
  ])('refuses %j', (text) => {
    expect(parseAddress(text)).toBeNull();
  });

  it('never throws, and writes what it accepts in one form only', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'0123456789abcdef:.%[]/ fF'.split('')), maxLength: 45 });
    fc.assert(
      fc.property(letters, (text) => {
        const address = parseAddress(text);
        if (address !== null) expect(parseAddress(address.text)).toEqual(address);
      }),
      { numRuns: 3000 },
    );
  });

  it('reads every dotted number as that number', () => {
    fc.assert(
      fc.property(fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)), ([a, b, c, d]) => {
        expect(parseIPv4(`${a}.${b}.${c}.${d}`)).toBe(((a * 256 + b) * 256 + c) * 256 + d);
      }),
    );
  });
});
