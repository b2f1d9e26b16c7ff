import { __ } from '../i18n/translate.js';

/** What a row with a switch says when its change was not saved. */
export function notSavedText(stored: 0 | 1): string {
  return stored === 1
    ? __('We couldn’t save this. The option is still on.', 'security-optimizer')
    : __('We couldn’t save this. The option is still off.', 'security-optimizer');
}
