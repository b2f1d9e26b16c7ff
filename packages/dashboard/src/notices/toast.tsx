import { messages } from '@security-optimizer/contract/messages';
import { useState } from 'react';
import { classes } from '../components/classes.js';
import { ServerText } from '../components/server-text.js';
import { __, translate } from '../i18n/translate.js';
import { Icon } from '../icons/icon.js';
import type { NoticeType } from './notice.js';
import type { ShownNotice } from './notice-store.js';
import { useAutoClose } from './use-auto-close.js';
import { useFilled } from './use-filled.js';

const ICONS: Record<NoticeType, string> = { success: 'check-circle', error: 'error', warning: 'alert', info: 'info' };

export interface ToastProps {
  readonly notice: ShownNotice;
  readonly onClose: () => void;
}

/** One message. Its life waits while it is hovered or holds the focus. */
export function Toast({ notice, onClose }: ToastProps) {
  const [hovered, setHovered] = useState(false);
  const [focused, setFocused] = useState(false);
  const filled = useFilled();
  const waiting = hovered || focused;
  useAutoClose(notice.autoClose && !notice.leaving, waiting, onClose);
  const isCalm = notice.type === 'success' || notice.type === 'info';

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hover and focus only hold the message, they act on nothing.
    <div
      className={classes('so-toast', `so-toast--${notice.type}`, notice.leaving && 'is-leaving', waiting && 'is-held')}
      onMouseEnter={() => setHovered(true)}
      onMouseLeave={() => setHovered(false)}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
    >
      <Icon name={ICONS[notice.type]} />
      <div className="so-toast__text">
        <div role={isCalm ? 'status' : 'alert'}>{filled ? <ToastText notice={notice} /> : null}</div>
        {notice.action ? (
          <div className="so-toast__acts">
            <a className="so-btn so-btn--sm" href={notice.action.href}>
              {notice.action.label}
            </a>
          </div>
        ) : null}
      </div>
      <button
        type="button"
        className="so-iconbtn"
        aria-label={__('Dismiss', 'security-optimizer')}
        data-dismiss=""
        onClick={onClose}
      >
        <Icon name="x" />
      </button>
      {notice.autoClose ? <span className="so-toast__life" /> : null}
    </div>
  );
}

function ToastText({ notice }: { readonly notice: ShownNotice }) {
  const title = notice.title ?? defaultTitle(notice.type);
  return (
    <>
      {title === null ? <span className="so-vh">{spokenType(notice.type)}</span> : <b>{title}</b>}
      <p>
        <ServerText text={notice.text} />
      </p>
    </>
  );
}

function defaultTitle(type: NoticeType): string | null {
  if (type === 'success') return translate(messages.successTitle);
  return type === 'error' ? translate(messages.errorTitle) : null;
}

/** What the icon says to those who see it. */
function spokenType(type: NoticeType): string {
  return type === 'warning' ? __('Warning', 'security-optimizer') : __('Information', 'security-optimizer');
}
