import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { classes } from '../components/classes.js';
import { Icon } from '../icons/icon.js';

export interface OptionListProps {
  /** Of the list; its options get this and their place: `<id>-0`. */
  readonly id: string;
  readonly label: string;
  readonly texts: readonly string[];
  /** Places of the chosen option and of the one that the keys have reached; -1 for none. */
  readonly chosen: number;
  readonly active: number;
  readonly onChoose: (place: number) => void;
  /** The list begins and ends where its field does at the end, not at the start. */
  readonly atEnd?: boolean;
  /** Stands behind the options. */
  readonly children?: ReactNode;
}

/** The open list of a field. The field keeps the focus, and names the active option by `aria-activedescendant`. */
export function OptionList(props: OptionListProps) {
  const { id, label, texts, chosen, active, onChoose, atEnd = false, children } = props;
  const list = useRef<HTMLUListElement>(null);
  const [above, setAbove] = useState(false);

  // Below the field, or above it where there is only room above.
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
      // The field keeps the focus while an option is pressed.
      onMouseDown={(event) => event.preventDefault()}
    >
      {texts.map((text, place) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the field
        // biome-ignore lint/a11y/useFocusableInteractive: the field holds the focus for its options
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: two options may have the same text, and an option has no state
          key={place}
          id={`${id}-${place}`}
          // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: an option of the WAI-ARIA pattern
          role="option"
          className={classes(place === active && 'is-active', place === chosen && 'is-on')}
          aria-selected={place === chosen}
          onClick={() => onChoose(place)}
        >
          <span>{text}</span>
          {place === chosen ? <Icon name="check" /> : null}
        </li>
      ))}
      {children}
    </ul>
  );
}

/** Height of the bar of wp-admin at the top of the window, at its highest, CSS pixels. */
const TOP_BAR = 46;
