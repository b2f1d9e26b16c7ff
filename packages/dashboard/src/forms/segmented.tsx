import { type KeyboardEvent, useRef } from 'react';
import { classes } from '../components/classes.js';

export interface SegmentedProps<Value extends string> {
  readonly label: string;
  readonly options: readonly { readonly value: Value; readonly text: string }[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** One of a few choices, side by side. Arrow keys move and choose. */
export function Segmented<Value extends string>({ label, options, value, onChange }: SegmentedProps<Value>) {
  const group = useRef<HTMLDivElement>(null);

  function onKeyDown(event: KeyboardEvent): void {
    const step = stepOf(event.key);
    if (step === 0) return;
    event.preventDefault();
    const place = (options.findIndex((option) => option.value === value) + step + options.length) % options.length;
    const next = options[place];
    if (next === undefined) return;
    onChange(next.value);
    group.current?.querySelectorAll('button')[place]?.focus();
  }

  return (
    <div className="so-segctl" role="radiogroup" aria-label={label} ref={group} onKeyDown={onKeyDown}>
      {options.map((option) => (
        // biome-ignore lint/a11y/useSemanticElements: a button can be styled in the oldest browsers
        <button
          key={option.value}
          type="button"
          role="radio"
          aria-checked={option.value === value}
          tabIndex={option.value === value ? 0 : -1}
          className={classes(option.value === value && 'is-on') || undefined}
          onClick={() => onChange(option.value)}
        >
          {option.text}
        </button>
      ))}
    </div>
  );
}

function stepOf(key: string): number {
  const forward = document.documentElement.dir === 'rtl' ? -1 : 1;
  if (key === 'ArrowRight') return forward;
  if (key === 'ArrowLeft') return -forward;
  if (key === 'ArrowDown') return 1;
  return key === 'ArrowUp' ? -1 : 0;
}
