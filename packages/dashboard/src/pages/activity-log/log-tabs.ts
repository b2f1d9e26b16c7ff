import { __ } from '../../i18n/translate.js';

/** The tabs of the page in their order. Each is the hash that opens it. */
export const TAB_IDS = ['unknown', 'registered', 'blocked', 'weekly-reports', 'log-settings'] as const;
export type TabId = (typeof TAB_IDS)[number];

export function tabText(id: TabId): string {
  switch (id) {
    case 'unknown':
      return __('Unknown', 'security-optimizer');
    case 'registered':
      return __('Registered', 'security-optimizer');
    case 'blocked':
      return __('Blocked', 'security-optimizer');
    case 'weekly-reports':
      return __('Weekly Reports', 'security-optimizer');
    case 'log-settings':
      return __('Log Settings', 'security-optimizer');
  }
}
