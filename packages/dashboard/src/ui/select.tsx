import {
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { classes } from './dom.js';
import type { ControlProps } from './field.js';
import { Icon } from './icon.js';

export interface SelectOption<Value> {
  readonly value: Value;
  readonly text: string;
}

export interface SelectProps<Value> extends Partial<ControlProps> {
  readonly ref?: Ref<HTMLButtonElement>;
  readonly label: string;
  readonly options: readonly SelectOption<Value>[];
  readonly value: Value | null;
  /** Shown while nothing is chosen. */
  readonly placeholder?: string;
  /** Whether the width follows the text, at the end of a row. */
  readonly auto?: boolean;
  readonly disabled?: boolean;
  /** Whether the last choice is being saved; another one is ignored then. */
  readonly pending?: boolean;
  readonly onChange: (value: Value) => void;
}

/** Letters typed within this time form one search text, milliseconds. */
const TYPING_MS = 500;
/** Steps of the keys; the list does not wrap around. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/**
 * A select with a custom list, because options of the native list cannot be styled (WAI-ARIA pattern "select-only
 * combobox").
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

  function show(index = Math.max(chosen, 0)): void {
    if (options.length === 0) return;
    setActive(index);
    setOpen(true);
  }

  function choose(index: number): void {
    setOpen(false);
    const option = options[index];
    if (option !== undefined && index !== chosen && !pending) onChange(option.value);
  }

  /** The index that a key moves to; null for other keys. */
  function target({ key, altKey }: KeyboardEvent): number | null {
    const step = STEPS[key];
    return step === undefined || altKey ? null : Math.min(Math.max(active + step, 0), last);
  }

  /** The next option that starts with the typed text. Repeating one letter cycles through its options. */
  function find({ key, timeStamp, ctrlKey, metaKey, altKey }: KeyboardEvent): number | null {
    const { text: before, at } = typed.current;
    const isMore = before !== '' && timeStamp - at < TYPING_MS;
    if (key.length !== 1 || ctrlKey || metaKey || altKey || (key === ' ' && !isMore)) return null;
    const text = (isMore ? before : '') + key.toLocaleLowerCase();
    typed.current = { text, at: timeStamp };
    const isOneLetter = Array.from(text).every((letter) => letter === text.charAt(0));
    const wanted = isOneLetter ? text.charAt(0) : text;
    const from = (open ? active : Math.max(chosen, 0)) + (isOneLetter ? 1 : 0);
    const indices = texts.map((_, step) => (from + step) % texts.length);
    return indices.find((index) => texts[index]?.toLocaleLowerCase().startsWith(wanted)) ?? active;
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
    // A dialog or calendar around it must not handle the key.
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
          // Safari does not focus a clicked button.
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

export interface OptionListProps {
  /** Id of the list; option ids are `<id>-0` and so on. */
  readonly id: string;
  readonly label: string;
  readonly texts: readonly string[];
  /** Indexes of the chosen option and of the active one; -1 for none. */
  readonly chosen: number;
  readonly active: number;
  readonly onChoose: (index: number) => void;
  /** Aligns the list with the end of its field. */
  readonly atEnd?: boolean;
  /** Shown after the options. */
  readonly children?: ReactNode;
}

/** The open list of a field. The field keeps the focus and names the active option in `aria-activedescendant`. */
export function OptionList(props: OptionListProps) {
  const { id, label, texts, chosen, active, onChoose, atEnd = false, children } = props;
  const list = useRef<HTMLUListElement>(null);
  const [above, setAbove] = useState(false);

  // Open above the field if there is room only there.
  useLayoutEffect(() => {
    const { bottom, height } = list.current?.getBoundingClientRect() ?? { bottom: 0, height: 0 };
    const field = list.current?.parentElement?.getBoundingClientRect();
    setAbove(bottom > window.innerHeight && (field?.top ?? 0) > height + TOP_BAR);
  }, []);

  useEffect(() => {
    const option = list.current?.children[active];
    if (!(option instanceof HTMLElement) || list.current === null) return;
    const { scrollTop, clientHeight } = list.current;
    if (option.offsetTop < scrollTop) list.current.scrollTop = option.offsetTop;
    const end = option.offsetTop + option.offsetHeight;
    if (end > scrollTop + clientHeight) list.current.scrollTop = end - clientHeight;
  }, [active]);

  return (
    <ul
      ref={list}
      className={classes('so-pop so-drop so-options', atEnd && 'so-drop--end', above && 'so-drop--above')}
      id={id}
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a list box of the WAI-ARIA pattern
      role="listbox"
      aria-label={label}
      // Keep the focus in the field.
      onMouseDown={(event) => event.preventDefault()}
    >
      {texts.map((text, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles keys
        // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus for its options
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: two options may have the same text, and they have no state
          key={index}
          id={`${id}-${index}`}
          // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: an option of the WAI-ARIA pattern
          role="option"
          className={classes(index === active && 'is-active', index === chosen && 'is-on')}
          aria-selected={index === chosen}
          onClick={() => onChoose(index)}
        >
          <span>{text}</span>
          {index === chosen ? <Icon name="check" /> : null}
        </li>
      ))}
      {children}
    </ul>
  );
}

/** Maximum height of the admin bar of WordPress, CSS pixels. */
const TOP_BAR = 46;
