import { type KeyboardEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react';
import { createPortal } from 'react-dom';
import { formatNumber } from '../i18n/locale.js';
import { __, sprintf } from '../i18n/translate.js';
import { IconButton } from './button.js';
import type { DialogClose } from './dialog.js';
import { classes } from './dom.js';
import { useModal } from './modal.js';
import { useUiHost } from './portals.js';

/** A list, one entry of which is open. */
export interface OpenList<Row extends { readonly id: number }> {
  /** The loaded rows of the list, newest first. */
  readonly rows: readonly Row[];
  /** Id of the open row. */
  readonly id: number;
  /** Number of rows that match the filters; null if there are too many to count. */
  readonly total: number | null;
  readonly onMove: (id: number) => void;
  /** Called when the last loaded row is opened. */
  readonly onLast: () => void;
}

interface DrawerPlace {
  /** Position in the list, for example "12 of 573". */
  readonly position: string;
  /** Null at the end of the list. */
  readonly onNewer: (() => void) | null;
  readonly onOlder: (() => void) | null;
}

/** Returns the open row, if it is loaded, and the drawer's place in the list. */
export function useOpenRow<Row extends { readonly id: number }>({ rows, id, total, onMove, onLast }: OpenList<Row>) {
  const index = rows.findIndex((row) => row.id === id);
  const isLast = index === rows.length - 1;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each last row
  useEffect(() => {
    if (isLast) onLast();
  }, [isLast, rows.length]);
  const step = (by: 1 | -1): (() => void) | null => {
    const next = index < 0 ? undefined : rows[index + by];
    return next === undefined ? null : () => onMove(next.id);
  };
  const position =
    index < 0 || total === null || total < rows.length
      ? ''
      : /* translators: 1: place in a list, 2: number of entries */
        sprintf(__('%1$s of %2$s', 'security-optimizer'), formatNumber(index + 1), formatNumber(total));
  const place: DrawerPlace = { position, onNewer: step(-1), onOlder: step(1) };
  return { row: rows[index], place };
}

export interface DrawerProps {
  readonly title: string;
  readonly place: DrawerPlace;
  readonly closing: DialogClose;
  /** Names of the buttons to the newer and the older entry. */
  readonly newerText: string;
  readonly olderText: string;
  readonly busy?: boolean;
  readonly children: ReactNode;
  readonly footer: ReactNode;
}

/**
 * The details of a list entry at the end side of the page, over the full height; over the full width on phones. Up and
 * Down move through the list. The title gets the focus; the caller restores it.
 */
export function Drawer(props: DrawerProps) {
  const { portal } = useUiHost();
  return createPortal(<DrawerFrame {...props} />, portal);
}

function DrawerFrame(props: DrawerProps) {
  const { title, place, closing, newerText, olderText, busy, children, footer } = props;
  const { position, onNewer, onOlder } = place;
  const scrim = useRef<HTMLDivElement>(null);
  const drawer = useRef<HTMLDivElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const id = useId();
  useModal(scrim, drawer, closing.closing ? null : closing.close);
  useLayoutEffect(() => heading.current?.focus(), []);

  function onKeyDown(event: KeyboardEvent): void {
    const step = event.key === 'ArrowUp' ? onNewer : event.key === 'ArrowDown' ? onOlder : undefined;
    if (step === undefined || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    // Menus and fields handle the arrow keys themselves; events of portals bubble here, too.
    if (event.target instanceof Element && event.target.closest('[role="menu"], [role="radiogroup"], input')) return;
    if (event.target instanceof Node && !drawer.current?.contains(event.target)) return;
    event.preventDefault();
    step?.();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a click on the scrim closes, as Escape does for the keyboard
    <div
      ref={scrim}
      className={classes('so-scrim so-scrim--side', closing.closing && 'is-leaving')}
      onMouseDown={(event) => {
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        closing.close();
      }}
    >
      <div
        ref={drawer}
        className="so-drawer"
        role="dialog"
        tabIndex={-1}
        aria-modal="true"
        aria-labelledby={id}
        aria-busy={busy || undefined}
        onKeyDown={onKeyDown}
      >
        <div className="so-drawer__head">
          <h2 id={id} ref={heading} tabIndex={-1}>
            {title} <small className="so-num">{position}</small>
          </h2>
          <StepButton icon="chevron-up" label={newerText} onStep={onNewer} />
          <StepButton icon="chevron-down" label={olderText} onStep={onOlder} />
          <IconButton icon="x" label={__('Close', 'security-optimizer')} onClick={closing.close} />
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would be a form */}
        <div className="so-drawer__body" tabIndex={0} role="group" aria-labelledby={id}>
          {children}
        </div>
        <div className="so-drawer__foot">{footer}</div>
      </div>
    </div>
  );
}

interface StepButtonProps {
  readonly icon: string;
  readonly label: string;
  readonly onStep: (() => void) | null;
}

/** Stays focusable at the end of the list, so that the focus is not lost there. */
function StepButton({ icon, label, onStep }: StepButtonProps) {
  return <IconButton icon={icon} label={label} inactive={onStep === null} onClick={() => onStep?.()} />;
}
