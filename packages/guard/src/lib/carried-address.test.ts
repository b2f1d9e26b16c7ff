import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Address, parseAddress, toClientKey } from './address.js';
import { AddressSet, rangeText } from './address-set.js';
import {
  isAdmitted,
  parseVisitor,
  parseVisitorRange,
  toCarriedAddress,
  toSeenAddress,
  toVisitorSet,
  toVisitorText,
} from './carried-address.js';
import { TimedAddresses } from './timed-addresses.js';

const at = (text: string): Address => parseAddress(text) as Address;
const visitor = (text: string): Address => parseVisitor(text) as Address;

/** The address 192.0.2.1 in every form. */
const FORMS = [
  '192.0.2.1',
  '::ffff:192.0.2.1',
  '64:ff9b::192.0.2.1',
  '64:FF9B::c000:201',
  '64:ff9b:1::192.0.2.1',
  '64:ff9b:1:abcd::192.0.2.1',
  '64:ff9b:1:c000:2:100::',
  '2002:c000:201::1',
  '2002:c000:0201:ffff:1:2:3:4',
  '2001:0:203:4:0:1:3fff:fdfe',
  '2001::8000:63bf:3fff:fdfe',
  '::ffff:0:192.0.2.1',
  '::192.0.2.1',
];

describe('an address that carries another one', () => {
  it.each(FORMS)('%s is the visitor 192.0.2.1', (text) => {
    const address = visitor(text);
    expect(address).toMatchObject({ text: '192.0.2.1', family: 4, words: [0, 0, 0xffff, 0xc0000201] });
    expect(toClientKey(address)).toBe('192.0.2.1');
    expect(toVisitorText(text)).toBe('192.0.2.1');
    expect(toSeenAddress(address).text).toBe(at(text).text);
  });

  it('is the same object when it carries none, so that ordinary visitors cost nothing', () => {
    for (const text of ['192.0.2.1', '2001:db8::1', '2a00::1', 'fe80::1', '::1', '::', '64:ff9a::c000:201']) {
      const address = at(text);
      expect(toCarriedAddress(address)).toBe(address);
      expect(address.seen).toBeUndefined();
    }
  });

  it.each([
    ...[
      '2002:7f00:1::',
      '64:ff9b::7f00:1',
      '64:ff9b:1::7f00:1',
      '2001::80ff:fffe',
      '::127.0.0.1',
      '::ffff:0:127.0.0.1',
    ],
    ...['64:ff9b::a00:1', '2002:a00:1::', '64:ff9b::172.16.0.1', '2002:c0a8:101::1', '64:ff9b::169.254.169.254'],
    ...[
      '64:ff9b::100.64.0.1',
      '64:ff9b::0.0.0.0',
      '64:ff9b::224.0.0.1',
      '64:ff9b::255.255.255.255',
      '2002::1',
      '2001::',
    ],
    ...['2002:e000:1::', '::1', '::', '::2', '2001:0:203:4::ffff:ffff'],
  ])('%s stays IPv6: it carries no address on the Internet', (text) => {
    expect(visitor(text).family).toBe(6);
    expect(visitor(text).text).toBe(at(text).text);
  });

  it.each([
    // Local-use prefixes of unknown length, and neighbours of every prefix.
    ...['64:ff9b:1:c0:0:201::', '64:ff9b:1:0:c0:2:100::', '64:ff9b:1:c000:102:100::', '64:ff9b:1:c000:2:100::1'],
    ...['64:ff9b:2::c000:201', '64:ff9b:0:1::c000:201', '64:ff9b::1:c000:201', '2003:c000:201::1', '2001:1::3fff:fdfe'],
    ...['::1:0:192.0.2.1', '::fffe:192.0.2.1', '::1:ffff:0:192.0.2.1', '2001:db8::5efe:192.0.2.1'],
  ])('%s carries no certain address', (text) => {
    expect(visitor(text).text).toBe(at(text).text);
    expect(visitor(text).family).toBe(6);
  });

  it('is read from any IPv4 address on the Internet', () => {
    const word = fc.integer({ min: 0x01000000, max: 0xdfffffff });
    fc.assert(
      fc.property(word, (v4) => {
        const plain = `${v4 >>> 24}.${(v4 >>> 16) & 255}.${(v4 >>> 8) & 255}.${v4 & 255}`;
        const [high, low] = [(v4 >>> 16).toString(16), (v4 & 0xffff).toString(16)];
        const [notHigh, notLow] = [((v4 >>> 16) ^ 0xffff).toString(16), ((v4 & 0xffff) ^ 0xffff).toString(16)];
        const texts = [`64:ff9b::${plain}`, `2002:${high}:${low}::9`, `2001::1:0:${notHigh}:${notLow}`];
        const found = texts.map((text) => visitor(text));
        const own = toCarriedAddress(at(plain));
        const isPrivate = found[0]?.family === 6;
        for (const each of found) expect(each.text === own.text).toBe(!isPrivate);
      }),
    );
  });
});

