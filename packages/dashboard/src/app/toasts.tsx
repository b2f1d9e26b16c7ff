import { messages } from '@security-optimizer/contract/messages';
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
import type { Notice, NoticeType, ShownNotice } from '../api/notices.js';
import { useServices } from '../api/services.js';
import { __, translate } from '../i18n/translate.js';
import { Button } from '../ui/button.js';
import { classes } from '../ui/dom.js';
import { Icon } from '../ui/icon.js';
import { ServerText } from '../ui/server-text.js';
import { NOTICE_LIFE_MS } from '../ui/times.js';
import { useModalOpen } from '../ui/use-modal.js';
import { PHONE_MAX_WIDTH } from '../ui/widths.js';

/** The notification area, newest last, in the portal. */
export function Toasts() {
  const { notices, portal } = useServices();
  const list = useSyncExternalStore(notices.subscribe, notices.list);
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
    notices.close(id);
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
      {list.map((notice) => (
        <Toast key={notice.id} notice={notice} onClose={() => close(notice.id)} onDrawn={() => uncover(notice)} />
      ))}
    </section>,
    portal,
  );
}

const ICONS: Record<NoticeType, string> = { success: 'check-circle', error: 'error', warning: 'alert', info: 'info' };

export interface ToastProps {
  readonly notice: ShownNotice;
  readonly onClose: () => void;
  /** Whether it has its text and its final size. */
  readonly onDrawn?: () => void;
}

/**
 * A toast. Its timer pauses while it is hovered or focused. On phones, one with Undo waits until
 * an open dialog has closed, because the dialog's buttons are at the same position.
 */
export function Toast({ notice, onClose, onDrawn }: ToastProps) {
  const [hovered, setHovered] = useState(false);
  const [focused, setFocused] = useState(false);
  const filled = useFilledLater();
  const latestDrawn = useRef(onDrawn);
  latestDrawn.current = onDrawn;
  useLayoutEffect(() => {
    if (filled) latestDrawn.current?.();
  }, [filled]);
  const { action } = notice;
  const acts = action !== undefined && 'run' in action;
  const behindDialog = useModalOpen() && acts && window.innerWidth <= PHONE_MAX_WIDTH;
  const waiting = hovered || focused;
  useAutoClose(notice.autoClose && !notice.leaving, waiting || behindDialog, onClose);
  const isCalm = notice.type === 'success' || notice.type === 'info';

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hover and focus only pause its timer
    <div
      className={classes(
        'so-toast',
        `so-toast--${notice.type}`,
        acts && 'so-toast--act',
        notice.leaving && 'is-leaving',
        waiting && 'is-held',
      )}
      onMouseEnter={() => setHovered(true)}
      onMouseLeave={() => setHovered(false)}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
    >
      <Icon name={ICONS[notice.type]} />
      <div className="so-toast__text">
        <div role={isCalm ? 'status' : 'alert'}>{filled ? <ToastText notice={notice} /> : null}</div>
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
            if (notice.leaving) return;
            onClose();
            action.run();
          }}
        >
          {action.label}
        </Button>
      ) : (
        <button type="button" className="so-iconbtn" aria-label={__('Dismiss', 'security-optimizer')} onClick={onClose}>
          <Icon name="x" />
        </button>
      )}
      {notice.autoClose ? <span className="so-toast__life" /> : null}
    </div>
  );
}

function ToastText({ notice }: { readonly notice: ShownNotice }) {
  const title = notice.title ?? defaultTitle(notice.type);
  return (
    <>
      {title === null ? <span className="so-vh">{spokenType(notice.type)}</span> : <b>{title}</b>}
      {notice.text === '' ? null : (
        <p>
          <ServerText text={notice.text} />
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
 * @returns `uncover`, which scrolls the page until the changed element is above the toasts; and whether the toasts
 *   must be at the top, because the page can't be scrolled that far
 */
function useUncovered(
  area: RefObject<HTMLElement | null>,
  empty: boolean,
): { readonly raised: boolean; readonly uncover: (notice: Notice) => void } {
  const [raised, setRaised] = useState(false);
  useEffect(() => {
    if (empty) setRaised(false);
  }, [empty]);

  function uncover({ about }: Notice): void {
    const changed = about ?? document.activeElement?.closest('.so-main .so-row, .so-main tr');
    if (changed == null) return;
    const covered = overlap(area.current, changed);
    if (covered === 0) return;
    window.scrollBy(0, covered);
    if (overlap(area.current, changed) > 0) setRaised(true);
  }

  return { raised, uncover };
}

/** How far the toasts cover `changed`, in pixels; 0 if they do not. */
function overlap(toasts: Element | null, changed: Element): number {
  if (toasts === null) return 0;
  const [above, below] = [toasts.getBoundingClientRect(), changed.getBoundingClientRect()];
  const isBeside = above.right <= below.left || above.left >= below.right;
  const apart = below.bottom + CLEARANCE <= above.top || below.top >= above.bottom + CLEARANCE;
  return isBeside || apart ? 0 : Math.ceil(below.bottom + CLEARANCE - above.top);
}

function defaultTitle(type: NoticeType): string | null {
  if (type === 'success') return translate(messages.successTitle);
  return type === 'error' ? translate(messages.errorTitle) : null;
}

/** Text of the icon for screen readers. */
function spokenType(type: NoticeType): string {
  return type === 'warning' ? __('Warning', 'security-optimizer') : __('Information', 'security-optimizer');
}

/** Calls `close` after 7 seconds, not counting pauses. */
export function useAutoClose(active: boolean, paused: boolean, close: () => void): void {
  const remainingMs = useRef(NOTICE_LIFE_MS);
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
export function useFilledLater(): boolean {
  const [filled, setFilled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setFilled(true), SETTLE_MS);
    return () => clearTimeout(timer);
  }, []);
  return filled;
}
