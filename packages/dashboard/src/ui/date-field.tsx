import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import type { DateFormats } from '../i18n/date-formats.js';
import { addDays, addMonths, getWeeks, toDay, toDayParts } from '../i18n/days.js';
import { getLanguage } from '../i18n/locale.js';
import { __ } from '../i18n/translate.js';
import { IconButton } from './button.js';
import { classes } from './dom.js';
import { PickerField } from './picker-field.js';
import { Select } from './select.js';

export interface DateFieldProps extends Omit<CalendarProps, 'id' | 'onChoose'> {
  readonly label: string;
  readonly error: string | undefined;
  /** @param day `YYYY-MM-DD` */
  readonly onChange: (day: string) => void;
}

export function DateField({ label, error, onChange, ...calendar }: DateFieldProps) {
  const { value, formats } = calendar;
  return (
    <PickerField
      label={label}
      icon="calendar"
      placeholder={__('Choose a day', 'security-optimizer')}
      text={value === '' ? '' : formats.day(value)}
      error={error}
    >
      {({ id, close }) => (
        <Calendar
          {...calendar}
          id={id}
          onChoose={(day) => {
            onChange(day);
            close();
          }}
        />
      )}
    </PickerField>
  );
}

/** Years that can be picked before and after the current one (specification section 9). */
const YEARS_AROUND = 50;

export interface CalendarProps {
  readonly id: string;
  /** The chosen day, `YYYY-MM-DD`, or '' */
  readonly value: string;
  /** First and last day that can be chosen, `YYYY-MM-DD`. */
  readonly min: string;
  readonly max: string;
  readonly today: string;
  /** Both ends of the period; '' for an end that is not chosen. */
  readonly range: { readonly from: string; readonly to: string };
  readonly formats: DateFormats;
  readonly weekStart: number;
  /** Shown at the foot: the period in words. */
  readonly summary: ReactNode;
  readonly atEnd?: boolean;
  readonly onChoose: (day: string) => void;
}

