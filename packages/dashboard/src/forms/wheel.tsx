import { type KeyboardEvent, useEffect, useId, useRef } from 'react';
import { classes } from '../components/classes.js';
import { placeOf } from '../components/list-keys.js';

export interface WheelProps {
  readonly label: string;
  readonly options: readonly string[];
  /** Place of the chosen option; -1 when there is none. */
  readonly chosen: number;
  readonly onChoose: (place: number) => void;
  /** Takes the focus when it appears. */
  readonly autoFocus?: boolean;
}

/** Digits that were typed within this time belong together, milliseconds. */
const TYPING_MS = 1000;

/** One column of a time picker: a list whose chosen option stands in the middle. Arrow keys go round. */
export function Wheel({ label, options, chosen, onChoose, autoFocus = false }: WheelProps) {
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
    const next = /^\d$/.test(event.key) ? typeDigit(event) : placeOf(event.key, chosen, options.length);
    if (next === null) return;
    event.preventDefault();
    onChoose(next);
  }

  function typeDigit({ key, timeStamp }: KeyboardEvent): number | null {
    const { text, at } = typed.current;
    const both = timeStamp - at < TYPING_MS ? text + key : key;
    typed.current = { text: both, at: timeStamp };
    const place = options.findIndex((option) => /^\d+$/.test(option) && Number(option) === Number(both));
    return place < 0 ? null : place;
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
      {options.map((option, place) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the list box
        // biome-ignore lint/a11y/useFocusableInteractive: the list box holds the focus for its options
        <li
          key={option}
          id={`${id}-${place}`}
          // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: an option of the WAI-ARIA pattern
          role="option"
          className={classes('so-num', place === chosen && 'is-on')}
          aria-selected={place === chosen}
          onClick={() => onChoose(place)}
        >
          {option}
        </li>
      ))}
    </ul>
  );
}
