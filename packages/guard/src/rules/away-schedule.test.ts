import { type AwaySchedule, WEEKDAYS } from '@security-optimizer/contract/login/limits';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { offsetAt } from '../lib/time-zone.js';
import { localTimeText } from '../login/away-mode.js';
import { compileAwaySchedule, getAwayStatus } from './away-schedule.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const at = (text: string) => Date.parse(text);
const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString().slice(0, 16));
const describeStatus = (schedule: AwaySchedule, zone: string, now: string) => {
  const { away, until, nextFrom } = getAwayStatus(schedule, zone, at(now));
  return [away, iso(until), iso(nextFrom)];
};

describe('a daily schedule', () => {
  const night: AwaySchedule = { type: 'daily', from_hour: '22:00', to_hour: '06:00' };
  it('crosses midnight and repeats every day', () => {
    expect(describeStatus(night, 'UTC', '2026-03-10T21:59:59Z')).toEqual([false, null, '2026-03-10T22:00']);
    expect(describeStatus(night, 'UTC', '2026-03-10T22:00:00Z')).toEqual([
      true,
      '2026-03-11T06:00',
      '2026-03-11T22:00',
    ]);
    expect(describeStatus(night, 'UTC', '2026-03-11T05:59:59Z')).toEqual([
      true,
      '2026-03-11T06:00',
      '2026-03-11T22:00',
    ]);
    expect(describeStatus(night, 'UTC', '2026-03-11T06:00:00Z')).toEqual([false, null, '2026-03-11T22:00']);
  });

  it('is an hour shorter when the clocks are set forward, and an hour longer when they are set back', () => {
    expect(describeStatus(night, 'Europe/Berlin', '2026-03-28T22:00:00Z')).toEqual([
      true,
      '2026-03-29T04:00',
      '2026-03-29T20:00',
    ]);
    expect(describeStatus(night, 'Europe/Berlin', '2026-10-24T21:00:00Z')).toEqual([
      true,
      '2026-10-25T05:00',
      '2026-10-25T21:00',
    ]);
  });

  it('is on in both occurrences of an hour that the clock repeats', () => {
    const schedule: AwaySchedule = { type: 'daily', from_hour: '01:00', to_hour: '02:30' };
    expect(describeStatus(schedule, 'Europe/Berlin', '2026-10-24T23:30:00Z').slice(0, 2)).toEqual([
      true,
      '2026-10-25T01:30',
    ]);
    expect(describeStatus(schedule, 'Europe/Berlin', '2026-10-25T01:29:00Z').slice(0, 2)).toEqual([
      true,
      '2026-10-25T01:30',
    ]);
  });

  it('begins at the end of a clock gap around its beginning, and is omitted when the gap contains it completely', () => {
    const half: AwaySchedule = { type: 'daily', from_hour: '02:30', to_hour: '04:00' };
    expect(describeStatus(half, 'Europe/Berlin', '2026-03-29T00:59:00Z')).toEqual([false, null, '2026-03-29T01:00']);
    const schedule: AwaySchedule = { type: 'daily', from_hour: '02:15', to_hour: '02:45' };
    expect(describeStatus(schedule, 'Europe/Berlin', '2026-03-29T00:59:00Z')).toEqual([
      false,
      null,
      '2026-03-30T00:15',
    ]);
  });

  it.each([
    ['+05:30', '16:30'],
    ['5.5', '16:30'],
    ['UTC+5.5', '16:30'],
    ['-3.5', '01:30'],
    ['-03:30', '01:30'],
    ['+12:45', '09:15'],
    ['0', '22:00'],
    ['Asia/Kolkata', '16:30'],
    ['No/Such_Zone', '22:00'],
  ])('uses the time zone %s', (zone, expected) => {
    expect(iso(getAwayStatus(night, zone, at('2026-06-01T00:00:00Z')).nextFrom ?? 0)?.slice(11)).toBe(expected);
  });
});

