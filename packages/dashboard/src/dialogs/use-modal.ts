import { type RefObject, useEffect, useRef } from 'react';

/** Modal elements that are open, the topmost last. Only that one takes the keyboard. */
const open: HTMLElement[] = [];

/** What stays readable and within reach while a dialog is open: the messages. */
const TOP_LAYER = '[data-top-layer]';
/** Set on the portal meanwhile: on phones the buttons of a dialog are where messages stand otherwise. */
const MODAL_OPEN = 'data-modal-open';
const FOCUSABLE =
  'a[href], button:not([disabled]), input:not([disabled]), textarea:not([disabled]), iframe, [tabindex]:not([tabindex="-1"])';

/**
 * Makes an element modal while it is drawn: the focus stays inside, everything else is hidden from assistive
 * technology, the page behind does not scroll, and Escape asks to close (pattern "dialog (modal)" of WAI-ARIA).
 * One that opens above another takes over until it is gone.
 *
 * @param frame what covers the page; a child of the portal. The dialog is inside of it
 * @param onEscape null while it must not be closed
 */
export function useModal(
  frame: RefObject<HTMLElement | null>,
  dialog: RefObject<HTMLElement | null>,
  onEscape: (() => void) | null,
): void {
  const onClose = useRef(onEscape);
  onClose.current = onEscape;

  useEffect(() => {
    const [cover, inner] = [frame.current, dialog.current];
    if (cover === null || inner === null) return;
    open.push(inner);
    const showOthers = hideOthers(cover);
    const unlock = open.length === 1 ? lockScrolling() : () => undefined;
    const portal = cover.parentElement;
    portal?.setAttribute(MODAL_OPEN, '');
    const isTop = (): boolean => open[open.length - 1] === inner;
    if (!inner.contains(document.activeElement)) inner.focus({ preventScroll: true });

    function onKeyDown(event: KeyboardEvent): void {
      if (!isTop() || inner === null || event.defaultPrevented) return;
      if (event.key === 'Tab') keepInside(event, inner);
      else if (event.key === 'Escape' && onClose.current !== null) {
        event.preventDefault();
        onClose.current();
      }
    }

    /** The focus went elsewhere by other means, or to nowhere because its element is gone. */
    function onFocusMoved(): void {
      requestAnimationFrame(() => {
        const { activeElement } = document;
        if (inner === null || !isTop() || inner.contains(activeElement)) return;
        if (activeElement?.closest(TOP_LAYER) == null) inner.focus({ preventScroll: true });
      });
    }

    document.addEventListener('keydown', onKeyDown);
    document.addEventListener('focusin', onFocusMoved);
    inner.addEventListener('focusout', onFocusMoved);
    return () => {
      document.removeEventListener('keydown', onKeyDown);
      document.removeEventListener('focusin', onFocusMoved);
      inner.removeEventListener('focusout', onFocusMoved);
      open.splice(open.indexOf(inner), 1);
      if (open.length === 0) portal?.removeAttribute(MODAL_OPEN);
      showOthers();
      unlock();
    };
  }, [frame, dialog]);
}

/** Lets Tab go round inside. */
function keepInside(event: KeyboardEvent, dialog: HTMLElement): void {
  const all = Array.from(dialog.querySelectorAll<HTMLElement>(FOCUSABLE)).filter(({ tabIndex }) => tabIndex >= 0);
  const [first, last] = [all[0], all[all.length - 1]];
  const { activeElement } = document;
  if (first === undefined || last === undefined) event.preventDefault();
  else if (event.shiftKey && (activeElement === first || activeElement === dialog)) {
    event.preventDefault();
    last.focus();
  } else if (!event.shiftKey && activeElement === last) {
    event.preventDefault();
    first.focus();
  }
}

/** Hides what lies beside the element and beside its ancestors. What was hidden before stays so afterwards. */
function hideOthers(element: HTMLElement): () => void {
  const hidden: Element[] = [];
  for (let at: Element | null = element; at !== null && at !== document.body; at = at.parentElement) {
    for (const other of Array.from(at.parentElement?.children ?? [])) {
      const stays = other === at || other.matches(TOP_LAYER) || other.querySelector(TOP_LAYER) !== null;
      if (stays || other.hasAttribute('aria-hidden')) continue;
      other.setAttribute('aria-hidden', 'true');
      hidden.push(other);
    }
  }
  return () => {
    for (const other of hidden) other.removeAttribute('aria-hidden');
  };
}

/** Keeps the page behind where it is, without a jump when its scroll bar goes. */
function lockScrolling(): () => void {
  const root = document.documentElement;
  const { overflow, paddingRight } = root.style;
  const bar = window.innerWidth - root.clientWidth;
  root.style.overflow = 'hidden';
  if (bar > 0) root.style.paddingRight = `${bar}px`;
  return () => {
    root.style.overflow = overflow;
    root.style.paddingRight = paddingRight;
  };
}
