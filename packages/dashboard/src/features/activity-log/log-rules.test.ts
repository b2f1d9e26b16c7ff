import { toPlainText } from '@security-optimizer/contract/typed-text';
import { describe, expect, it } from 'vitest';
import { getDateFormats } from '../../i18n/date-formats.js';
import { dayStart, siteDay } from '../../i18n/days.js';
import { addChips } from '../../ui/chip-input.js';
import { getChartPeriod, NO_FILTERS, toFilterBody, toFilterQuery, withPeriod } from './applied-filters.js';
import { formatRowTime, momentText } from './log-tables.js';
import { emailError } from './recipients.js';
import { getScale } from './traffic-chart.js';

const formats = getDateFormats('en-GB');

describe('times of rows', () => {
  it('are local times of the site, with seconds', () => {
    expect(formatRowTime('2026-11-21 14:32', 1_795_271_528, formats)).toEqual({ day: '21 Nov', time: '14:32:08' });
    expect(formatRowTime('2026-11-21 14:32', 1_795_271_528, getDateFormats('en-US'))?.time).toMatch(/^2:32:08\sPM$/);
  });

  it('omit the seconds, and the format, if the server does not send them', () => {
    expect(momentText('2026-11-21 14:32', formats)).toBe('21 Nov, 14:32');
    expect(momentText('yesterday', formats)).toBe('yesterday');
  });
});

describe('days of the site', () => {
  it('begin by its clock, also when daylight saving time changes', () => {
    expect(dayStart('Europe/Sofia', '2026-11-21')).toBe(Date.UTC(2026, 10, 20, 22) / 1000);
    // 29 March 2026 begins in standard time, the next day in daylight saving time.
    expect(dayStart('Europe/Berlin', '2026-03-29')).toBe(Date.UTC(2026, 2, 28, 23) / 1000);
    expect(dayStart('Europe/Berlin', '2026-03-30')).toBe(Date.UTC(2026, 2, 29, 22) / 1000);
    expect(dayStart('+05:30', '2026-11-21')).toBe(Date.UTC(2026, 10, 20, 18, 30) / 1000);
  });

  it.each(['UTC', 'Europe/Berlin', 'Pacific/Auckland', 'America/St_Johns', '-03:30'])(
    'are found again in %s',
    (zone) => {
      for (const day of ['2026-03-29', '2026-10-25', '2026-11-01', '2026-12-31']) {
        expect(siteDay(zone, dayStart(zone, day))).toBe(day);
        expect(siteDay(zone, dayStart(zone, day) - 1)).not.toBe(day);
      }
    },
  );
});

describe('the period of a bar', () => {
  const bar = { from: 1_795_219_200, to: 1_795_222_800 };

  it('is a whole day and replaces the previous period', () => {
    const applied = withPeriod(NO_FILTERS, bar, 'day', 'UTC', formats);
    expect(toFilterQuery(withPeriod(applied, bar, 'day', 'UTC', formats))).toEqual({ from: bar.from, to: bar.from });
    expect(applied.choices.map(({ name, text }) => `${name} ${text}`)).toEqual([
      'Since 21 Nov 2026',
      'Until 21 Nov 2026',
    ]);
  });

  it('is exact to the second for an hour', () => {
    const applied = withPeriod(NO_FILTERS, bar, 'hour', 'UTC', formats);
    expect(toFilterBody(applied)).toEqual({
      filters: [
        {
          wp_name: 'date',
          children: [
            { id: 'from', selectedValue: bar.from },
            { id: 'to', selectedValue: bar.to },
          ],
        },
      ],
      exact: 1,
    });
    expect(toFilterQuery(applied)).toEqual({ from: bar.from, to: bar.to, exact: 1 });
    expect(applied.choices[1]?.text).toBe('21 Nov, 01:00');
  });

  it('keeps the whole day in the chart, also on days of 23 and 25 hours', () => {
    const hour = { from: Date.UTC(2026, 9, 25, 21) / 1000, to: Date.UTC(2026, 9, 25, 23) / 1000 };
    const day = { from: Date.UTC(2026, 9, 24, 22) / 1000, to: Date.UTC(2026, 9, 25, 23) / 1000 };
    const zone = 'Europe/Berlin';
    expect(getChartPeriod(withPeriod(NO_FILTERS, hour, 'hour', zone, formats), zone)).toEqual(day);
    expect(getChartPeriod(withPeriod(NO_FILTERS, hour, 'day', zone, formats), zone)).toEqual(day);
    expect(getChartPeriod(NO_FILTERS, zone)).toEqual({ from: undefined, to: undefined });
  });
});

describe('the scale of the chart', () => {
  it.each([
    [1137, [1200, 800, 400, 0]],
    [1200, [1200, 800, 400, 0]],
    [1201, [1500, 1000, 500, 0]],
    [0, [3, 2, 1, 0]],
    [7, [12, 8, 4, 0]],
    [999_999, [1_200_000, 800_000, 400_000, 0]],
  ])('for %d has round numbers and includes the maximum', (max, lines) => {
    expect(getScale(max)).toEqual(lines);
  });
});

describe('e-mail addresses', () => {
  it('are split, lower-cased, without brackets, and unique', () => {
    expect(addChips(['a@example.com'], ' <B@Example.com>,,  A@example.com\nc@example.com', toPlainText)).toEqual([
      'a@example.com',
      'b@example.com',
      'c@example.com',
    ]);
  });

  it.each([
    'a@b',
    'a@b.',
    '@example.com',
    'a b@example.com',
    'a@exa mple.com',
    'a@@example.com',
    'a@.com',
    'Owner <a@example.com>',
  ])('reject %j', (text) => {
    expect(emailError(text, [])).toBe('Invalid email address.');
  });

  it.each(['a@example.com', 'first.last+tag@sub.example.co', 'ünï@exämple.com', '$&@example.com'])(
    'accept %j',
    (text) => {
      expect(emailError(text, [])).toBeNull();
      expect(emailError(text, [text.toUpperCase()])).toBe(`Email ${text} already exists.`);
    },
  );
});
