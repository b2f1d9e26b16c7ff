import { type RefObject, useLayoutEffect, useRef, useSyncExternalStore } from 'react';

/** Open modal elements, the topmost last. Only that one handles the keyboard. */
const open: HTMLElement[] = [];
/** Called when a modal opens or closes. */
const watchers = new Set<() => void>();

function watch(listener: () => void): () => void {
  watchers.add(listener);
  return () => watchers.delete(listener);
}

/** Whether any modal is open. */
export function useModalOpen(): boolean {
  return useSyncExternalStore(watch, () => open.length > 0);
}

/** Elements that stay accessible while a dialog is open: the toasts. */
const TOP_LAYER = '[data-top-layer]';
/** Set on the portal while a dialog is open; on phones toasts then move away from its buttons. */
const MODAL_OPEN = 'data-modal-open';
const FOCUSABLE =
  'a[href], button:not([disabled]), input:not([disabled]), textarea:not([disabled]), iframe, [tabindex]:not([tabindex="-1"])';

/**
 * Makes an element modal while it is mounted: traps the focus, hides the rest from assistive technology, locks
 * scrolling, and calls `onEscape` (WAI-ARIA pattern "dialog (modal)"). Modals can be nested.
 *
 * @param frame covers the page; a child of the portal that contains the dialog
 * @param onEscape null while the dialog must not be closed
 */
export function useModal(
  frame: RefObject<HTMLElement | null>,
  dialog: RefObject<HTMLElement | null>,
  onEscape: (() => void) | null,
): void {
  const onClose = useRef(onEscape);
  onClose.current = onEscape;

  // Not after the paint: a key pressed until then would act on the page below.
  useLayoutEffect(() => {
    const [cover, inner] = [frame.current, dialog.current];
    if (cover === null || inner === null) return;
    open.push(inner);
    for (const watcher of watchers) watcher();
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

    /** Called when the focus leaves the dialog or its element is removed. */
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
      for (const watcher of watchers) watcher();
      showOthers();
      unlock();
    };
  }, [frame, dialog]);
}

/** Keeps Tab inside the dialog. */
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

/** Hides the siblings of the element and of its ancestors, and returns a function that shows them again. */
function hideOthers(element: HTMLElement): () => void {
  const hidden: Element[] = [];
  for (let at: Element | null = element; at !== null && at !== document.body; at = at.parentElement) {
    for (const other of Array.from(at.parentElement?.children ?? [])) {
      const isVisible = other === at || other.matches(TOP_LAYER) || other.querySelector(TOP_LAYER) !== null;
      if (isVisible || other.hasAttribute('aria-hidden')) continue;
      other.setAttribute('aria-hidden', 'true');
      hidden.push(other);
    }
  }
  return () => {
    for (const other of hidden) other.removeAttribute('aria-hidden');
  };
}

/**
 * Locks scrolling without a jump when the scroll bar disappears. The style sheets of wp-admin set the body's overflow on
 * phones. It applies to the window only while that of the root element is `visible` (CSS Overflow 3, section 3.3); the
 * body would become a scroll container, and the window would return to the top.
 */
function lockScrolling(): () => void {
  const { documentElement: root, body } = document;
  const { overflow, paddingRight } = root.style;
  const bodyOverflow = body.style.overflow;
  const bar = window.innerWidth - root.clientWidth;
  root.style.overflow = 'hidden';
  body.style.overflow = 'visible';
  if (bar > 0) root.style.paddingRight = `${bar}px`;
  return () => {
    root.style.overflow = overflow;
    body.style.overflow = bodyOverflow;
    root.style.paddingRight = paddingRight;
  };
}
