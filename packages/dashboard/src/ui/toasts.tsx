import {
  type FocusEvent,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { createPortal } from 'react-dom';
import { __ } from '../i18n/translate.js';
import { Button, IconButton } from './button.js';
import { classes } from './dom.js';
import { Icon } from './icon.js';
import { useModalOpen } from './modal.js';
import { useUiHost } from './portals.js';
import { SafeHtml } from './safe-html.js';
import { PHONE_MAX_WIDTH, TOAST_LIFE_MS } from './timing.js';
import { type ShownToast, type Toast, type ToastType, useToasts } from './toast-store.js';

/** The notification area, newest last, in the portal. */
export function Toasts() {
  const toasts = useToasts();
  const { portal } = useUiHost();
  const list = useSyncExternalStore(toasts.subscribe, toasts.list);
  const area = useRef<HTMLElement>(null);
  const previousFocus = useRef<HTMLElement | null>(null);
  const { raised, uncover } = useUncovered(area, list.length === 0);

  function rememberOrigin(event: FocusEvent): void {
    const from = event.relatedTarget;
    if (from instanceof HTMLElement && area.current?.contains(from) === false) previousFocus.current = from;
  }

  /** Closing a toast with the keyboard must not lose the focus. */
  function close(id: number): void {
    const holder = document.activeElement?.closest('.so-toast');
    if (holder && area.current?.contains(holder)) {
      const next = area.current.querySelectorAll<HTMLElement>('.so-toast:not(.is-leaving) > button');
      const other = Array.from(next).find((button) => !holder.contains(button));
      (other ?? previousFocus.current)?.focus();
    }
    toasts.close(id);
  }

  return createPortal(
    <section
      className={classes('so-toasts', raised && 'is-raised')}
      ref={area}
      aria-label={__('Notifications', 'security-optimizer')}
      onFocus={rememberOrigin}
      // An open dialog keeps toasts accessible.
      data-top-layer=""
    >
      {list.map((toast) => (
        <ToastCard key={toast.id} toast={toast} onClose={() => close(toast.id)} onDrawn={() => uncover(toast)} />
      ))}
    </section>,
    portal,
  );
}

const ICONS: Record<ToastType, string> = { success: 'check-circle', error: 'error', warning: 'alert', info: 'info' };

export interface ToastCardProps {
  readonly toast: ShownToast;
  readonly onClose: () => void;
  /** Whether it has its text and its final size. */
  readonly onDrawn?: () => void;
}

/**
 * A toast. Its timer pauses while it is hovered or focused. On phones, one with Undo waits until
 * an open dialog has closed, because the dialog's buttons are at the same position.
 */
export function ToastCard({ toast, onClose, onDrawn }: ToastCardProps) {
  const [hovered, setHovered] = useState(false);
  const [focused, setFocused] = useState(false);
  const filled = useFilledLater();
  const latestDrawn = useRef(onDrawn);
  latestDrawn.current = onDrawn;
  useLayoutEffect(() => {
    if (filled) latestDrawn.current?.();
  }, [filled]);
  const { action } = toast;
  const acts = action !== undefined && 'run' in action;
  const behindDialog = useModalOpen() && acts && window.innerWidth <= PHONE_MAX_WIDTH;
  const waiting = hovered || focused;
  useAutoClose(toast.autoClose && !toast.leaving, waiting || behindDialog, onClose);
  const isCalm = toast.type === 'success' || toast.type === 'info';

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hover and focus only pause its timer
    <div
      className={classes(
        'so-toast',
        `so-toast--${toast.type}`,
        acts && 'so-toast--act',
        toast.leaving && 'is-leaving',
        waiting && 'is-held',
      )}
      onMouseEnter={() => setHovered(true)}
      onMouseLeave={() => setHovered(false)}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
    >
      <Icon name={ICONS[toast.type]} />
      <div className="so-toast__text">
        <div role={isCalm ? 'status' : 'alert'}>{filled ? <ToastText toast={toast} /> : null}</div>
        {action !== undefined && 'href' in action ? (
          <div className="so-toast__acts">
            <a className="so-btn so-btn--sm" href={action.href}>
              {action.label}
            </a>
          </div>
        ) : null}
      </div>
      {acts ? (
        <Button
          small
          onClick={() => {
            if (toast.leaving) return;
            onClose();
            action.run();
          }}
        >
          {action.label}
        </Button>
      ) : (
        <IconButton icon="x" label={__('Dismiss', 'security-optimizer')} onClick={onClose} />
      )}
      {toast.autoClose ? <span className="so-toast__life" /> : null}
    </div>
  );
}

