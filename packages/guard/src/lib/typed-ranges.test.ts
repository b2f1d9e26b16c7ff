import { describe, expect, it } from 'vitest';
import { includesEverybody, readTypedRanges } from './typed-ranges.js';

describe('typed ranges', () => {
  it('are returned once each, in order', () => {
    expect(readTypedRanges('192.0.2.1, 198.51.100.0 255.255.255.0; 192.0.2.1')).toEqual({
      texts: ['192.0.2.1', '198.51.100.0/24'],
      everybody: false,
    });
  });

  it.each([
    ['192.0.2.1/33', 'Invalid format. Check “/33”.'],
    ['\u0007', 'Invalid format. Check “U+0007”.'],
    ['  # the office ', 'Invalid format. Check “# the office”.'],
    ['(\u202e)', 'Invalid format. Check “(\\u202e)”.'],
  ])('in %j are refused with the invalid part', (typed, english) => {
    expect(readTypedRanges(typed)).toMatchObject({ fault: { code: 'address_unreadable', english } });
  });
});

describe('a list of ranges', () => {
  it.each([
    '0.0.0.0/0',
    '0.0.0.0/1',
    '::/0',
    '2000::/3',
    '::ffff:0:0/96',
    '::ffff:0.0.0.0/97',
    '*.*.*.*',
    '0.0.0.0-255.255.255.255',
    '0.0.0.0 0.0.0.0',
    '192.0.2.1,0.0.0.0/0',
    '0.0.0.0/0.0.0.0',
  ])('includes everybody with %s', (entry) => {
    expect(includesEverybody(['unix', '192.0.2.1', entry])).toBe(true);
  });

  it('does not include everybody with networks, however many', () => {
    expect(
      includesEverybody(['unix', '192.0.2.1', '10.0.0.0/8', '2001:db8::/32', '::1', '::ffff:10.0.0.0/104', '10.*']),
    ).toBe(false);
  });
});
