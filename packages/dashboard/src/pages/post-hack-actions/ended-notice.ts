import { __ } from '../../i18n/translate.js';
import type { Notice } from '../../notices/notice.js';
import { SESSION_NOTICE } from '../../requests/session-notice.js';

/** Says that an action has ended the own session too, which was its purpose, and offers the way back in. */
export function endedNotice(loginUrl: string): Notice {
  return {
    type: 'info',
    title: __('You are logged out', 'security-optimizer'),
    text: __('Your session has ended like all others. What was started here goes on.', 'security-optimizer'),
    autoClose: false,
    key: SESSION_NOTICE,
    action: { label: __('Log in', 'security-optimizer'), href: loginUrl },
  };
}
