import { messages } from '@security-optimizer/contract/messages';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { classes } from '../components/classes.js';
import { translate } from '../i18n/translate.js';
import { Icon } from '../icons/icon.js';
import { Field } from './field.js';

export interface ComboOption {
  readonly value: string | number;
  readonly label: string;
}

export interface ComboBoxProps {
  readonly label: string;
  /** The chosen option; null means no choice. */
  readonly value: ComboOption | null;
  /** What the typed text finds. */
  readonly options: readonly ComboOption[];
  /** Text for no choice, also the first option. */
  readonly none: string;
  /** A text that is typed counts as a choice; without it only options do. */
  readonly anyText?: boolean;
  readonly error: string | undefined;
  readonly onChange: (option: ComboOption | null) => void;
  /** What was typed to find an option, '' when the list closes. */
  readonly onSearch: (text: string) => void;
}

/** A field with a list of options to choose from or to search (pattern "combobox with list autocomplete" of WAI-ARIA). */
export function ComboBox(props: ComboBoxProps) {
  const { label, value, options, none, anyText = false, error, onChange, onSearch } = props;
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(-1);
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const all: readonly (ComboOption | null)[] = typed === '' ? [null, ...options] : options;

  useEffect(() => {
    const option = list.current?.children[active];
    if (!(option instanceof HTMLElement) || list.current === null) return;
    const { scrollTop, clientHeight } = list.current;
    if (option.offsetTop < scrollTop) list.current.scrollTop = option.offsetTop;
    const end = option.offsetTop + option.offsetHeight;
    if (end > scrollTop + clientHeight) list.current.scrollTop = end - clientHeight;
  }, [active]);

  function search(text: string): void {
    setTyped(text);
    setActive(-1);
    onSearch(text);
  }

  function show(): void {
    setOpen(true);
    setActive(
      Math.max(
        all.findIndex((option) => option?.value === value?.value),
        0,
      ),
    );
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
      // The panel around it stays.
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

  // A text that counts by itself need not be found.
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
            aria-activedescendant={open && active >= 0 && active < all.length ? `${id}-${active}` : undefined}
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
        <ul
          ref={list}
          className="so-pop so-drop so-options"
          id={`${id}-list`}
          // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a list box of the WAI-ARIA pattern
          role="listbox"
          aria-label={label}
          // The field keeps the focus while an option is pressed.
          onMouseDown={(event) => event.preventDefault()}
        >
          {all.map((option, place) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the field
            // biome-ignore lint/a11y/useFocusableInteractive: the field holds the focus for its options
            <li
              key={option === null ? '' : `=${option.value}`}
              id={`${id}-${place}`}
              // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: an option of the WAI-ARIA pattern
              role="option"
              className={classes(place === active && 'is-active', isChosen(option, value) && 'is-on')}
              aria-selected={isChosen(option, value)}
              onClick={() => choose(option)}
            >
              <span>{option === null ? none : option.label}</span>
              {isChosen(option, value) ? <Icon name="check" /> : null}
            </li>
          ))}
          {all.length > 0 ? null : (
            <li className="so-muted" role="presentation">
              <span role="status">{translate(messages.nothingFound)}</span>
            </li>
          )}
        </ul>
      ) : null}
    </div>
  );
}

function isChosen(option: ComboOption | null, value: ComboOption | null): boolean {
  return option?.value === value?.value;
}
