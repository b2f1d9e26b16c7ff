import { describe, expect, it } from 'vitest';
import { isInRange, parseAddress, parseAddressRange } from './addresses.js';

function holds(row: string, address: string): boolean {
  const range = parseAddressRange(row);
  const bytes = parseAddress(address);
  if (range === null || bytes === null) throw new Error(`${row} or ${address} cannot be read.`);
  return isInRange(bytes, range);
}

describe('a row of an address list', () => {
  it.each([
    ['203.0.113.10', '203.0.113.10', '203.0.113.11'],
    ['203.0.113.0/24', '203.0.113.255', '203.0.114.0'],
    ['203.0.113.77/25', '203.0.113.0', '203.0.113.128'],
    ['0.0.0.0/0', '255.255.255.255', '2001:db8::1'],
    ['198.51.*.*', '198.51.255.0', '198.52.0.0'],
    ['198.51.100.7 - 198.51.100.9', '198.51.100.8', '198.51.100.10'],
    ['2001:db8:4:12::/64', '2001:db8:4:12:ffff::1', '2001:db8:4:13::'],
    ['2001:db8::1-2001:db8::f', '2001:db8::a', '2001:db8::10'],
    ['203.0.113.10', '::ffff:203.0.113.10', '::ffff:203.0.113.11'],
  ])('%s holds %s and not %s', (row, inside, outside) => {
    expect(holds(row, inside)).toBe(true);
    expect(holds(row, outside)).toBe(false);
  });

  it.each([
    '192.0.2.300',
    '192.0.2',
    '192.0.2.01',
    '192.0.2.1/33',
    '192.0.2.1/',
    '192.*.2.1',
    '192.0.2.9-192.0.2.1',
    '192.0.2.1-2001:db8::1',
    '2001:db8::1::2',
    '2001:db8:1:2:3:4:5:6:7',
    '2001:db8::/129',
    'fe80::%eth0',
    '1.2.3.4::1',
    '12345::',
    'example.com',
    '*',
    '-',
    '',
  ])('%j is none', (row) => {
    expect(parseAddressRange(row)).toBeNull();
  });
});
