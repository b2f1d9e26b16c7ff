import type { ComponentType } from 'react';
import { type DialogProps, type OpenDialogs, useDialogs } from '../../ui/lazy.js';
import type { LoginSettings } from '../settings/settings-query.js';

export type LoginDialogName = 'url' | 'two-factor' | 'access' | 'reset' | 'roles' | 'usernames' | 'away';

type LoadDialog = () => Promise<{ readonly default: ComponentType<DialogProps> }>;

/** The dialogs, each loaded on demand. They are opened only while the settings are known. */
const loginDialogs: Readonly<Record<LoginDialogName, LoadDialog>> = {
  url: () => import('./login-url-dialog.js'),
  'two-factor': () => import('./two-factor-dialog.js'),
  access: () => import('./login-access-dialog.js'),
  reset: () => import('./two-factor-reset-dialog.js'),
  roles: () => import('./two-factor-roles-dialog.js'),
  usernames: () => import('./usernames-dialog.js'),
  away: () => import('./away-dialog.js'),
};

/** The dialog for a hash of the page's address, if the server knows its setting. */
export function findDialog(hash: string, settings: LoginSettings): LoginDialogName | null {
  switch (hash) {
    case 'login-url':
      return settings.login_url === undefined ? null : 'url';
    case 'login-access':
      return settings.login_access === undefined ? null : 'access';
    case 'away-mode':
      return settings.away_mode === undefined ? null : 'away';
    case 'two-factor-roles':
      return (settings.two_factor_roles ?? []).some(({ required }) => required === 0) ? 'roles' : null;
    case 'rename-users':
      return (settings.usernames_data?.admin_matches.length ?? 0) > 0 ? 'usernames' : null;
    default:
      return null;
  }
}

export function useLoginDialogs(): OpenDialogs<LoginDialogName, DialogProps> {
  return useDialogs(loginDialogs);
}
