import { logDropdowns } from '@security-optimizer/contract/activity/log-address';
import { sentFilters } from '@security-optimizer/contract/activity/requests';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAddress } from '../lib/address.js';
import { AddressSet } from '../lib/address-set.js';
import { ApiError } from '../lib/api-error.js';
import { eventFilters, parseEventFilters, parseVisitFilters, plainFilters, visitFilters } from './filters.js';

const utc = { timeZone: 'UTC', exact: false };
const parsed = (sent: unknown) => sentFilters.parse(sent);
const visits = (sent: unknown, dates = utc) => parseVisitFilters(parsed(sent), dates);
const ip = (value: unknown) => visits([{ wp_name: 'ip', children: [{ value }] }]);

function faults(read: () => unknown): unknown {
  try {
    read();
  } catch (error) {
    return error instanceof ApiError ? error.fields : error;
  }
  return 'nothing was refused';
}

/** The error for an address that contains an invalid part. */
const unreadable = (part: string) => expect.objectContaining({ english: `Invalid format. Check “${part}”.` });

describe('the filters of a request', () => {
  it.each([
    ['nothing', undefined],
    ['null', null],
    ['an empty list', []],
    ['an empty object', {}],
    ['filters without a choice', [{ wp_name: 'type', children: [{ id: 'type', value: null, selectedValue: null }] }]],
    ['empty texts', [{ wp_name: 'date', children: [{ id: 'from', value: '' }] }]],
    ['filters without fields', [{ wp_name: 'type' }, { wp_name: 'code', children: null }]],
    ['unknown filters', [{ wp_name: 'mood', children: [{ value: 'fine' }] }]],
  ])('are empty when they are %s', (_name, sent) => {
    const nothing = { from: null, to: null, addresses: null, search: null };
    expect(visits(sent).filter).toEqual({ ...nothing, type: null, code: null, preset: null, goal: null });
    expect(parseEventFilters(parsed(sent), utc).filter).toEqual({ ...nothing, user: null, activity: null });
  });

  it('may be a list or an object with numeric keys, as PHP writes a list with gaps', () => {
    const list = [
      { wp_name: 'type', children: [{ id: 'type', value: 'Human' }] },
      { wp_name: 'code', children: [{ id: 'code', value: '404' }] },
    ];
    const object = {
      0: { wp_name: 'type', children: { 2: { id: 'type', value: 'Human' } } },
      7: { wp_name: 'code', children: { 0: { id: 'code', value: 404 } } },
    };
    expect(visits(object)).toEqual(visits(list));
    expect(visits(JSON.stringify(list))).toEqual(visits(list));
    expect(visits(list).filter).toMatchObject({ type: 'Human', code: 404 });
  });

  it.each([
    [{ value: 'Human', selectedValue: 'Googlebot' }, 'Googlebot'],
    [{ value: 'Human', selectedValue: null }, 'Human'],
    [{ value: 'Human' }, 'Human'],
    [{ value: 'Human', selectedValue: '' }, null],
    [{ selectedValue: { label: 'A person', value: 'Human' } }, 'Human'],
    [{ value: null, selectedValue: undefined }, null],
  ])('prefer the choice of %j to the applied value', (child, type) => {
    expect(visits([{ wp_name: 'type', children: [child] }]).choices.type).toBe(type);
  });

  it.each([
    ['date', { id: 'from', value: 'yesterday' }, { from: 'Invalid format.' }],
    ['date', { id: 'to', value: -1 }, { to: 'Invalid format.' }],
    ['date', { id: 'to', value: 1.5 }, { to: 'Invalid format.' }],
    ['date', { id: 'to', value: 1e15 }, { to: 'Invalid format.' }],
    ['code', { value: '4O4' }, { code: 'Invalid format.' }],
    ['code', { value: [404] }, { code: 'Invalid format.' }],
    ['code', { value: 99 }, { code: 'Invalid format.' }],
    ['type', { value: 'x'.repeat(201) }, { type: 'Invalid format.' }],
    ['type', { value: 'Hu\nman' }, { type: 'Invalid format.' }],
    ['ip', { value: 'example.com' }, { ip: unreadable('example.com') }],
    ['ip', { value: '192.0.2.0/33' }, { ip: unreadable('/33') }],
    ['ip', { value: '192.0.2.1; DROP' }, { ip: unreadable('DROP') }],
    ['ip', { value: '192.0.2.9-192.0.2.1' }, { ip: unreadable('192.0.2.9-192.0.2.1') }],
  ])('of %s are refused for %j, and the field is named', (wp_name, child, fields) => {
    expect(faults(() => visits([{ wp_name, children: [child] }]))).toEqual(fields);
  });

  it('are refused with the name of every invalid field, and for users that are no ids', () => {
    const wrong = [
      { wp_name: 'code', children: [{ value: 'x' }] },
      { wp_name: 'ip', children: [{ value: 'y' }] },
    ];
    expect(faults(() => visits(wrong))).toEqual({ code: 'Invalid format.', ip: unreadable('y') });
    const user = parsed([{ wp_name: 'user', children: [{ value: 'owner' }] }]);
    expect(faults(() => parseEventFilters(user, utc))).toEqual({ user: 'Invalid format.' });
  });

  it('have the same meaning when the client sends those of the response again', () => {
    const choice = fc.record({
      from: fc.option(fc.nat(4e9)),
      to: fc.option(fc.nat(4e9)),
      type: fc.option(fc.constantFrom('Human', 'Unknown', 'Googlebot')),
      code: fc.option(fc.integer({ min: 100, max: 999 })),
      ip: fc.option(fc.constantFrom('192.0.2.7', '198.51.100.0/24', '203.0.113.*', '2001:db8::1-2001:db8::9')),
    });
    fc.assert(
      fc.property(choice, (choices) => {
        const groups = visitFilters(choices, { type: [], code: [], ip: [] });
        expect(visits(groups).choices).toEqual(choices);
        expect(parseVisitFilters(parsed(plainFilters(choices)), utc).choices).toEqual(choices);
        for (const { children } of groups) {
          for (const { id, value, options } of children) {
            if (value !== null && id !== 'from' && id !== 'to') expect(options.map((o) => o.value)).toContain(value);
          }
        }
      }),
    );
    const events = { from: 1, to: null, user: 7, activity: 'post.updated' };
    expect(parseEventFilters(parsed(eventFilters(events, { user: [], activity: [] })), utc).choices).toEqual(events);
  });
});

