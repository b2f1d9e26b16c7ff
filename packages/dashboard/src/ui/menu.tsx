import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { classes, getNextIndex } from './dom.js';
import { Icon } from './icon.js';
import { MENU_CLOSE_MS } from './timing.js';

export interface MenuItem {
  readonly icon: string;
  readonly text: string;
  readonly onChoose: () => void;
}

export interface MenuButtonProps {
  readonly className: string;
  readonly label?: string;
  readonly items: readonly MenuItem[];
  readonly children: ReactNode;
}

export interface Menu {
  readonly open: boolean;
  /** Whether the menu is drawn, including its closing animation. */
  readonly drawn: boolean;
  readonly leaving: boolean;
  /** Opens or closes it. */
  readonly toggle: () => void;
  /** Closes the menu and runs the action of an item; does nothing while it is closing. */
  readonly choose: (run: () => void) => void;
  /** Key handler of the button and the menu, for the frame. */
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/**
 * The behaviour of a button with a menu (WAI-ARIA pattern "menu button"): arrow keys, Home and End move, Escape and Tab
 * close it, as does a click elsewhere.
 *
 * @param frame contains the button, which has `aria-haspopup="menu"`, and the menu
 * @param start index of the item that has the focus first
 */
export function useMenu(frame: RefObject<HTMLElement | null>, start = 0): Menu {
  const [open, setOpen] = useState(false);
  const { drawn, leaving } = useExitAnimation(open, MENU_CLOSE_MS);
  const first = useRef(start);

  useEffect(() => {
    if (!open) return;
    const all = getMenuItems(frame.current);
    all[Math.min(first.current, all.length - 1)]?.focus();
    const onPress = (event: Event): void => {
      if (!(event.target instanceof Node && frame.current?.contains(event.target))) setOpen(false);
    };
    document.addEventListener('mousedown', onPress);
    return () => document.removeEventListener('mousedown', onPress);
  }, [open, frame]);

  function show(at: number): void {
    first.current = at;
    setOpen(true);
  }

  function close(): void {
    setOpen(false);
    frame.current?.querySelector<HTMLElement>(OPENER)?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (!open) {
      if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
      if (!(event.target instanceof Element && event.target.matches(OPENER))) return;
      event.preventDefault();
      show(event.key === 'ArrowDown' ? start : Number.POSITIVE_INFINITY);
      return;
    }
    if (event.key === 'Tab') setOpen(false);
    const all = getMenuItems(frame.current);
    const index = getNextIndex(event.key, all.indexOf(document.activeElement as HTMLElement), all.length);
    if (event.key !== 'Escape' && index === null) return;
    event.preventDefault();
    event.stopPropagation();
    if (index === null) close();
    else all[index]?.focus();
  }

  return {
    open,
    drawn,
    leaving,
    toggle: () => (open ? close() : show(start)),
    choose(run) {
      if (leaving) return;
      // Focus the button first: a dialog that the item opens returns the focus to it.
      close();
      run();
    },
    onKeyDown,
  };
}

const OPENER = '[aria-haspopup="menu"]';

/** A button with a menu of actions. */
export function MenuButton({ className, label, items, children }: MenuButtonProps) {
  const anchor = useRef<HTMLSpanElement>(null);
  const { open, drawn, leaving, toggle, choose, onKeyDown } = useMenu(anchor);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles keys of the button and the menu inside
    <span className="so-anchor" ref={anchor} onKeyDown={onKeyDown}>
      <button
        type="button"
        className={classes(className, open && 'is-open')}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={toggle}
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
            <button key={text} type="button" role="menuitem" tabIndex={-1} onClick={() => choose(onChoose)}>
              <Icon name={icon} />
              {text}
            </button>
          ))}
        </div>
      ) : null}
    </span>
  );
}

function getMenuItems(anchor: HTMLElement | null): HTMLElement[] {
  return Array.from(anchor?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? []);
}

/**
 * Keeps an element drawn while its closing animation plays.
 *
 * @param ms length of the animation
 * @returns whether to draw it, and whether the animation runs
 */
export function useExitAnimation(open: boolean, ms: number): { readonly drawn: boolean; readonly leaving: boolean } {
  const [drawn, setDrawn] = useState(open);
  if (open && !drawn) setDrawn(true);
  useEffect(() => {
    if (open || !drawn) return;
    const timer = setTimeout(() => setDrawn(false), ms);
    return () => clearTimeout(timer);
  }, [open, drawn, ms]);
  return { drawn: open || drawn, leaving: !open && drawn };
}
