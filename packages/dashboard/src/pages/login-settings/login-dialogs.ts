import type { ComponentType } from 'react';
import type { KnownLoginOptions } from '../../options/read-login-options.js';

/** What every dialog of the page gets. It is drawn only while the options that it needs are known. */
export interface LoginDialogProps {
  readonly options: KnownLoginOptions;
  readonly store: (change: KnownLoginOptions) => void;
  /** Reads the options again, without a word. */
  readonly readAgain: () => void;
  /** The dialog has played its closing animation and can be taken away. */
  readonly onClosed: () => void;
}

export type LoginDialogName = 'url' | 'access' | 'reset' | 'usernames' | 'away';

type LoadDialog = () => Promise<{ readonly default: ComponentType<LoginDialogProps> }>;

/** The dialogs of the page, each fetched when it is first opened. */
export const loginDialogs: Readonly<Record<LoginDialogName, LoadDialog>> = {
  url: () => import('./login-url-dialog.js'),
  access: () => import('./login-access-dialog.js'),
  reset: () => import('./reset-dialog.js'),
  usernames: () => import('./usernames-dialog.js'),
  away: () => import('./away-dialog.js'),
};

/** The dialog that a hash of the page's address leads to, while the server knows what it changes. */
export function dialogOf(hash: string, options: KnownLoginOptions): LoginDialogName | null {
  switch (hash) {
    case 'login-url':
      return options.login_url === undefined ? null : 'url';
    case 'login-access':
      return options.login_access === undefined ? null : 'access';
    case 'away-mode':
      return options.away_mode === undefined ? null : 'away';
    case 'rename-users':
      return (options.usernames_data?.admin_matches.length ?? 0) > 0 ? 'usernames' : null;
    default:
      return null;
  }
}
