import { describe, expect, it } from 'vitest';
import { getWeekStart } from '../ui/date-field.js';
import { getDateFormats } from './date-formats.js';
import { addDays, addMonths, countDays, getWeeks, siteNow } from './days.js';

describe('days', () => {
  it('are added across months, years and changes of daylight saving time', () => {
    expect(addDays('2026-10-25', 1)).toBe('2026-10-26');
    expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
    expect(addMonths('2026-08-31', 6)).toBe('2027-02-28');
    expect(addMonths('2027-01-31', -2)).toBe('2026-11-30');
    expect(countDays('2026-10-24', '2026-10-26')).toBe(3);
  });

  it('are arranged in weeks that begin on the given day', () => {
    const november = getWeeks(2026, 10, 1);
    expect(november[0]).toEqual([null, null, null, null, null, null, '2026-11-01']);
    expect(november).toHaveLength(6);
    expect(getWeeks(2026, 10, 0)[0]?.[0]).toBe('2026-11-01');
  });
});

describe('the clock of the site', () => {
  const at = Date.parse('2026-11-21T23:30:00Z');

  it.each([
    ['UTC', '2026-11-21', 23 * 60 + 30],
    ['Europe/Berlin', '2026-11-22', 30],
    ['America/New_York', '2026-11-21', 18 * 60 + 30],
    ['+05:30', '2026-11-22', 5 * 60],
    ['-03:30', '2026-11-21', 20 * 60],
    ['5.5', '2026-11-22', 5 * 60],
    ['Nowhere/Town', '2026-11-21', 23 * 60 + 30],
  ])('is right in %s', (zone, day, minutes) => {
    expect(siteNow(zone, at)).toEqual({ day, minutes });
  });

  it('shows midnight as the start of a day', () => {
    expect(siteNow('Europe/Berlin', Date.parse('2026-11-21T23:00:00Z'))).toEqual({ day: '2026-11-22', minutes: 0 });
  });
});

describe('the language', () => {
  it('determines the first day of the week', () => {
    expect(
      ['en-US', 'en-GB', 'de', 'de-DE', 'ar-EG', 'he-IL', 'pt-BR', 'en'].map((locale) => getWeekStart(locale)),
    ).toEqual([0, 1, 1, 1, 6, 0, 0, 0]);
  });

  it('determines a 12-hour or 24-hour clock', () => {
    expect(getDateFormats('en-GB').is12Hours).toBe(false);
    const american = getDateFormats('en-US');
    expect(american.is12Hours).toBe(true);
    expect(american.halves).toEqual(['AM', 'PM']);
    expect(american.time('22:05').replace(/\s/g, ' ')).toBe('10:05 PM');
  });

  it.each([
    ['en-GB', '28 – 30 November', '28 November – 2 December'],
    ['en-US', 'November 28 – 30', 'November 28 – December 2'],
    ['de', '28. – 30. November', '28. November – 2. Dezember'],
  ])('orders the days of a range in %s', (locale, inMonth, overMonths) => {
    const formats = getDateFormats(locale);
    const plain = (text: string) => text.replace(/\s*–\s*/g, ' – ');
    expect(plain(formats.range('2026-11-28', '2026-11-30'))).toBe(inMonth);
    expect(plain(formats.range('2026-11-28', '2026-12-02'))).toBe(overMonths);
  });

  it('formats a single day as such', () => {
    expect(getDateFormats('en-GB').range('2026-11-28', '2026-11-28')).toBe('28 November');
  });

  it('formats both days of a range in full if the browser can’t merge them', () => {
    const { formatRange } = Intl.DateTimeFormat.prototype;
    Reflect.deleteProperty(Intl.DateTimeFormat.prototype, 'formatRange');
    try {
      expect(getDateFormats('en-US').range('2026-11-28', '2026-11-30')).toBe('November 28 – November 30');
    } finally {
      Object.assign(Intl.DateTimeFormat.prototype, { formatRange });
    }
  });

  it('is English if the browser does not know it', () => {
    expect(getDateFormats('no_such-locale!').months[0]).toBe('January');
  });
});