describe('ranges that name visitors', () => {
  it.each([
    ...FORMS.map((text) => [text, '192.0.2.1']),
    ['2002:c000:201::/48', '192.0.2.1'],
    ['2002:c000:201:1::/64', '192.0.2.1'],
    ['2002:c000:201::1-2002:c000:201::ff', '192.0.2.1'],
    ['64:ff9b::c000:201/128', '192.0.2.1'],
    // Wider than one visitor, or not on the Internet.
    ['64:ff9b::/96', '64:ff9b::/96'],
    ['64:ff9b::c000:200/120', '64:ff9b::c000:200/120'],
    ['2002::/16', '2002::/16'],
    ['2002:c000:200::/47', '2002:c000:200::/47'],
    ['2001:0:203:4::/64', '2001:0:203:4::/64'],
    ['2002:7f00:1::/48', '2002:7f00:1::/48'],
    ['192.0.2.0/24', '192.0.2.0/24'],
    ['2001:db8::/32', '2001:db8::/32'],
  ])('%s is read as %s', (typed, expected) => {
    const range = parseVisitorRange(typed as string);
    expect(range && rangeText(range)).toBe(expected);
  });

  it.each(FORMS)('a block of %s refuses 192.0.2.1 in every form, permanently and temporarily', (blocked) => {
    const forEver = toVisitorSet([blocked]);
    const forATime = TimedAddresses.from([{ value: blocked, until: 100 }]);
    for (const form of FORMS) {
      expect(forEver.has(visitor(form)), form).toBe(true);
      expect(forATime.has(visitor(form), 99), form).toBe(true);
      expect(forATime.has(visitor(form), 100), form).toBe(false);
    }
    expect(forEver.has(visitor('192.0.2.2'))).toBe(false);
    expect(forATime.has(visitor('2002:c000:202::1'), 99)).toBe(false);
  });

  it('two blocks of one visitor are in force until the later end', () => {
    const blocks = [
      { value: '2002:c000:201::/48', until: 200 },
      { value: '192.0.2.1', until: 100 },
    ];
    for (const each of [blocks, blocks.toReversed()]) {
      const timed = TimedAddresses.from(each);
      expect(timed.has(visitor('192.0.2.1'), 150)).toBe(true);
      expect(timed.has(visitor('192.0.2.1'), 200)).toBe(false);
    }
  });

  it.each([
    ['2002::/16', '2002:c000:201::1', '64:ff9b::192.0.2.1'],
    ['64:ff9b::/96', '64:ff9b::192.0.2.1', '2002:c000:201::1'],
    ['64:ff9b::c000:200/120', '64:ff9b::192.0.2.1', '64:ff9b::192.0.3.1'],
    ['2001::/32', '2001:0:203:4:0:1:3fff:fdfe', '192.0.2.1'],
    ['2002:c000:200::/47', '2002:c000:201::1', '2002:c000:202::1'],
  ])('a block of the wider range %s refuses %s, and not %s', (range, inside, outside) => {
    const timed = TimedAddresses.from([{ value: range, until: 100 }]);
    expect(toVisitorSet([range]).has(visitor(inside))).toBe(true);
    expect(toVisitorSet([range]).has(visitor(outside))).toBe(false);
    expect(timed.has(visitor(inside), 99)).toBe(true);
    expect(timed.has(visitor(outside), 99)).toBe(false);
  });

  it.each([
    // The server's own network routes these, so only the carried visitor can use them.
    ['192.0.2.1', '64:ff9b::192.0.2.1', true],
    ['192.0.2.0/24', '64:ff9b:1::192.0.2.1', true],
    ['192.0.2.1', '::ffff:192.0.2.1', true],
    ['64:ff9b::c000:201', '192.0.2.1', true],
    ['64:ff9b::/96', '64:ff9b::198.51.100.7', true],
    // An attacker who announces a route to the whole prefix can use these.
    ['192.0.2.1', '2002:c000:201::1', false],
    ['192.0.2.0/24', '2001:0:203:4:0:1:3fff:fdfe', false],
    ['64:ff9b::c000:201', '2002:c000:201::1', false],
    ['2002:c000:201::/48', '2002:c000:201::1', true],
    ['2002:c000:201::/48', '192.0.2.1', true],
    ['2001:0:203:4:0:1:3fff:fdfe', '2001:0:203:4:0:1:3fff:fdfe', true],
    ['10.0.0.0/8', '64:ff9b::10.0.0.1', false],
    ['127.0.0.0/8', '2002:7f00:1::1', false],
    ['192.0.2.1', '64:ff9b::192.0.2.2', false],
  ])('an allowlist of %s admits %s: %s', (line, address, admitted) => {
    expect(isAdmitted(toVisitorSet([line]), visitor(address))).toBe(admitted);
  });

  it('a list of trusted proxies does not match carried addresses', () => {
    expect(AddressSet.from(['64:ff9b::c000:201', '2002:c000:201::/48']).has(at('192.0.2.1'))).toBe(false);
    expect(AddressSet.from(['192.0.2.1']).has(at('64:ff9b::c000:201'))).toBe(false);
  });
});
