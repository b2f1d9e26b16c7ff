import { type ClipboardEvent, type KeyboardEvent, useRef, useState } from 'react';
import { __, sprintf } from '../i18n/translate.js';
import { classes } from './dom.js';
import type { ControlProps } from './field.js';
import { Icon } from './icon.js';

export interface ChipInputProps {
  readonly control: ControlProps;
  readonly chips: readonly string[];
  /** Typed text that is not a chip yet. */
  readonly text: string;
  /** Whether a chip is marked as invalid. */
  readonly isBad: (chip: string) => boolean;
  readonly placeholder: string;
  readonly disabled: boolean;
  /** Converts an entry to its normalized form. */
  readonly toPlain: ToPlain;
  readonly onChange: (chips: readonly string[], text: string) => void;
}

/** Normalizes typed text. */
export type ToPlain = (typed: string) => string;

/** Entries end with a space, a comma of any script or a line break (specification section 5). */
const SEPARATOR = /[\s,\uff0c\u3001\u060c]+/;

/** Adds the entries of `text` to the chips: normalized, in lower case, without angle brackets or duplicates. */
export function addChips(chips: readonly string[], text: string, toPlain: ToPlain): readonly string[] {
  const added = text
    .split(SEPARATOR)
    .map((part) => toPlain(part).replace(/[<>]/g, '').toLowerCase())
    .filter((part) => part !== '');
  return Array.from(new Set([...chips, ...added]));
}

/** A field for several entries. Backspace in the empty field focuses the last chip; a second one deletes it. */
export function ChipInput({ control, chips, text, isBad, placeholder, disabled, toPlain, onChange }: ChipInputProps) {
  const [focused, setFocused] = useState(false);
  const box = useRef<HTMLDivElement>(null);

  const focusField = (): void => box.current?.querySelector('input')?.focus();

  function onText(value: string): void {
    const parts = value.split(SEPARATOR);
    const rest = parts.pop() ?? '';
    onChange(addChips(chips, parts.join(' '), toPlain), rest);
  }

  function onPaste(event: ClipboardEvent): void {
    const pasted = event.clipboardData.getData('text');
    // A single entry is pasted at the cursor, as in any field.
    if (!SEPARATOR.test(pasted.trim())) return;
    event.preventDefault();
    onChange(addChips(chips, `${text} ${pasted}`, toPlain), '');
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Enter' && text !== '') {
      event.preventDefault();
      onChange(addChips(chips, text, toPlain), '');
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
    // biome-ignore lint/a11y/noStaticElementInteractions: a click beside the chips focuses the field
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
                // Moving the focus on keydown makes the letter appear in the field.
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
          if (text !== '') onChange(addChips(chips, text, toPlain), '');
        }}
      />
    </div>
  );
}
