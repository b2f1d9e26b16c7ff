import { type KeyboardEvent, useId, useState } from 'react';
import { __ } from '../i18n/translate.js';
import { classes } from './dom.js';
import { Field } from './field.js';
import { OptionList } from './select.js';

export interface ComboOption {
  readonly value: string | number;
  readonly label: string;
}

export interface ComboBoxProps {
  readonly label: string;
  /** The chosen option; null for none. */
  readonly value: ComboOption | null;
  /** Options that match the typed text. */
  readonly options: readonly ComboOption[];
  /** Label for no choice; it is also the first option. */
  readonly none: string;
  /** Whether typed text counts as a choice. */
  readonly anyText?: boolean;
  readonly error: string | undefined;
  readonly onChange: (option: ComboOption | null) => void;
  /** Called with the typed text, and with '' when the list closes. */
  readonly onSearch: (text: string) => void;
}

/** A field with a list of options to choose or search (WAI-ARIA pattern "combobox with list autocomplete"). */
export function ComboBox(props: ComboBoxProps) {
  const { label, value, options, none, anyText = false, error, onChange, onSearch } = props;
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(-1);
  const id = useId();
  const all: readonly (ComboOption | null)[] = typed === '' ? [null, ...options] : options;
  const chosen = all.findIndex((option) => option?.value === value?.value);

  function search(text: string): void {
    setTyped(text);
    setActive(-1);
    onSearch(text);
  }

  function show(): void {
    setOpen(true);
    setActive(Math.max(chosen, 0));
  }

  function close(): void {
    setOpen(false);
    search('');
  }

  function choose(option: ComboOption | null): void {
    onChange(option);
    close();
  }

  function onKeyDown(event: KeyboardEvent): void {
    const { key } = event;
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      event.preventDefault();
      if (!open) {
        show();
        return;
      }
      const step = key === 'ArrowDown' ? 1 : -1;
      setActive((before) => (before < 0 && step < 0 ? all.length - 1 : (before + step + all.length) % all.length));
    } else if (open && key === 'Enter') {
      event.preventDefault();
      const option = all[active];
      if (option === undefined) close();
      else choose(option);
    } else if (open && key === 'Escape') {
      // Keep the panel around it open.
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  }

  function onText(text: string): void {
    setOpen(true);
    search(text);
    if (anyText) onChange(text === '' ? null : { value: text, label: text });
  }

  // Free text need not match an option.
  const isListed = open && (all.length > 0 || !anyText);
  const shownText = open && !anyText ? typed : (value?.label ?? '');
  return (
    <div className="so-anchor">
      <Field label={label} error={error}>
        {(control) => (
          <input
            {...control}
            className={classes('so-input so-combo', anyText && 'so-mono')}
            type="text"
            role="combobox"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            dir={anyText ? 'ltr' : undefined}
            aria-autocomplete="list"
            aria-haspopup="listbox"
            aria-expanded={isListed}
            aria-controls={isListed ? `${id}-list` : undefined}
            aria-activedescendant={open && active >= 0 && active < all.length ? `${id}-list-${active}` : undefined}
            placeholder={open && !anyText ? (value?.label ?? none) : none}
            value={shownText}
            onChange={(event) => onText(event.target.value)}
            onClick={() => (open ? undefined : show())}
            onKeyDown={onKeyDown}
            onBlur={close}
          />
        )}
      </Field>
      {isListed ? (
        <OptionList
          id={`${id}-list`}
          label={label}
          texts={all.map((option) => option?.label ?? none)}
          chosen={chosen}
          active={active}
          onChoose={(index) => choose(all[index] ?? null)}
        >
          {all.length > 0 ? null : (
            <li className="so-muted" role="presentation">
              <span role="status">{__('Nothing was found', 'security-optimizer')}</span>
            </li>
          )}
        </OptionList>
      ) : null}
    </div>
  );
}
