import { MENU_CLOSE_MS } from '@security-optimizer/contract/limits';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Icon } from '../icons/icon.js';
import { classes } from './classes.js';
import { placeOf } from './list-keys.js';
import { useLeaving } from './use-leaving.js';

export interface MenuItem {
  readonly icon: string;
  readonly text: string;
  readonly onChoose: () => void;
}

export interface MenuButtonProps {
  readonly className: string;
  readonly label?: string;
  readonly items: readonly MenuItem[];
  /** What stands on the button. */
  readonly children: ReactNode;
}

/** A button with a menu of actions. Arrow keys, Home and End move in it, Escape and Tab close it. */
export function MenuButton({ className, label, items, children }: MenuButtonProps) {
  const [open, setOpen] = useState(false);
  const { drawn, leaving } = useLeaving(open, MENU_CLOSE_MS);
  const anchor = useRef<HTMLSpanElement>(null);
  const first = useRef<'first' | 'last'>('first');

  useEffect(() => {
    if (!open) return;
    const all = itemsOf(anchor.current);
    all[first.current === 'first' ? 0 : all.length - 1]?.focus();
    const onPress = (event: Event): void => {
      if (!(event.target instanceof Node && anchor.current?.contains(event.target))) setOpen(false);
    };
    document.addEventListener('mousedown', onPress);
    return () => document.removeEventListener('mousedown', onPress);
  }, [open]);

  function show(at: 'first' | 'last'): void {
    first.current = at;
    setOpen(true);
  }

  function close(): void {
    setOpen(false);
    anchor.current?.querySelector('button')?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (!open) {
      if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
      event.preventDefault();
      show(event.key === 'ArrowDown' ? 'first' : 'last');
      return;
    }
    if (event.key === 'Tab') setOpen(false);
    const all = itemsOf(anchor.current);
    const place = placeOf(event.key, all.indexOf(document.activeElement as HTMLElement), all.length);
    if (event.key !== 'Escape' && place === null) return;
    event.preventDefault();
    event.stopPropagation();
    if (place === null) close();
    else all[place]?.focus();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the button and of the menu inside
    <span className="so-anchor" ref={anchor} onKeyDown={onKeyDown}>
      <button
        type="button"
        className={classes(className, open && 'is-open')}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => (open ? close() : show('first'))}
      >
        {children}
      </button>
      {drawn ? (
        <div
          className={classes('so-menu so-pop', leaving && 'is-leaving')}
          role="menu"
          aria-label={label}
          aria-hidden={leaving || undefined}
        >
          {items.map(({ icon, text, onChoose }) => (
            <button
              key={text}
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={() => {
                if (leaving) return;
                // First the focus: what the item opens gives it back to where it was.
                close();
                onChoose();
              }}
            >
              <Icon name={icon} />
              {text}
            </button>
          ))}
        </div>
      ) : null}
    </span>
  );
}

function itemsOf(anchor: HTMLElement | null): HTMLElement[] {
  return Array.from(anchor?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? []);
}
