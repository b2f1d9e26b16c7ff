import { type KeyboardEvent, useEffect, useId, useRef } from 'react';
import type { DateFormats } from '../i18n/date-formats.js';
import { twoDigits } from '../i18n/days.js';
import { __ } from '../i18n/translate.js';
import { classes, getNextIndex } from './dom.js';
import { PickerField } from './picker-field.js';

export interface TimeFieldProps extends Omit<ClockProps, 'id' | 'onDone'> {
  readonly label: string;
  readonly error: string | undefined;
}

export function TimeField({ label, error, ...clock }: TimeFieldProps) {
  const { value, formats } = clock;
  return (
    <PickerField
      label={label}
      icon="clock"
      placeholder={__('Choose a time', 'security-optimizer')}
      text={value === '' ? '' : formats.time(value)}
      error={error}
    >
      {({ id, close }) => <Clock {...clock} id={id} onDone={close} />}
    </PickerField>
  );
}

/** Returns the value of a typed digit, or -1 for anything else. */
export type ToDigit = (character: string) => number;

export interface ClockProps {
  readonly id: string;
  /** `HH:MM`, or '' */
  readonly value: string;
  readonly formats: DateFormats;
  readonly toDigit: ToDigit;
  readonly onChange: (time: string) => void;
  /** Called for Enter. */
  readonly onDone: () => void;
}

const MINUTES = Array.from({ length: 60 }, (_, minute) => twoDigits(minute));
const HOURS_24 = Array.from({ length: 24 }, (_, hour) => twoDigits(hour));
const HOURS_12 = ['12', ...Array.from({ length: 11 }, (_, hour) => String(hour + 1))];

/** Columns for hour and minute, and for AM and PM where the language uses a 12-hour clock. */
export function Clock({ id, value, formats, toDigit, onChange, onDone }: ClockProps) {
  const hour = value === '' ? -1 : Number(value.slice(0, 2));
  const minute = value === '' ? -1 : Number(value.slice(3, 5));
  const set = (newHour: number, newMinute: number): void => {
    onChange(`${twoDigits(Math.max(newHour, 0))}:${twoDigits(Math.max(newMinute, 0))}`);
  };
  const half = hour >= 12 ? 12 : 0;

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    if (event.key === 'Enter') {
      event.preventDefault();
      onDone();
    } else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
      event.preventDefault();
      const columns = Array.from(event.currentTarget.querySelectorAll('ul'));
      const at = columns.indexOf(document.activeElement as HTMLUListElement);
      const forward = (event.key === 'ArrowRight') === (document.documentElement.dir !== 'rtl');
      columns[at + (forward ? 1 : -1)]?.focus();
    }
  }

  return (
    <div
      className="so-pop so-drop so-clock"
      role="dialog"
      id={id}
      aria-label={__('Choose a time', 'security-optimizer')}
      onKeyDown={onKeyDown}
    >
      <TimeColumn
        autoFocus
        label={__('Hour', 'security-optimizer')}
        options={formats.is12Hours ? HOURS_12 : HOURS_24}
        chosen={hour < 0 ? -1 : formats.is12Hours ? hour % 12 : hour}
        toDigit={toDigit}
        onChoose={(index) => set(formats.is12Hours ? index + half : index, minute)}
      />
      <TimeColumn
        label={__('Minute', 'security-optimizer')}
        options={MINUTES}
        chosen={minute}
        toDigit={toDigit}
        onChoose={(index) => set(hour, index)}
      />
      {formats.is12Hours ? (
        <TimeColumn
          label={__('Half of the day', 'security-optimizer')}
          options={formats.halves}
          chosen={hour < 0 ? -1 : half / 12}
          toDigit={toDigit}
          onChoose={(index) => set((Math.max(hour, 0) % 12) + index * 12, minute)}
        />
      ) : null}
    </div>
  );
}

export interface TimeColumnProps {
  readonly label: string;
  readonly options: readonly string[];
  /** Index of the chosen option; -1 for none. */
  readonly chosen: number;
  readonly toDigit: ToDigit;
  readonly onChoose: (index: number) => void;
  /** Takes the focus when it is mounted. */
  readonly autoFocus?: boolean;
}

/** Digits typed within this time form one number, milliseconds. */
const TYPING_MS = 1000;

/**
 * A column of a time picker: a list with the chosen option as close to the centre as possible. Arrow keys wrap around.
 */
export function TimeColumn({ label, options, chosen, toDigit, onChoose, autoFocus = false }: TimeColumnProps) {
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const typed = useRef({ text: '', at: 0 });

  useEffect(() => {
    if (autoFocus) list.current?.focus();
  }, [autoFocus]);

  useEffect(() => {
    const element = list.current;
    const option = element?.children[Math.max(chosen, 0)];
    if (element === null || !(option instanceof HTMLElement)) return;
    element.scrollTop = option.offsetTop - (element.clientHeight - option.offsetHeight) / 2;
  }, [chosen]);

  function onKeyDown(event: KeyboardEvent): void {
    const digit = toDigit(event.key);
    const next = digit < 0 ? getNextIndex(event.key, chosen, options.length) : typeDigit(digit, event.timeStamp);
    if (next === null) return;
    event.preventDefault();
    onChoose(next);
  }

  function typeDigit(digit: number, timeStamp: number): number | null {
    const { text, at } = typed.current;
    const both = timeStamp - at < TYPING_MS ? `${text}${digit}` : String(digit);
    typed.current = { text: both, at: timeStamp };
    const index = options.findIndex((option) => /^\d+$/.test(option) && Number(option) === Number(both));
    return index < 0 ? null : index;
  }

  return (
    <ul
      ref={list}
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a list box of the WAI-ARIA pattern
      role="listbox"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={chosen < 0 ? undefined : `${id}-${chosen}`}
      onKeyDown={onKeyDown}
    >
      {options.map((option, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the list box handles keys
        // biome-ignore lint/a11y/useFocusableInteractive: the list box has the focus for its options
        <li
          key={option}
          id={`${id}-${index}`}
          // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: an option of the WAI-ARIA pattern
          role="option"
          className={classes('so-num', index === chosen && 'is-on')}
          aria-selected={index === chosen}
          onClick={() => onChoose(index)}
        >
          {option}
        </li>
      ))}
    </ul>
  );
}
