import { type KeyboardEvent, useRef } from 'react';
import { classes } from './dom.js';

export interface SegmentedControlProps<Value extends string> {
  readonly label: string;
  readonly options: readonly { readonly value: Value; readonly text: string }[];
  readonly value: Value;
  /** As wide as its texts; scrolls sideways if they do not fit. */
  readonly auto?: boolean;
  readonly onChange: (value: Value) => void;
}

/** Radio buttons side by side. Arrow keys move and choose. */
export function SegmentedControl<Value extends string>({
  label,
  options,
  value,
  auto,
  onChange,
}: SegmentedControlProps<Value>) {
  const group = useRef<HTMLDivElement>(null);

  function onKeyDown(event: KeyboardEvent): void {
    const step = getStep(event.key);
    if (step === 0) return;
    event.preventDefault();
    const index = (options.findIndex((option) => option.value === value) + step + options.length) % options.length;
    const next = options[index];
    if (next === undefined) return;
    onChange(next.value);
    group.current?.querySelectorAll('button')[index]?.focus();
  }

  return (
    <div
      className={classes('so-segctl', auto && 'so-segctl--auto')}
      role="radiogroup"
      aria-label={label}
      ref={group}
      onKeyDown={onKeyDown}
    >
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

function getStep(key: string): number {
  const forward = document.documentElement.dir === 'rtl' ? -1 : 1;
  if (key === 'ArrowRight') return forward;
  if (key === 'ArrowLeft') return -forward;
  if (key === 'ArrowDown') return 1;
  return key === 'ArrowUp' ? -1 : 0;
}
