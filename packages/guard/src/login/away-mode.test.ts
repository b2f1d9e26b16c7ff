import type { AwaySchedule } from '@security-optimizer/contract/login/limits';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../lib/api-error.js';
import { parseAwaySchedule } from './away-mode.js';

const now = Date.parse('2026-08-31T23:30:00Z');
/** In Berlin it is already September. */
const timeZone = 'Europe/Berlin';

function read(input: Record<string, unknown>, current: AwaySchedule = { type: 'off' }) {
  try {
    return parseAwaySchedule(input, { timeZone, nowMs: now, current });
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_input') return error.fields;
    throw error;
  }
}

describe('a schedule is accepted', () => {
  it.each<[Record<string, unknown>, AwaySchedule]>([
    [{ type: 'off' }, { type: 'off' }],
    [
      { type: 'period', from_date: '2026-09-01', to_date: '2027-03-01' },
      { type: 'period', from_date: '2026-09-01', to_date: '2027-03-01' },
    ],
    [
      { type: 'period', from: Date.parse('2026-09-09T22:00:00Z') / 1000, to: String(Date.parse('2026-09-11') / 1000) },
      { type: 'period', from_date: '2026-09-10', to_date: '2026-09-11' },
    ],
    [
      { type: 'weekly', weekly: ['sunday', 'monday', 'monday'] },
      { type: 'weekly', weekly: ['monday', 'sunday'] },
    ],
    [
      { type: 'weekly', value: ['friday'] },
      { type: 'weekly', weekly: ['friday'] },
    ],
    [
      { type: 'daily', from_hour: '22:00', to_hour: '06:00' },
      { type: 'daily', from_hour: '22:00', to_hour: '06:00' },
    ],
    [
      { type: 'daily', from_hour: '02:00', to_hour: '01:00' },
      { type: 'daily', from_hour: '02:00', to_hour: '01:00' },
    ],
    [
      { type: 'daily', from: Date.parse('2026-09-01T20:00:00Z') / 1000, to: Date.parse('2026-09-02T04:00:00Z') / 1000 },
      { type: 'daily', from_hour: '22:00', to_hour: '06:00' },
    ],
  ])('%j', (input, expected) => {
    expect(read(input)).toEqual(expected);
  });

  it('that is stored already, even when its days have passed', () => {
    const old: AwaySchedule = { type: 'period', from_date: '2026-01-01', to_date: '2026-01-02' };
    expect(read(old, old)).toEqual(old);
    expect(read(old)).toEqual({ from_date: 'Choose today or a later day.' });
  });
});

describe('a schedule with unusual input', () => {
  it.each<[Record<string, unknown>, AwaySchedule]>([
    [
      { type: 'period', from_date: '٢٠٢٦-٠٩-٠١', to_date: ' ２０２７\uff0d０３\uff0d０１ ' },
      { type: 'period', from_date: '2026-09-01', to_date: '2027-03-01' },
    ],
    [
      { type: 'daily', from_hour: '２２：００', to_hour: '\u200e०६:००' },
      { type: 'daily', from_hour: '22:00', to_hour: '06:00' },
    ],
  ])('%j is accepted', (input, expected) => {
    expect(read(input)).toEqual(expected);
  });

  it('is refused where a character means more than a digit', () => {
    expect(read({ type: 'daily', from_hour: '2²:00', to_hour: '\u202e06:00' })).toEqual({
      from_hour: 'Invalid format.',
      to_hour: 'Invalid format.',
    });
  });
});

describe('a schedule is refused', () => {
  it.each<[Record<string, unknown>, Record<string, string>]>([
    [{}, { type: 'This field is required.' }],
    [{ type: 'sometimes' }, { type: 'Use off, period, weekly or daily.' }],
    [{ type: 'period' }, { from_date: 'This field is required.', to_date: 'This field is required.' }],
    [
      { type: 'period', from_date: '2026-02-30', to_date: 5 },
      { from_date: 'Invalid format.', to_date: 'Invalid format.' },
    ],
    [{ type: 'period', from_date: '2026-08-31', to_date: '2026-09-02' }, { from_date: 'Choose today or a later day.' }],
    [
      { type: 'period', from_date: '2026-09-03', to_date: '2026-09-02' },
      { to_date: 'Choose a day that is not before From.' },
    ],
    [
      { type: 'period', from_date: '2026-09-03', to_date: '2027-03-02' },
      { to_date: 'Choose a day within the next 6 months.' },
    ],
    [{ type: 'weekly' }, { weekly: 'This field is required.' }],
    [{ type: 'weekly', weekly: [] }, { weekly: 'This field is required.' }],
    [{ type: 'weekly', weekly: ['someday'] }, { weekly: 'Use the names of weekdays: monday to sunday.' }],
    [
      { type: 'weekly', weekly: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] },
      { weekly: "You can't enable Away Mode for every day of the week." },
    ],
    [
      { type: 'daily', from_hour: '', to_hour: null },
      { from_hour: 'This field is required.', to_hour: 'This field is required.' },
    ],
    [
      { type: 'daily', from_hour: '24:00', to_hour: '6:00' },
      { from_hour: 'Invalid format.', to_hour: 'Invalid format.' },
    ],
    [{ type: 'daily', from_hour: '06:00', to_hour: '06:00' }, { to_hour: 'From and To must be different times.' }],
    [
      { type: 'daily', from_hour: '06:00', to_hour: '05:01' },
      { to_hour: 'You can enable Away Mode for maximum of 23 hours daily.' },
    ],
  ])('%j', (input, fields) => {
    expect(read(input)).toEqual(fields);
  });
});
