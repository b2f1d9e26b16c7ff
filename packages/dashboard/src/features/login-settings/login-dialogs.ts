import type { ComponentType } from 'react';
import type { KnownLoginOptions } from '../../api/options.js';
import { type OpenDialogs, useDialogs } from '../../forms/use-dialogs.js';
import type { LoginDialogName, LoginDialogProps } from './login-options.js';

type LoadDialog = () => Promise<{ readonly default: ComponentType<LoginDialogProps> }>;

/** The dialogs, each loaded on demand. */
export const loginDialogs: Readonly<Record<LoginDialogName, LoadDialog>> = {
  url: () => import('./login-url-dialog.js'),
  'two-factor': () => import('./two-factor-dialog.js'),
  access: () => import('./login-access-dialog.js'),
  reset: () => import('./two-factor-reset-dialog.js'),
  roles: () => import('./two-factor-roles-dialog.js'),
  usernames: () => import('./usernames-dialog.js'),
  away: () => import('./away-dialog.js'),
};

/** The dialog for a hash of the page's address, if the server knows its option. */
export function findDialog(hash: string, options: KnownLoginOptions): LoginDialogName | null {
  switch (hash) {
    case 'login-url':
      return options.login_url === undefined ? null : 'url';
    case 'login-access':
      return options.login_access === undefined ? null : 'access';
    case 'away-mode':
      return options.away_mode === undefined ? null : 'away';
    case 'two-factor-roles':
      return (options.two_factor_roles ?? []).some(({ required }) => required === 0) ? 'roles' : null;
    case 'rename-users':
      return (options.usernames_data?.admin_matches.length ?? 0) > 0 ? 'usernames' : null;
    default:
      return null;
  }
}

export function useLoginDialogs(): OpenDialogs<LoginDialogName, LoginDialogProps> {
  return useDialogs(loginDialogs);
}
