import { __ } from '../i18n/translate.js';
import { NOTICE_EXIT_MS } from '../ui/times.js';

export type NoticeType = 'success' | 'error' | 'warning' | 'info';

/** The button of a notice: a link, or an action that also closes the notice. */
export type NoticeAction =
  | { readonly label: string; readonly href: string }
  | { readonly label: string; readonly run: () => void };

/** A toast. Texts of the server may contain `strong` and links, see `ServerText`. */
export interface Notice {
  readonly type: NoticeType;
  /** Success and error have default titles. */
  readonly title?: string;
  readonly text: string;
  /** Closes after 7 seconds; otherwise it stays until it is closed. */
  readonly autoClose: boolean;
  /** A later notice with the same key replaces this one. */
  readonly key?: string;
  readonly action?: NoticeAction;
  /** The element that has changed. The notice never covers it. Default: the row with the focus. */
  readonly about?: Element | null;
}

export interface ShownNotice extends Notice {
  readonly id: number;
  /** The exit animation is running. */
  readonly leaving: boolean;
}

export interface NoticeStore {
  subscribe(listener: () => void): () => void;
  /** Oldest first. The array stays the same object until something changes. */
  list(): readonly ShownNotice[];
  show(notice: Notice): void;
  /** Starts the exit animation, which then removes the notice. */
  close(id: number): void;
  /** Closes the notice with this key, if there is one. */
  closeKey(key: string): void;
}

/**
 * Creates the notice of a change that switches a protection off, in neutral words.
 *
 * @param text what is off
 * @param undo switches it on again and reports its own success or failure
 */
export function weakenedNotice(text: string, undo: () => void): Notice {
  return { ...undoNotice({ title: __('Saved', 'security-optimizer'), text, undo }), type: 'info' };
}

/**
 * Creates the notice of a change that can be undone while the notice is visible: 7 seconds, paused while it is hovered
 * or focused.
 *
 * @param title what has happened in a few neutral words: "Blocked for 24 hours", "Feeds are on again"
 * @param text the object, and the consequences; may be empty
 * @param undo reverts the change and reports its own success or failure; called at most once
 */
export function undoNotice(change: {
  readonly title: string;
  readonly text?: string;
  readonly undo: () => void;
  readonly about?: Element | null;
}): Notice {
  const { title, text = '', undo, about = null } = change;
  const action = { label: __('Undo', 'security-optimizer'), run: undo };
  return { type: 'success', title, text, autoClose: true, action, about };
}

/** The visible notices. A notice that repeats a visible one replaces it. */
export function createNoticeStore(): NoticeStore {
  let notices: readonly ShownNotice[] = [];
  let nextId = 1;
  const listeners = new Set<() => void>();

  function set(next: readonly ShownNotice[]): void {
    notices = next;
    for (const listener of listeners) listener();
  }

  function close(id: number): void {
    const notice = notices.find((item) => item.id === id);
    if (notice === undefined || notice.leaving) return;
    set(notices.map((item) => (item.id === id ? { ...item, leaving: true } : item)));
    setTimeout(() => set(notices.filter((item) => item.id !== id)), NOTICE_EXIT_MS);
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    list: () => notices,
    show(notice) {
      const others = notices.filter((item) => !isSame(item, notice));
      set([...others, { ...notice, id: nextId++, leaving: false }]);
    },
    close,
    closeKey(key) {
      for (const item of notices) if (item.key === key) close(item.id);
    },
  };
}

function isSame(shown: ShownNotice, notice: Notice): boolean {
  if (notice.key !== undefined && shown.key === notice.key) return true;
  return shown.type === notice.type && shown.title === notice.title && shown.text === notice.text;
}
