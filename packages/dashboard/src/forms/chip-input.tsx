import { type ClipboardEvent, type KeyboardEvent, useRef, useState } from 'react';
import { classes } from '../components/classes.js';
import { __, sprintf } from '../i18n/translate.js';
import { Icon } from '../icons/icon.js';
import type { ControlProps } from './field.js';

export interface ChipInputProps {
  readonly control: ControlProps;
  readonly chips: readonly string[];
  /** What is typed and not a chip yet. */
  readonly text: string;
  /** Chips that are marked as bad. */
  readonly isBad: (chip: string) => boolean;
  readonly placeholder: string;
  readonly disabled: boolean;
  readonly onChange: (chips: readonly string[], text: string) => void;
}

/** Entries end with a space, a comma, or the line (specification section 5). */
const SEPARATOR = /[\s,]+/;

/** Adds what is in `text` to the chips: lower-cased, without angle brackets, each one once. */
export function addChips(chips: readonly string[], text: string): readonly string[] {
  const added = text
    .split(SEPARATOR)
    .map((part) => part.replace(/[<>]/g, '').toLowerCase())
    .filter((part) => part !== '');
  return Array.from(new Set([...chips, ...added]));
}

/** A field that takes several entries. Backspace in the empty field goes to the last one, and once more deletes it. */
export function ChipInput({ control, chips, text, isBad, placeholder, disabled, onChange }: ChipInputProps) {
  const [focused, setFocused] = useState(false);
  const box = useRef<HTMLDivElement>(null);

  const focusField = (): void => box.current?.querySelector('input')?.focus();

  function onText(value: string): void {
    const parts = value.split(SEPARATOR);
    const rest = parts.pop() ?? '';
    onChange(addChips(chips, parts.join(' ')), rest);
  }

  function onPaste(event: ClipboardEvent): void {
    const pasted = event.clipboardData.getData('text');
    // A single address goes on where the cursor is, as in any field.
    if (!SEPARATOR.test(pasted.trim())) return;
    event.preventDefault();
    onChange(addChips(chips, `${text} ${pasted}`), '');
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Enter' && text !== '') {
      event.preventDefault();
      onChange(addChips(chips, text), '');
    } else if (event.key === 'Backspace' && text === '') {
      const buttons = box.current?.querySelectorAll('button');
      buttons?.[buttons.length - 1]?.focus();
    }
  }

  function remove(chip: string): void {
    onChange(
      chips.filter((item) => item !== chip),
      text,
    );
    focusField();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a press beside the chips means the field
    <div
      ref={box}
      className={classes('so-chipbox', focused && 'is-focus', disabled && 'is-off')}
      onMouseDown={(event) => {
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        focusField();
      }}
    >
      {chips.map((chip) => (
        <span key={chip} className={classes('so-chip', isBad(chip) && 'is-bad')}>
          <bdi className="so-chip__text">{chip}</bdi>
          <button
            type="button"
            /* translators: %s: an e-mail address */
            aria-label={sprintf(__('Remove %s', 'security-optimizer'), chip)}
            onClick={() => remove(chip)}
            onKeyDown={(event) => {
              if (event.key === 'Backspace' || event.key === 'Delete') {
                event.preventDefault();
                remove(chip);
              } else if (/^\S$/.test(event.key) && !event.ctrlKey && !event.metaKey) {
                // A letter belongs to the field; it lands there, since the focus is there before it is typed.
                focusField();
              }
            }}
          >
            <Icon name="x" />
          </button>
        </span>
      ))}
      <input
        {...control}
        type="text"
        inputMode="email"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        disabled={disabled}
        placeholder={chips.length === 0 ? placeholder : ''}
        value={text}
        onChange={(event) => onText(event.target.value)}
        onPaste={onPaste}
        onKeyDown={onKeyDown}
        onFocus={() => setFocused(true)}
        onBlur={() => {
          setFocused(false);
          if (text !== '') onChange(addChips(chips, text), '');
        }}
      />
    </div>
  );
}
