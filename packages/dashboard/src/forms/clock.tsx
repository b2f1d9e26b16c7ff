import type { KeyboardEvent } from 'react';
import type { DateTexts } from '../dates/date-texts.js';
import { twoDigits } from '../dates/two-digits.js';
import { __ } from '../i18n/translate.js';
import { Wheel } from './wheel.js';

export interface ClockProps {
  readonly id: string;
  /** `HH:MM`, or '' */
  readonly value: string;
  readonly texts: DateTexts;
  readonly onChange: (time: string) => void;
  /** Enter: the time is right. */
  readonly onDone: () => void;
}

const MINUTES = Array.from({ length: 60 }, (_, minute) => twoDigits(minute));
const HOURS_24 = Array.from({ length: 24 }, (_, hour) => twoDigits(hour));
const HOURS_12 = ['12', ...Array.from({ length: 11 }, (_, hour) => String(hour + 1))];

/** Columns for hour and minute, and for the half of the day where the language counts twelve hours. */
export function Clock({ id, value, texts, onChange, onDone }: ClockProps) {
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
      const wheels = Array.from(event.currentTarget.querySelectorAll('ul'));
      const at = wheels.indexOf(document.activeElement as HTMLUListElement);
      const forward = (event.key === 'ArrowRight') === (document.documentElement.dir !== 'rtl');
      wheels[at + (forward ? 1 : -1)]?.focus();
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
      <Wheel
        autoFocus
        label={__('Hour', 'security-optimizer')}
        options={texts.is12Hours ? HOURS_12 : HOURS_24}
        chosen={hour < 0 ? -1 : texts.is12Hours ? hour % 12 : hour}
        onChoose={(place) => set(texts.is12Hours ? place + half : place, minute)}
      />
      <Wheel
        label={__('Minute', 'security-optimizer')}
        options={MINUTES}
        chosen={minute}
        onChoose={(place) => set(hour, place)}
      />
      {texts.is12Hours ? (
        <Wheel
          label={__('Half of the day', 'security-optimizer')}
          options={texts.halves}
          chosen={hour < 0 ? -1 : half / 12}
          onChoose={(place) => set((Math.max(hour, 0) % 12) + place * 12, minute)}
        />
      ) : null}
    </div>
  );
}
