import { type KeyboardEvent, type Ref, useId, useRef, useState } from 'react';
import { classes } from '../components/classes.js';
import type { ControlProps } from './field.js';
import { OptionList } from './option-list.js';

export interface SelectOption<Value> {
  readonly value: Value;
  readonly text: string;
}

export interface SelectProps<Value> extends Partial<ControlProps> {
  readonly ref?: Ref<HTMLButtonElement>;
  readonly label: string;
  readonly options: readonly SelectOption<Value>[];
  readonly value: Value | null;
  /** Stands there while nothing is chosen. */
  readonly placeholder?: string;
  /** As wide as its text, at the end of a row. */
  readonly auto?: boolean;
  readonly disabled?: boolean;
  /** A choice is being saved: another one must wait. */
  readonly pending?: boolean;
  readonly onChange: (value: Value) => void;
}

/** Letters that were typed within this time belong together, milliseconds. */
const TYPING_MS = 500;
/** How far the keys move; the list has two ends. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/**
 * One of several values, chosen from a list of our own: options of the browser's list cannot be given a height (pattern
 * "select-only combobox" of WAI-ARIA).
 */
export function Select<Value>(props: SelectProps<Value>) {
  const { label, options, value, placeholder = '', auto = false, disabled, pending = false, onChange } = props;
  const id = useId();
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const typed = useRef({ text: '', at: Number.NEGATIVE_INFINITY });
  const texts = options.map(({ text }) => text);
  const chosen = options.findIndex((option) => option.value === value);
  const last = options.length - 1;

  function show(place = Math.max(chosen, 0)): void {
    if (options.length === 0) return;
    setActive(place);
    setOpen(true);
  }

  function choose(place: number): void {
    setOpen(false);
    const option = options[place];
    if (option !== undefined && place !== chosen && !pending) onChange(option.value);
  }

  /** Where a key leads to; null: it moves nothing. */
  function target({ key, altKey }: KeyboardEvent): number | null {
    const step = STEPS[key];
    return step === undefined || altKey ? null : Math.min(Math.max(active + step, 0), last);
  }

  /** The next option that begins with what was typed; the same letter again goes on to the next of its options. */
  function find({ key, timeStamp, ctrlKey, metaKey, altKey }: KeyboardEvent): number | null {
    const { text: before, at } = typed.current;
    const isMore = before !== '' && timeStamp - at < TYPING_MS;
    if (key.length !== 1 || ctrlKey || metaKey || altKey || (key === ' ' && !isMore)) return null;
    const text = (isMore ? before : '') + key.toLocaleLowerCase();
    typed.current = { text, at: timeStamp };
    const isOneLetter = Array.from(text).every((letter) => letter === text.charAt(0));
    const wanted = isOneLetter ? text.charAt(0) : text;
    const from = (open ? active : Math.max(chosen, 0)) + (isOneLetter ? 1 : 0);
    const places = texts.map((_, step) => (from + step) % texts.length);
    return places.find((place) => texts[place]?.toLocaleLowerCase().startsWith(wanted)) ?? active;
  }

  function onKeyDown(event: KeyboardEvent): void {
    const { key, altKey } = event;
    const found = find(event);
    const next = found ?? target(event);
    if (open && key === 'Tab') {
      choose(active);
      return;
    }
    if (found !== null) show(found);
    else if (!open && (key === 'Home' || key === 'End')) show(next ?? 0);
    else if (!open && (key === 'Enter' || key === ' ' || STEPS[key] !== undefined)) show();
    else if (!open) return;
    else if (next !== null) setActive(next);
    else if (key === 'Enter' || key === ' ' || (key === 'ArrowUp' && altKey)) choose(active);
    else if (key === 'Escape') setOpen(false);
    else return;
    // What lies around it, a dialog or a calendar, stays: the key was for the list.
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div className={classes('so-anchor so-selectbox', auto && 'so-selectbox--auto')}>
      <button
        ref={props.ref}
        type="button"
        role="combobox"
        className="so-select"
        id={props.id}
        aria-label={label}
        aria-describedby={props['aria-describedby']}
        aria-invalid={props['aria-invalid']}
        aria-busy={pending || undefined}
        aria-haspopup="listbox"
        aria-expanded={open}
        aria-controls={open ? `${id}-list` : undefined}
        aria-activedescendant={open ? `${id}-list-${active}` : undefined}
        disabled={disabled}
        onClick={(event) => {
          // Safari gives a pressed button no focus, and without it there is nothing to lose.
          event.currentTarget.focus();
          if (open) setOpen(false);
          else show();
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setOpen(false)}
      >
        {texts[chosen] ?? placeholder}
      </button>
      {open ? (
        <OptionList
          id={`${id}-list`}
          label={label}
          texts={texts}
          chosen={chosen}
          active={active}
          atEnd={auto}
          onChoose={choose}
        />
      ) : null}
    </div>
  );
}
