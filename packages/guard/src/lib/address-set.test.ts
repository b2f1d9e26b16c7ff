import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Address, parseAddress, toAddress } from './address.js';
import { AddressListReader, AddressSet, overlap, parseRange, type Range, rangeText } from './address-set.js';

const at = (text: string): Address => parseAddress(text) as Address;
const has = (lines: readonly string[], text: string): boolean => AddressSet.from(lines).has(at(text));

/** A simple implementation for comparison: 128-bit numbers, and one comparison per line. */
function number(address: Address): bigint {
  return address.words.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n);
}
type Span = { line: string; from: bigint; to: bigint };
const V4 = 0xffff00000000n;

// Few distinct addresses, so that lines often touch and overlap.
const v4 = fc.nat(40).map((low) => toAddress([0, 0, 0xffff, 0xc0000200 + low]));
const v6 = fc.nat(40).map((low) => toAddress([0x20010db8, 0, 0, low]));
const single = fc.oneof(v4, v6).map((a): Span => ({ line: a.text, from: number(a), to: number(a) }));
const cidr = fc
  .oneof(fc.tuple(v4, fc.integer({ min: 24, max: 32 })), fc.tuple(v6, fc.integer({ min: 118, max: 128 })))
  .map(([a, bits]): Span => {
    const free = BigInt((a.family === 4 ? 32 : 128) - bits);
    const from = (number(a) >> free) << free;
    return { line: `${a.text}/${bits}`, from, to: from + (1n << free) - 1n };
  });
const hyphen = fc.oneof(fc.tuple(v4, v4), fc.tuple(v6, v6)).map(([a, b]): Span => {
  const [low, high] = number(a) <= number(b) ? [a, b] : [b, a];
  return { line: `${low.text} - ${high.text}`, from: number(low), to: number(high) };
});
const wildcard = fc.nat(3).map((third): Span => {
  const from = V4 + BigInt(0xc0000000 + third * 256);
  return { line: `192.0.${third}.*`, from, to: from + 255n };
});

describe('a set of addresses', () => {
  it('agrees with a simple implementation', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(single, cidr, hyphen, wildcard), { maxLength: 12 }),
        fc.array(fc.oneof(v4, v6), { minLength: 5, maxLength: 20 }),
        (spans, query) => {
          const set = AddressSet.from(spans.map(({ line }) => line));
          for (const address of query) {
            const inside = spans.some(({ from, to }) => from <= number(address) && number(address) <= to);
            expect([address.text, set.has(address)]).toEqual([address.text, inside]);
          }
        },
      ),
      { numRuns: 1500 },
    );
  });

  it('contains both ends of its ranges', () => {
    expect(has(['10.1.*.*'], '10.1.0.0')).toBe(true);
    expect(has(['10.1.*.*'], '10.1.255.255')).toBe(true);
    expect(has(['10.1.*.*'], '10.2.0.0')).toBe(false);
    expect(has(['2001:db8::/32'], '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff')).toBe(true);
    expect(has(['2001:db8::/32'], '2001:db9::')).toBe(false);
    expect(has(['0.0.0.0/0'], '255.255.255.255')).toBe(true);
    expect(has(['0.0.0.0/0'], '2001:db8::1')).toBe(false);
    expect(has(['::/0'], '2001:db8::1')).toBe(true);
  });

  it('treats a mapped address as the IPv4 one', () => {
    expect(has(['192.0.2.1'], '::ffff:192.0.2.1')).toBe(true);
    expect(has(['::ffff:192.0.2.0/120'], '192.0.2.9')).toBe(true);
    expect(has(['::ffff:192.0.2.1'], '192.0.2.1')).toBe(true);
  });

  it('counts entries once and merges overlapping ones', () => {
    expect(AddressSet.from(['192.0.2.1', '192.0.2.1', ' 192.0.2.1 ']).size).toBe(2);
    expect(AddressSet.from(['192.0.2.0/25', '192.0.2.64-192.0.2.200']).size).toBe(1);
    expect(AddressSet.from([])).toBe(AddressSet.empty);
  });

  it('finds each of a hundred thousand single addresses, and none next to them', () => {
    const lines = Array.from({ length: 100_000 }, (_, i) => toAddress([0, 0, 0xffff, i * 2]).text);
    const set = AddressSet.from(lines);
    expect(set.size).toBe(100_000);
    for (let i = 0; i < 100_000; i += 997) {
      expect(set.has(toAddress([0, 0, 0xffff, i * 2]))).toBe(true);
      expect(set.has(toAddress([0, 0, 0xffff, i * 2 + 1]))).toBe(false);
    }
  });

  it('reports invalid lines', () => {
    const bad: string[] = [];
    AddressSet.from(['192.0.2.1', 'nonsense', '192.0.2.0/33'], (line) => bad.push(line));
    expect(bad).toEqual(['nonsense', '192.0.2.0/33']);
  });

  it.each([
    '',
    '192.0.2.0/33',
    '192.0.2.0/',
    '192.0.2.0/-1',
    '192.0.2.0/ 24',
    '2001:db8::/129',
    'fe80::1%eth0/64',
    '192.0.2.9-192.0.2.1',
    '192.0.2.1-2001:db8::1',
    '192.0.2.1-',
    '192.*.2.1',
    '192.0.2.*.*',
    '2001:db8::*',
    '256.*.*.*',
    '192.0.2.1/24/3',
  ])('does not accept %j as a range', (line) => {
    expect(parseRange(line)).toBeNull();
  });
});

