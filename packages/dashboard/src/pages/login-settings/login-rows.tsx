import { __, _n, sprintf } from '../../i18n/translate.js';
import type { KnownLoginOptions } from '../../options/read-login-options.js';
import { isCustomLoginUrl } from '../../protection/essentials.js';
import { AttemptsRow } from './attempts-row.js';
import { ConfigureRow } from './configure-row.js';
import type { LoginDialogName } from './login-dialogs.js';
import { LoginSwitchRow } from './login-switch-row.js';
import { type LoginChanges, loginRequestName } from './use-login-changes.js';

export interface LoginRowsProps extends LoginChanges {
  readonly stored: KnownLoginOptions;
  readonly shown: KnownLoginOptions;
  readonly onOpen: (name: LoginDialogName) => void;
}

/** The rows of Login Settings in the order of the specification. A row that the server does not know is left out. */
export function LoginRows({ stored, shown, changes, toggle, setAttempts, onOpen }: LoginRowsProps) {
  const { login_url, login_access, login_attempts, usernames_data } = shown;
  const matches = usernames_data?.admin_matches.length ?? 0;
  const common = { stored, shown, changes };

  /** Switching it on while administrators have such names asks for new ones first, and sends nothing. */
  function toggleUsernames(wanted: 0 | 1): void {
    if (wanted === 1 && matches > 0) onOpen('usernames');
    else toggle('disable_usernames', wanted);
  }

  return (
    <>
      {login_url === undefined ? null : (
        <ConfigureRow
          icon="link"
          title={__('Custom Login URL', 'security-optimizer')}
          help={__(
            'Bots look for your login page at /wp-admin. Move it to an address that only your team knows.',
            'security-optimizer',
          )}
          on={isCustomLoginUrl(shown)}
          recommended={!isCustomLoginUrl(shown)}
          onConfigure={() => onOpen('url')}
        />
      )}
      {login_access === undefined ? null : (
        <ConfigureRow
          icon="gate"
          title={__('Login Access', 'security-optimizer')}
          help={__(
            'Allow logins only from the IP addresses you list. An empty list lets everyone try.',
            'security-optimizer',
          )}
          on={login_access.length > 0}
          value={accessText(login_access.length)}
          onConfigure={() => onOpen('access')}
        />
      )}
      <LoginSwitchRow
        {...common}
        field="sg2fa"
        anchor="two-factor"
        icon="phone"
        essential
        title={__('Two-factor Authentication for Admin & Editors Users', 'security-optimizer')}
        help={<TwoFactorHelp isOn={stored.sg2fa === 1} onReset={() => onOpen('reset')} />}
        onToggle={(wanted) => toggle('sg2fa', wanted)}
      />
      {stored.sg2fa === 1 ? (
        <LoginSwitchRow
          {...common}
          field="two_factor_app_passwords"
          anchor="application-passwords"
          icon="password"
          title={__('Application Passwords', 'security-optimizer')}
          help={__(
            'Apps of administrators and editors may log in with application passwords, without a code.',
            'security-optimizer',
          )}
          onToggle={(wanted) => toggle('two_factor_app_passwords', wanted)}
        />
      ) : null}
      <LoginSwitchRow
        {...common}
        field="disable_usernames"
        anchor="common-usernames"
        icon="name-tag"
        essential
        title={__('Disable Common Usernames', 'security-optimizer')}
        help={
          <UsernamesHelp matches={stored.disable_usernames === 1 ? matches : 0} onRename={() => onOpen('usernames')} />
        }
        onToggle={toggleUsernames}
      />
      {login_attempts === undefined ? null : (
        <AttemptsRow
          options={shown}
          change={changes[loginRequestName('login_attempts')]}
          onChange={(value) => setAttempts(stored, value)}
        />
      )}
    </>
  );
}

function accessText(count: number): string {
  if (count === 0) return __('Open to all', 'security-optimizer');
  /* translators: %d: number of IP addresses */
  return sprintf(_n('%d address', '%d addresses', count, 'security-optimizer'), count);
}

function TwoFactorHelp({ isOn, onReset }: { readonly isOn: boolean; readonly onReset: () => void }) {
  return (
    <>
      {__('Administrators and editors confirm each login with a code from their phone.', 'security-optimizer')}{' '}
      <strong>{__('They set it up at their next login.', 'security-optimizer')}</strong>
      {isOn ? (
        <>
          {' '}
          <button type="button" className="so-link" onClick={onReset}>
            {__('Reset it for a user', 'security-optimizer')}
          </button>
        </>
      ) : null}
    </>
  );
}

function UsernamesHelp({ matches, onRename }: { readonly matches: number; readonly onRename: () => void }) {
  return (
    <>
      {__(
        'Names like “admin” are guessed first. Nobody can register one, and you rename the ones you have.',
        'security-optimizer',
      )}
      {matches > 0 ? (
        <>
          {' '}
          <button type="button" className="so-link" onClick={onRename}>
            {/* translators: %d: number of users */}
            {sprintf(_n('Rename %d user', 'Rename %d users', matches, 'security-optimizer'), matches)}
          </button>
        </>
      ) : null}
    </>
  );
}
