import { NOTICE_EXIT_MS } from '@security-optimizer/contract/limits';
import type { Notice } from './notice.js';

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
  /** Starts the exit; the notice is gone when its animation has ended. */
  close(id: number): void;
  /** Closes the notice that was shown with this key, if it is still there. */
  closeKey(key: string): void;
}

/** The messages on the screen. A message that is already there is not shown twice: the newer one replaces it. */
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
