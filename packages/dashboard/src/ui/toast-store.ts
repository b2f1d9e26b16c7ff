import { createContext, useContext } from 'react';
import { __ } from '../i18n/translate.js';
import { TOAST_EXIT_MS } from './timing.js';

export type ToastType = 'success' | 'error' | 'warning' | 'info';

/** The button of a toast: a link, or an action that also closes the toast. */
export type ToastAction =
  | { readonly label: string; readonly href: string }
  | { readonly label: string; readonly run: () => void };

/** A toast. Texts of the server may contain `strong` and links, see `SafeHtml`. */
export interface Toast {
  readonly type: ToastType;
  /** Success and error have default titles. */
  readonly title?: string;
  readonly text: string;
  /** Closes after 7 seconds; otherwise it stays until it is closed. */
  readonly autoClose: boolean;
  /** A later toast with the same key replaces this one. */
  readonly key?: string;
  readonly action?: ToastAction;
  /** The element that has changed. The toast never covers it. Default: the row with the focus. */
  readonly about?: Element | null;
}

export interface ShownToast extends Toast {
  readonly id: number;
  /** The exit animation is running. */
  readonly leaving: boolean;
}

export interface ToastStore {
  subscribe(listener: () => void): () => void;
  /** Oldest first. The array stays the same object until something changes. */
  list(): readonly ShownToast[];
  show(toast: Toast): void;
  /** Starts the exit animation, which then removes the toast. */
  close(id: number): void;
  /** Closes the toast with this key, if there is one. */
  closeKey(key: string): void;
}

/**
 * Creates the toast of a change that switches a protection off, in neutral words.
 *
 * @param text what is off
 * @param undo switches it on again and reports its own success or failure
 */
export function weakenedToast(text: string, undo: () => void): Toast {
  return { ...undoToast({ title: __('Saved', 'security-optimizer'), text, undo }), type: 'info' };
}

/**
 * Creates the toast of a change that can be undone while the toast is visible: 7 seconds, paused while it is hovered
 * or focused.
 *
 * @param title what has happened in a few neutral words: "Blocked for 24 hours", "Feeds are on again"
 * @param text the object, and the consequences; may be empty
 * @param undo reverts the change and reports its own success or failure; called at most once
 */
export function undoToast(change: {
  readonly title: string;
  readonly text?: string;
  readonly undo: () => void;
  readonly about?: Element | null;
}): Toast {
  const { title, text = '', undo, about = null } = change;
  const action = { label: __('Undo', 'security-optimizer'), run: undo };
  return { type: 'success', title, text, autoClose: true, action, about };
}

/** More toasts of quick changes would cover a phone's screen; the oldest ones close early. */
const MOST_SHOWN = 3;

/** The visible toasts. A toast that repeats a visible one replaces it. */
export function createToastStore(): ToastStore {
  let toasts: readonly ShownToast[] = [];
  let nextId = 1;
  const listeners = new Set<() => void>();

  function set(next: readonly ShownToast[]): void {
    toasts = next;
    for (const listener of listeners) listener();
  }

  function close(id: number): void {
    const toast = toasts.find((item) => item.id === id);
    if (toast === undefined || toast.leaving) return;
    set(toasts.map((item) => (item.id === id ? { ...item, leaving: true } : item)));
    setTimeout(() => set(toasts.filter((item) => item.id !== id)), TOAST_EXIT_MS);
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    list: () => toasts,
    show(toast) {
      const others = toasts.filter((item) => !isSame(item, toast));
      set([...others, { ...toast, id: nextId++, leaving: false }]);
      const closing = toasts.filter((item) => item.autoClose && !item.leaving);
      for (const { id } of closing.slice(0, -MOST_SHOWN)) close(id);
    },
    close,
    closeKey(key) {
      for (const item of toasts) if (item.key === key) close(item.id);
    },
  };
}

function isSame(shown: ShownToast, toast: Toast): boolean {
  if (toast.key !== undefined && shown.key === toast.key) return true;
  return shown.type === toast.type && shown.title === toast.title && shown.text === toast.text;
}

export const ToastContext = createContext<ToastStore | null>(null);

/** The visible toasts. */
export function useToasts(): ToastStore {
  const toasts = useContext(ToastContext);
  if (toasts === null) throw new Error('useToasts needs a ToastContext above it.');
  return toasts;
}