it('the panel of each list has the date and the drop-downs of the contract', () => {
  const none = { from: null, to: null, type: null, code: null, ip: null, user: null, activity: null };
  const options = { type: [], code: [], ip: [], user: [], activity: [] };
  const names = (groups: readonly { wp_name: string }[]) => groups.map(({ wp_name }) => wp_name);
  expect(names(visitFilters(none, options))).toEqual(['date', ...logDropdowns.unknown]);
  expect(names(eventFilters(none, options))).toEqual(['date', ...logDropdowns.registered]);
});

describe('a filter by address', () => {
  it.each([
    [' 192.0.2.7, ', '192.0.2.7'],
    ['１９２．０．２．７', '192.0.2.7'],
    ['١٩٢٫٠٫٢٫٧', '192.0.2.7'],
    ['\u200e192.0.2.7\u200b', '192.0.2.7'],
    ['192.0.2.1 \u2013 192.0.2.9', '192.0.2.1-192.0.2.9'],
    ['198.51.100.0／24', '198.51.100.0/24'],
  ])('typed as %j matches the same rows as %j, also in the search field', (typed, plain) => {
    const { addresses } = ip(plain).filter;
    expect(addresses).not.toBeNull();
    expect(ip(typed).filter.addresses).toEqual(addresses);
    expect(parseVisitFilters(undefined, utc, { search: typed }).filter.addresses).toEqual(addresses);
  });

  it.each([
    ['192.0.2.7²', '²'],
    ['192.0.2.\u202e7', 'U+202E'],
    ['192.0.2.½', '½'],
    ['192.0.2.7/33', '/33'],
    ['192.0.2.7 or so', 'or'],
  ])('typed as %j is refused because of %j', (typed, sign) => {
    expect(faults(() => ip(typed))).toEqual({ ip: unreadable(sign) });
    expect(parseVisitFilters(undefined, utc, { search: typed }).filter.addresses).toBeNull();
  });

  it('accepts several addresses, also in the search field', () => {
    const { choices, filter } = ip('192.0.2.9 # the office\n198.51.100.0 255.255.255.0; 192.0.2.8-9,[2001:db8::1]');
    expect(choices.ip).toBe('192.0.2.9, 198.51.100.0/24, 192.0.2.8-192.0.2.9, 2001:db8::1');
    const key = (address: string) => ip(address).filter.addresses?.[0]?.low;
    expect(filter.addresses).toEqual([
      { low: key('192.0.2.8'), high: key('192.0.2.9') },
      { low: key('198.51.100.0'), high: key('198.51.100.255') },
      { low: key('2001:db8::1'), high: key('2001:db8::1') },
    ]);
    expect(ip(choices.ip ?? '').filter).toEqual(filter);
    expect(parseVisitFilters(undefined, utc, { search: '192.0.2.8-9 198.51.100.*\t2001:db8::1' }).filter).toEqual(
      filter,
    );
  });

  it('combined with a search by address matches what both match', () => {
    const both = (search: string) =>
      parseVisitFilters([{ wp_name: 'ip', children: [{ id: 'ip', value: '192.0.2.0/30, 198.51.100.7' }] }], utc, {
        search,
      }).filter.addresses;
    expect(both('192.0.2.2-9')).toEqual(ip('192.0.2.2-192.0.2.3').filter.addresses);
    expect(both('198.51.100.0/24 192.0.2.1')).toEqual(ip('192.0.2.1, 198.51.100.7').filter.addresses);
    expect(both('203.0.113.1')).toEqual([]);
  });

  it('that carries an IPv4 address matches that visitor', () => {
    const found = ip('192.0.2.1').filter.addresses;
    for (const text of ['64:ff9b::c000:201', '2002:c000:201::/48', '2001:0:203:4:0:1:3fff:fdfe']) {
      expect(ip(text).filter.addresses, text).toEqual(found);
      expect(parseVisitFilters(undefined, utc, { search: text }).filter.addresses, text).toEqual(found);
    }
    expect(ip('2002::/16').filter.addresses).not.toEqual(found);
  });

  it('matches the same addresses of the same line in any other list', () => {
    const address = fc.nat(600).map((low) => `192.0.${2 + (low >> 8)}.${low & 255}`);
    const line = fc.oneof(
      address,
      fc.tuple(address, fc.integer({ min: 20, max: 32 })).map(([base, bits]) => `${base}/${bits}`),
      fc.constantFrom('192.0.2.*', '192.0.*.*', '192.0.2.250 - 192.0.3.4'),
    );
    fc.assert(
      fc.property(line, address, (range, query) => {
        const [found] = ip(range).filter.addresses ?? [];
        const { low, high } = found ?? { low: '', high: '' };
        const words = parseAddress(query)?.words ?? [];
        const key = words.map((word) => word.toString(16).padStart(8, '0')).join('');
        const inside = AddressSet.from([range]).has(parseAddress(query) as never);
        expect([range, query, low <= key && key <= high]).toEqual([range, query, inside]);
      }),
    );
  });

  it('accepts IPv4-mapped addresses, and ignores a zone', () => {
    expect(ip('192.0.2.1').filter.addresses?.[0]?.low).toBe('00000000000000000000ffffc0000201');
    expect(ip('::ffff:192.0.2.1').filter.addresses).toEqual(ip('192.0.2.1').filter.addresses);
    expect(ip('fe80::1%1').filter.addresses).toEqual(ip('fe80::1').filter.addresses);
  });
});