describe('a period', () => {
  const period: AwaySchedule = { type: 'period', from_date: '2026-03-28', to_date: '2026-03-29' };
  it('includes both days completely, in the site’s time zone, and does not repeat', () => {
    expect(describeStatus(period, 'Europe/Berlin', '2026-03-27T22:59:00Z')).toEqual([false, null, '2026-03-27T23:00']);
    expect(describeStatus(period, 'Europe/Berlin', '2026-03-27T23:00:00Z')).toEqual([true, '2026-03-29T22:00', null]);
    expect(describeStatus(period, 'Europe/Berlin', '2026-03-29T22:00:00Z')).toEqual([false, null, null]);
  });

  it('begins late on a day without midnight', () => {
    const cairo: AwaySchedule = { type: 'period', from_date: '2026-04-24', to_date: '2026-04-24' };
    expect(describeStatus(cairo, 'Africa/Cairo', '2026-04-23T12:00:00Z')).toEqual([false, null, '2026-04-23T22:00']);
    expect(localTimeText('Africa/Cairo', at('2026-04-23T22:00:00Z'))).toBe('Friday 24 April 2026, 01:00');
  });
});

describe('a weekly schedule', () => {
  it('joins consecutive days, also across the end of the week', () => {
    const weekend: AwaySchedule = { type: 'weekly', weekly: ['monday', 'saturday', 'sunday'] };
    expect(describeStatus(weekend, 'UTC', '2026-11-21T12:00:00Z')).toEqual([
      true,
      '2026-11-24T00:00',
      '2026-11-28T00:00',
    ]);
    expect(describeStatus(weekend, 'UTC', '2026-11-23T23:59:00Z')).toEqual([
      true,
      '2026-11-24T00:00',
      '2026-11-28T00:00',
    ]);
    expect(describeStatus(weekend, 'UTC', '2026-11-24T00:00:00Z')).toEqual([false, null, '2026-11-28T00:00']);
  });

  it('can be six days long', () => {
    const six: AwaySchedule = { type: 'weekly', weekly: WEEKDAYS.filter((day) => day !== 'wednesday') };
    expect(describeStatus(six, 'UTC', '2026-11-25T12:00:00Z')).toEqual([false, null, '2026-11-26T00:00']);
    expect(describeStatus(six, 'UTC', '2026-12-01T12:00:00Z')).toEqual([true, '2026-12-02T00:00', '2026-12-03T00:00']);
  });

  it('omits a day that the time zone skipped', () => {
    const fridays: AwaySchedule = { type: 'weekly', weekly: ['friday'] };
    expect(describeStatus(fridays, 'Pacific/Apia', '2011-12-28T12:00:00Z')).toEqual([false, null, '2012-01-05T10:00']);
  });
});

it('a schedule that is off is never on', () => {
  expect(getAwayStatus({ type: 'off' }, 'UTC', 0)).toEqual({ away: false, until: null, nextFrom: null });
});

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Havana',
  'Africa/Cairo',
  'Asia/Beirut',
  'Antarctica/Troll',
  'America/Santiago',
  'Pacific/Chatham',
  '+05:30',
  '-9.5',
];
/** Days on which clocks change in some zone of the list, and a day without a change. */
const DAYS = [
  '2026-03-08',
  '2026-03-29',
  '2026-04-24',
  '2026-10-25',
  '2026-11-01',
  '2026-09-06',
  '2026-04-05',
  '2026-07-15',
];

/** Local time minute by minute. Shares nothing with the rule but the fixed offsets. */
function wallClock(zone: string, first: number, minutes: number): readonly number[] {
  const key = `${zone} ${first} ${minutes}`;
  let clock = clocks.get(key);
  if (clock === undefined) {
    const named = /^[+-]/.test(zone) ? null : new Intl.DateTimeFormat('sv-SE', { ...ALL_PARTS, timeZone: zone });
    clock = Array.from({ length: minutes }, (_, minute) => {
      const ms = first + minute * MINUTE;
      return named ? Date.parse(`${named.format(ms).replace(' ', 'T')}Z`) : ms + offsetAt(zone, ms);
    });
    clocks.set(key, clock);
  }
  return clock;
}

const clocks = new Map<string, readonly number[]>();
const ALL_PARTS = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
} as const;

