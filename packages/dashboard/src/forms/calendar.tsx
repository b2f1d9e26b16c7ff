import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { classes } from '../components/classes.js';
import type { DateTexts } from '../dates/date-texts.js';
import { addDays, addMonths, dayOf, partsOf, weeksOf } from '../dates/day.js';
import { __ } from '../i18n/translate.js';
import { Icon } from '../icons/icon.js';
import { Select } from './select.js';

/** Years that can be picked on either side of the one that is shown (specification section 9). */
const YEARS_AROUND = 50;

export interface CalendarProps {
  readonly id: string;
  /** The chosen day, `YYYY-MM-DD`, or '' */
  readonly value: string;
  /** First and last day that can be chosen. */
  readonly min: string;
  readonly max: string;
  readonly today: string;
  /** Both ends of the period that is being chosen, as far as they are known. */
  readonly range: { readonly from: string; readonly to: string };
  readonly texts: DateTexts;
  readonly weekStart: number;
  /** Stands at the foot: the period in words. */
  readonly summary: ReactNode;
  readonly atEnd?: boolean;
  readonly onChoose: (day: string) => void;
}

/** A month of days to choose from. Arrow keys move by days and weeks, Page Up and Page Down by months. */
export function Calendar(props: CalendarProps) {
  const { id, value, min, max, today, range, texts, weekStart } = props;
  const [current, setCurrent] = useState(() => within(value === '' ? today : value, min, max));
  const grid = useRef<HTMLTableElement>(null);
  const moveFocus = useRef(true);
  const { year, month } = partsOf(current);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the focus follows the current day, and nothing else
  useEffect(() => {
    if (moveFocus.current) grid.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
    moveFocus.current = false;
  }, [current]);

  function goTo(day: string, withFocus: boolean): void {
    moveFocus.current = withFocus;
    setCurrent(day);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const next = target(event, current, weekStart);
    if (next === null) return;
    event.preventDefault();
    goTo(within(next, min, max), true);
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
        <MonthButton
          icon="chevron-left"
          label={__('Previous month', 'security-optimizer')}
          disabled={dayOf(year, month, 0) < min}
          onClick={() => goTo(within(addMonths(current, -1), min, max), false)}
        />
        <Select
          label={__('Month', 'security-optimizer')}
          value={month}
          options={texts.months.map((text, value) => ({ value, text }))}
          onChange={(value) => goTo(addMonths(current, value - month), false)}
        />
        <Select
          label={__('Year', 'security-optimizer')}
          value={year}
          options={Array.from({ length: 2 * YEARS_AROUND + 1 }, (_, place) => {
            const value = year - YEARS_AROUND + place;
            return { value, text: String(value) };
          })}
          onChange={(value) => goTo(addMonths(current, (value - year) * 12), false)}
        />
        <MonthButton
          icon="chevron-right"
          label={__('Next month', 'security-optimizer')}
          disabled={dayOf(year, month + 1, 1) > max}
          onClick={() => goTo(within(addMonths(current, 1), min, max), false)}
        />
      </div>
      <table ref={grid} onKeyDown={onKeyDown} aria-label={`${texts.months[month]} ${year}`}>
        <thead>
          <tr>
            {Array.from({ length: 7 }, (_, place) => (weekStart + place) % 7).map((weekday) => (
              <th key={weekday} scope="col" abbr={texts.weekday(weekday, 'long')}>
                {texts.weekday(weekday, 'short').slice(0, 2)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksOf(year, month, weekStart).map((week) => (
            <tr key={week.find((day) => day !== null)}>
              {week.map((day, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the place in the week is what tells the cells apart
                <td key={place} className={day === null ? undefined : dayClasses(day, today, range)}>
                  {day === null ? null : (
                    <button
                      type="button"
                      disabled={isOff(day)}
                      tabIndex={day === current ? 0 : -1}
                      aria-label={texts.fullDay(day)}
                      aria-current={day === today ? 'date' : undefined}
                      aria-pressed={day === value}
                      onClick={() => props.onChoose(day)}
                    >
                      {partsOf(day).date}
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

interface MonthButtonProps {
  readonly icon: string;
  readonly label: string;
  readonly disabled: boolean;
  readonly onClick: () => void;
}

function MonthButton({ icon, label, disabled, onClick }: MonthButtonProps) {
  // aria-disabled: a button that vanished from the keyboard's way at the last month would lose the focus.
  return (
    <button
      type="button"
      className="so-iconbtn"
      aria-label={label}
      aria-disabled={disabled || undefined}
      onClick={disabled ? undefined : onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

/** The day that a key leads to, or null. */
function target({ key }: KeyboardEvent, day: string, weekStart: number): string | null {
  const right = document.documentElement.dir === 'rtl' ? -1 : 1;
  const place = (partsOf(day).weekday - weekStart + 7) % 7;
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
      return addDays(day, -place);
    case 'End':
      return addDays(day, 6 - place);
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

function within(day: string, min: string, max: string): string {
  if (day < min) return min;
  return day > max ? max : day;
}
