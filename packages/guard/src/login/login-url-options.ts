import type { LoginOptions } from '@security-optimizer/contract/login';
import type { LoginData } from '../wordpress/connector-answers.js';
import type { LoginSettings } from './login-settings.js';

/** The two entries of `login_url`: whole URLs of WordPress's own pages, bare paths of the owner's. */
export function loginUrlOptions(stored: LoginSettings['login_url'], wordpress: LoginData): LoginOptions['login_url'] {
  const { registration, login_url, signup_url } = wordpress;
  return [
    {
      type: 'default',
      label: 'Default',
      login: login_url,
      signup: registration ? signup_url : null,
      selected: stored.type === 'default' ? 1 : 0,
    },
    {
      type: 'custom',
      label: 'Custom',
      login: stored.login,
      signup: registration ? stored.signup : null,
      selected: stored.type === 'custom' ? 1 : 0,
    },
  ];
}

/** Where an administrator sets up the own second factor: below the address at which the log-in is reached now. */
export function twoFactorSetupUrl(stored: LoginSettings['login_url'], homeUrl: string, defaultLogin: string): string {
  const login = stored.type === 'custom' ? `${homeUrl.replace(/\/+$/, '')}/${stored.login}` : defaultLogin;
  return `${login}?action=second-factor-setup`;
}
