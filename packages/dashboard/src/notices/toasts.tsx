import { type FocusEvent, useRef, useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
import { __ } from '../i18n/translate.js';
import { useServices } from '../services.js';
import { Toast } from './toast.js';

/** The notification area, newest message below. It lives in the portal, outside the page. */
export function Toasts() {
  const { notices, portal } = useServices();
  const list = useSyncExternalStore(notices.subscribe, notices.list);
  const area = useRef<HTMLElement>(null);
  const cameFrom = useRef<HTMLElement | null>(null);

  function rememberOrigin(event: FocusEvent): void {
    const from = event.relatedTarget;
    if (from instanceof HTMLElement && area.current?.contains(from) === false) cameFrom.current = from;
  }

  /** Closing a message with the keyboard must not throw the focus away. */
  function close(id: number): void {
    const holder = document.activeElement?.closest('.so-toast');
    if (holder && area.current?.contains(holder)) {
      const next = area.current.querySelectorAll<HTMLElement>('.so-toast:not(.is-leaving) [data-dismiss]');
      const other = Array.from(next).find((button) => !holder.contains(button));
      (other ?? cameFrom.current)?.focus();
    }
    notices.close(id);
  }

  return createPortal(
    <section
      className="so-toasts"
      ref={area}
      aria-label={__('Notifications', 'security-optimizer')}
      onFocus={rememberOrigin}
      // An open dialog leaves messages readable and within reach.
      data-top-layer=""
    >
      {list.map((notice) => (
        <Toast key={notice.id} notice={notice} onClose={() => close(notice.id)} />
      ))}
    </section>,
    portal,
  );
}