/** The slow model: visits every minute of some days and marks those inside an interval. */
function visited(schedule: AwaySchedule, zone: string, first: number, minutes: number): boolean[] {
  const clock = wallClock(zone, first, minutes);
  const away = new Array<boolean>(minutes).fill(false);
  const start = Math.floor((clock[0] as number) / DAY) * DAY;
  for (let day = start - 2 * DAY; day <= start + (minutes * MINUTE) / DAY + 8 * DAY; day += DAY) {
    const [from, to] = toWindow(schedule, day);
    const begins = clock.findIndex((shown) => shown >= from);
    const ends = clock.findLastIndex((shown) => shown < to);
    if (from < to && begins !== -1) away.fill(true, begins, Math.max(begins, ends + 1));
  }
  return away;
}

function toWindow(schedule: AwaySchedule, day: number): [number, number] {
  const date = new Date(day).toISOString().slice(0, 10);
  if (schedule.type === 'daily') {
    const from = at(`${date}T${schedule.from_hour}Z`);
    const to = at(`${date}T${schedule.to_hour}Z`);
    return [from, to > from ? to : to + DAY];
  }
  const inside =
    schedule.type === 'period'
      ? schedule.from_date <= date && date <= schedule.to_date
      : schedule.type === 'weekly' &&
        schedule.weekly.some((name) => WEEKDAYS.indexOf(name) === (new Date(day).getUTCDay() + 6) % 7);
  return inside ? [day, day + DAY] : [0, 0];
}

const two = (value: number) => String(value).padStart(2, '0');
const time = fc
  .record({ hour: fc.integer({ min: 0, max: 23 }), minute: fc.constantFrom(0, 15, 30, 45, 59) })
  .map(({ hour, minute }) => `${two(hour)}:${two(minute)}`);
const schedules: fc.Arbitrary<AwaySchedule> = fc.oneof(
  fc
    .tuple(time, time)
    .filter(([from, to]) => {
      const length = (at(`1970-01-01T${to}Z`) - at(`1970-01-01T${from}Z`) + DAY) % DAY;
      return length > 0 && length <= 23 * HOUR;
    })
    .map(([from_hour, to_hour]): AwaySchedule => ({ type: 'daily', from_hour, to_hour })),
  fc
    .subarray([...WEEKDAYS], { minLength: 1, maxLength: 6 })
    .map((weekly): AwaySchedule => ({ type: 'weekly', weekly })),
  fc.tuple(fc.constantFrom(...DAYS), fc.integer({ min: 0, max: 3 })).map(
    ([from_date, more]): AwaySchedule => ({
      type: 'period',
      from_date,
      to_date: new Date(at(from_date) + more * DAY).toISOString().slice(0, 10),
    }),
  ),
);

describe('any schedule in any time zone, around any clock change', () => {
  it('agrees with a model that visits every minute', () => {
    fc.assert(
      fc.property(schedules, fc.constantFrom(...ZONES), fc.constantFrom(...DAYS), (schedule, zone, day) => {
        // Two days on both sides are included, so that intervals which begin or end there are complete.
        const first = at(day) - 3 * DAY;
        const model = visited(schedule, zone, first, 6 * 1440);
        for (let minute = 2 * 1440; minute < 4 * 1440; minute += 23) {
          const now = first + minute * MINUTE;
          const { away, until, nextFrom } = getAwayStatus(schedule, zone, now);
          if (away !== model[minute]) throw new Error(`It differs at ${iso(now)}.`);
          const change = model.indexOf(!away, minute);
          if (change === -1) continue;
          if ((away ? until : nextFrom) !== first + change * MINUTE)
            throw new Error(`Its change differs at ${iso(now)}.`);
        }
      }),
      { numRuns: 120 },
    );
  });

  it('gives the same result in the compiled form, which caches it', () => {
    fc.assert(
      fc.property(
        schedules,
        fc.constantFrom(...ZONES),
        fc.array(fc.integer({ min: at('2026-03-01'), max: at('2026-12-01') }), { minLength: 1, maxLength: 20 }),
        (schedule, zone, times) => {
          const rule = compileAwaySchedule(schedule, zone);
          for (const now of times) {
            const { away, until, nextFrom } = rule(now);
            const fresh = getAwayStatus(schedule, zone, now);
            expect({ away, until, nextFrom }).toEqual(fresh);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
