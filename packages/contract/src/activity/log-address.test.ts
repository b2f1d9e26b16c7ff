import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LogView, logFilterNames, parseLogQuery, toLogPath, toLogQuery } from './log-address.js';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const anyView: fc.Arbitrary<LogView> = fc.record({
  tab: fc.constantFrom('unknown', 'registered', 'blocked', 'weekly-reports', 'log-settings'),
  preset: fc.constantFrom(null, 'blocked', 'failed-logins', 'scanners', 'not-found'),
  search: fc.oneof(fc.constant(''), text),
  filters: fc.dictionary(fc.constantFrom(...logFilterNames), text),
});

describe('the address of a view of the Activity Log', () => {
  it('is parsed to the view from which it was formatted', () => {
    fc.assert(
      fc.property(anyView, (view) => {
        expect(parseLogQuery(toLogQuery(view))).toEqual({ ...view, filters: { ...view.filters } });
      }),
    );
  });

  it('is the page’s URL if no filter is set', () => {
    expect(toLogPath({})).toBe('admin.php?page=activity-log');
    expect(toLogPath({ tab: 'unknown', preset: 'all', search: '', filters: {} })).toBe('admin.php?page=activity-log');
  });

  it('contains the filters that are set', () => {
    expect(toLogPath({ preset: 'failed-logins', filters: { ip: '203.0.113.0/24' } })).toBe(
      'admin.php?page=activity-log&log_show=failed-logins&log_ip=203.0.113.0%2F24',
    );
  });

  it('opens the first tab for an unknown one, and ignores values that are too long', () => {
    expect(parseLogQuery(`?page=activity-log&log_tab=other&log_ip=${'1'.repeat(201)}`)).toEqual({
      tab: 'unknown',
      preset: null,
      search: '',
      filters: {},
    });
  });
});
