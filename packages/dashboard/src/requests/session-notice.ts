import { __ } from '../i18n/translate.js';
import type { Notice } from '../notices/notice.js';

/** Key of the notice; there is one session, so there is one notice about it. */
export const SESSION_NOTICE = 'session';

/** Says that WordPress has ended the session and offers the way back in. */
export function sessionNotice(loginUrl: string): Notice {
  return {
    type: 'error',
    title: __('You are logged out', 'security-optimizer'),
    text: __('WordPress has ended your session, so nothing was saved. Log in and try again.', 'security-optimizer'),
    autoClose: false,
    key: SESSION_NOTICE,
    action: { label: __('Log in', 'security-optimizer'), href: loginUrl },
  };
}