function ToastText({ toast }: { readonly toast: ShownToast }) {
  const title = toast.title ?? defaultTitle(toast.type);
  return (
    <>
      {title === null ? <span className="so-vh">{spokenType(toast.type)}</span> : <b>{title}</b>}
      {toast.text === '' ? null : (
        <p>
          <SafeHtml text={toast.text} />
        </p>
      )}
    </>
  );
}

/** Space between a toast and the changed element, in pixels. */
const CLEARANCE = 12;

/**
 * Keeps toasts from covering the changed element.
 *
 * @returns `uncover`, which scrolls the page until the toasts do not cover the changed element; and whether the toasts
 *   must be at the top, because the page can't be scrolled that far
 */
function useUncovered(
  area: RefObject<HTMLElement | null>,
  empty: boolean,
): { readonly raised: boolean; readonly uncover: (toast: Toast) => void } {
  const [raised, setRaised] = useState(false);
  useEffect(() => {
    if (empty) setRaised(false);
  }, [empty]);

  function uncover({ about }: Toast): void {
    const changed =
      about ??
      document.activeElement?.closest('.so-main .so-row, .so-main tr') ??
      document.querySelector('.so-main .so-run');
    if (changed == null) return;
    const getOverlap = () => overlap(area.current, changed, raised);
    const covered = getOverlap();
    if (covered === 0) return;
    window.scrollBy(0, covered);
    if (getOverlap() !== 0) setRaised(!raised);
  }

  return { raised, uncover };
}

/**
 * How far the page must be scrolled so that the toasts do not cover `changed`, in pixels; 0 if they do not. Negative
 * if they are at the top.
 */
function overlap(toasts: Element | null, changed: Element, raised: boolean): number {
  if (toasts === null) return 0;
  const [above, below] = [toasts.getBoundingClientRect(), changed.getBoundingClientRect()];
  const isBeside = above.right <= below.left || above.left >= below.right;
  const apart = below.bottom + CLEARANCE <= above.top || below.top >= above.bottom + CLEARANCE;
  if (isBeside || apart) return 0;
  return raised ? Math.floor(below.top - CLEARANCE - above.bottom) : Math.ceil(below.bottom + CLEARANCE - above.top);
}

function defaultTitle(type: ToastType): string | null {
  if (type === 'success') return __('Success', 'security-optimizer');
  return type === 'error' ? __('Error', 'security-optimizer') : null;
}

/** Text of the icon for screen readers. */
function spokenType(type: ToastType): string {
  return type === 'warning' ? __('Warning', 'security-optimizer') : __('Information', 'security-optimizer');
}

/** Calls `close` after 7 seconds, not counting pauses. */
function useAutoClose(active: boolean, paused: boolean, close: () => void): void {
  const remainingMs = useRef(TOAST_LIFE_MS);
  const latestClose = useRef(close);
  latestClose.current = close;
  useEffect(() => {
    if (!active || paused) return;
    const since = Date.now();
    const timer = setTimeout(() => latestClose.current(), remainingMs.current);
    return () => {
      clearTimeout(timer);
      remainingMs.current = Math.max(0, remainingMs.current - (Date.now() - since));
    };
  }, [active, paused]);
}

/** Long enough for the browser to register the empty live region, shorter than the fade-in. */
const SETTLE_MS = 50;

/**
 * False for a moment after mounting. Screen readers announce changes of a known live region; some skip a region that is
 * inserted with its text.
 */
function useFilledLater(): boolean {
  const [filled, setFilled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setFilled(true), SETTLE_MS);
    return () => clearTimeout(timer);
  }, []);
  return filled;
}