describe('a set with one changed entry', () => {
  const lines = fc
    .array(fc.oneof(single, cidr, hyphen, wildcard), { maxLength: 12 })
    .map((all) => all.map((s) => s.line));
  const query = fc.array(fc.oneof(v4, v6), { minLength: 1, maxLength: 20 });

  it('equals a newly built one with or without a single address', () => {
    fc.assert(
      fc.property(lines, v4, fc.boolean(), query, (list, one, present, addresses) => {
        const changed = AddressSet.from(list).withSingle(one, present);
        const rest = list.filter((line) => line !== one.text);
        const rebuilt = AddressSet.from(present ? [...rest, one.text] : rest);
        expect(changed.size).toBe(rebuilt.size);
        for (const address of [one, ...addresses]) expect(changed.has(address)).toBe(rebuilt.has(address));
      }),
    );
  });

  it('equals a newly built one with other ranges', () => {
    const isSingle = (line: string) => /^[\d.]+$/.test(line);
    fc.assert(
      fc.property(lines, lines, query, (before, after, addresses) => {
        const ranges = after.filter((line) => !isSingle(line));
        const changed = AddressSet.from(before).withRangesFrom(AddressSet.from(after));
        const rebuilt = AddressSet.from([...before.filter(isSingle), ...ranges]);
        expect(changed.size).toBe(rebuilt.size);
        for (const address of addresses) expect(changed.has(address)).toBe(rebuilt.has(address));
      }),
    );
  });
});

describe('a list that another thread reads', () => {
  const lines = fc
    .array(fc.oneof(single, cidr, hyphen, wildcard), { maxLength: 12 })
    .map((all) => all.map((s) => s.line));

  it('becomes the set of its lines, in any number of chunks', () => {
    fc.assert(
      fc.property(lines, lines, fc.array(fc.oneof(v4, v6), { minLength: 1 }), (first, second, addresses) => {
        const read = new AddressListReader();
        read.addText(first.join('\n'));
        read.addText(['nonsense', ...second, ''].join('\n'));
        const set = AddressSet.unpack(structuredClone(read.pack()));
        const combined = AddressSet.from([...first, ...second]);
        expect(set.size).toBe(combined.size);
        for (const address of addresses) expect(set.has(address)).toBe(combined.has(address));
      }),
    );
  });

  it('contains each of a hundred thousand addresses, and none between them', () => {
    const words = Array.from({ length: 100_000 }, (_, at) => (Math.imul(at + 1, 2_654_435_761) >>> 1) * 2);
    const address = (word: number) => toAddress([0, 0, 0xffff, word]);
    const read = new AddressListReader();
    read.addText([...words, ...words.slice(0, 10)].map((word) => address(word).text).join('\n'));
    const set = AddressSet.unpack(read.pack());
    expect(set.size).toBe(new Set(words).size);
    expect(words.filter((word) => !set.has(address(word)))).toEqual([]);
    expect(words.filter((word) => set.has(address(word + 1)))).toEqual([]);
  });
});

describe('the text of a range', () => {
  it('is parsed as the same range', () => {
    fc.assert(
      fc.property(fc.oneof(single, cidr, hyphen, wildcard), ({ line }) => {
        const range = parseRange(line) as Range;
        expect(parseRange(rangeText(range))).toEqual(range);
      }),
    );
  });

  it.each([
    ['10.1.*.*', '10.1.0.0/16'],
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7/32', '192.0.2.7'],
    ['192.0.2.9/24', '192.0.2.0/24'],
    ['192.0.2.0-192.0.2.255', '192.0.2.0/24'],
    ['192.0.2.1-192.0.2.2', '192.0.2.1-192.0.2.2'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8::1/32', '2001:db8::/32'],
    ['::/0', '::/0'],
  ])('%s is %s', (line, text) => {
    expect(rangeText(parseRange(line) as Range)).toBe(text);
  });

  it('shows which ranges touch', () => {
    const range = (line: string) => parseRange(line) as Range;
    expect(overlap(range('192.0.2.0/24'), range('192.0.2.255'))).toBe(true);
    expect(overlap(range('192.0.2.0/24'), range('192.0.3.0'))).toBe(false);
    expect(overlap(range('192.0.2.5'), range('192.0.0.0-192.0.255.255'))).toBe(true);
  });
});