describe('the end (“To”) of a filter by date', () => {
  const date = (to: number, timeZone: string, exact = false) =>
    visits([{ wp_name: 'date', children: [{ id: 'to', value: to }] }], { timeZone, exact }).filter.to;
  const at = (text: string) => Date.parse(text) / 1000;

  it('includes its whole day in the time zone of the site', () => {
    expect(date(at('2026-11-20T10:00:00Z'), 'UTC')).toBe(at('2026-11-20T23:59:59Z'));
    expect(date(at('2026-11-20T23:30:00Z'), 'Europe/Berlin')).toBe(at('2026-11-21T22:59:59Z'));
    expect(date(at('2026-11-20T10:00:00Z'), '+05:45')).toBe(at('2026-11-20T18:14:59Z'));
  });

  it('is right for days of 23 or 25 hours', () => {
    expect(date(at('2026-03-29T00:30:00Z'), 'Europe/Berlin')).toBe(at('2026-03-29T21:59:59Z'));
    expect(date(at('2026-10-25T00:30:00Z'), 'Europe/Berlin')).toBe(at('2026-10-25T22:59:59Z'));
  });

  it('is a time when the call says so', () => {
    expect(date(at('2026-11-20T11:00:00Z'), 'Europe/Berlin', true)).toBe(at('2026-11-20T10:59:59Z'));
  });
});