/** A month to choose a day from. Arrow keys move by days and weeks, Page Up and Page Down by months. */
export function Calendar(props: CalendarProps) {
  const { id, value, min, max, today, range, formats, weekStart } = props;
  const [current, setCurrent] = useState(() => clampDay(value === '' ? today : value, min, max));
  const grid = useRef<HTMLTableElement>(null);
  const moveFocus = useRef(true);
  const { year, month } = toDayParts(current);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the focus follows the current day only
  useEffect(() => {
    if (moveFocus.current) grid.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
    moveFocus.current = false;
  }, [current]);

  function goTo(day: string, withFocus: boolean): void {
    moveFocus.current = withFocus;
    setCurrent(day);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const next = getTargetDay(event, current, weekStart);
    if (next === null) return;
    event.preventDefault();
    goTo(clampDay(next, min, max), true);
  }

  const isOff = (day: string): boolean => day < min || day > max;
  return (
    <div
      className={classes('so-pop so-drop so-cal', props.atEnd && 'so-drop--end')}
      role="dialog"
      id={id}
      aria-label={__('Choose a day', 'security-optimizer')}
    >
      <div className="so-cal__head">
        <IconButton
          icon="chevron-left"
          label={__('Previous month', 'security-optimizer')}
          inactive={toDay(year, month, 0) < min}
          onClick={() => goTo(clampDay(addMonths(current, -1), min, max), false)}
        />
        <Select
          label={__('Month', 'security-optimizer')}
          value={month}
          options={formats.months.map((text, value) => ({ value, text }))}
          onChange={(value) => goTo(addMonths(current, value - month), false)}
        />
        <Select
          label={__('Year', 'security-optimizer')}
          value={year}
          options={Array.from({ length: 2 * YEARS_AROUND + 1 }, (_, index) => {
            const value = year - YEARS_AROUND + index;
            return { value, text: String(value) };
          })}
          onChange={(value) => goTo(addMonths(current, (value - year) * 12), false)}
        />
        <IconButton
          icon="chevron-right"
          label={__('Next month', 'security-optimizer')}
          inactive={toDay(year, month + 1, 1) > max}
          onClick={() => goTo(clampDay(addMonths(current, 1), min, max), false)}
        />
      </div>
      <table ref={grid} onKeyDown={onKeyDown} aria-label={`${formats.months[month]} ${year}`}>
        <thead>
          <tr>
            {Array.from({ length: 7 }, (_, index) => (weekStart + index) % 7).map((weekday) => (
              <th key={weekday} scope="col" abbr={formats.weekday(weekday, 'long')}>
                {formats.weekday(weekday, 'short').slice(0, 2)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {getWeeks(year, month, weekStart).map((week) => (
            <tr key={week.find((day) => day !== null)}>
              {week.map((day, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the index in the week identifies a cell
                <td key={index} className={day === null ? undefined : dayClasses(day, today, range)}>
                  {day === null ? null : (
                    <button
                      type="button"
                      disabled={isOff(day)}
                      tabIndex={day === current ? 0 : -1}
                      aria-label={formats.fullDay(day)}
                      aria-current={day === today ? 'date' : undefined}
                      aria-pressed={day === value}
                      onClick={() => props.onChoose(day)}
                    >
                      {toDayParts(day).date}
                    </button>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <div className="so-cal__foot">
        <span>{props.summary}</span>
        <button type="button" className="so-link" disabled={isOff(today)} onClick={() => props.onChoose(today)}>
          {__('Today', 'security-optimizer')}
        </button>
      </div>
    </div>
  );
}

/** The day that a key moves to, or null. */
function getTargetDay({ key }: KeyboardEvent, day: string, weekStart: number): string | null {
  const right = document.documentElement.dir === 'rtl' ? -1 : 1;
  const index = (toDayParts(day).weekday - weekStart + 7) % 7;
  switch (key) {
    case 'ArrowLeft':
      return addDays(day, -right);
    case 'ArrowRight':
      return addDays(day, right);
    case 'ArrowUp':
      return addDays(day, -7);
    case 'ArrowDown':
      return addDays(day, 7);
    case 'Home':
      return addDays(day, -index);
    case 'End':
      return addDays(day, 6 - index);
    case 'PageUp':
      return addMonths(day, -1);
    case 'PageDown':
      return addMonths(day, 1);
    default:
      return null;
  }
}

function dayClasses(day: string, today: string, { from, to }: { from: string; to: string }): string | undefined {
  const isEdge = day === from || day === to;
  const isInside = from !== '' && to !== '' && day > from && day < to;
  return classes(day === today && 'is-today', isEdge && 'is-edge', isInside && 'is-range') || undefined;
}

function clampDay(day: string, min: string, max: string): string {
  if (day < min) return min;
  return day > max ? max : day;
}

/** Regions whose week does not start on Monday (Unicode CLDR, supplemental data, weekData). */
const SUNDAY =
  /^(?:AG|AS|AU|BD|BR|BS|BT|BW|BZ|CA|CO|DM|DO|ET|GT|GU|HK|HN|ID|IL|IN|JM|JP|KE|KH|KR|LA|MH|MM|MO|MT|MX|MZ|NI|NP|PA|PE|PH|PK|PR|PT|PY|SA|SG|SV|TH|TT|TW|UM|US|VE|VI|WS|YE|ZA|ZW)$/;
const SATURDAY = /^(?:AE|AF|BH|DJ|DZ|EG|IQ|IR|JO|KW|LY|OM|QA|SD|SY)$/;
/** Likely regions of languages for locales without one. */
const REGION: Readonly<Record<string, string>> = {
  ar: 'EG',
  bn: 'BD',
  en: 'US',
  fa: 'IR',
  he: 'IL',
  hi: 'IN',
  id: 'ID',
  ja: 'JP',
  ko: 'KR',
  th: 'TH',
  ur: 'PK',
  zh: 'CN',
};

/** First day of the week in a language, 0 is Sunday. @param locale BCP 47, default: the language of the page */
export function getWeekStart(locale: string = getLanguage()): number {
  const [language = '', ...rest] = locale.split('-');
  const region = rest.find((part) => /^[A-Z]{2}$/i.test(part))?.toUpperCase() ?? REGION[language.toLowerCase()] ?? '';
  if (SUNDAY.test(region)) return 0;
  return SATURDAY.test(region) ? 6 : 1;
}
