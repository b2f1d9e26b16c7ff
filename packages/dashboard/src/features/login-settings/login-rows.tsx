import { formatRole } from '@security-optimizer/contract/activity/event-values';
import type { LoginOptions } from '@security-optimizer/contract/login/schemas';
import { settingRequestName } from '@security-optimizer/contract/settings/endpoints';
import { type ReactNode, useId, useRef } from 'react';
import { __, _n, sprintf, translate } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import type { TileState } from '../../ui/icon.js';
import { Select } from '../../ui/select.js';
import { SettingRow, ToggleRow } from '../../ui/setting-row.js';
import type { ChangeState, Changes } from '../settings/change-setting.js';
import { isCustomLoginUrl, isTwoFactorComplete, selectedAttempts } from '../settings/essentials.js';
import type { LoginSettings } from '../settings/settings-query.js';
import { notSavedText } from '../settings/settings-section.js';
import type { LoginChanges, LoginDialogName, LoginSwitch } from './login-changes.js';
import { LockedNow, LoginAddress, TwoFactorValue } from './login-values.js';

export interface LoginRowsProps extends LoginChanges {
  readonly stored: LoginSettings;
  readonly shown: LoginSettings;
  readonly onOpen: (name: LoginDialogName) => void;
}

/** The rows of Login Settings in the order of the specification. Options that the server does not know are omitted. */
export function LoginRows({ stored, shown, changes, toggle, setAttempts, onOpen }: LoginRowsProps) {
  const { login_url, login_access, login_attempts, usernames_data } = shown;
  const matches = usernames_data?.admin_matches.length ?? 0;
  const common = { stored, shown, changes };

  /** While administrators have common usernames, a dialog asks for new ones first. */
  function toggleUsernames(wanted: 0 | 1): void {
    if (wanted === 1 && matches > 0) onOpen('usernames');
    else toggle('disable_usernames', wanted);
  }

  /** If the users who would be logged out are known, a dialog lists them first. */
  function toggleTwoFactor(wanted: 0 | 1): void {
    if (wanted === 1 && stored.two_factor_users) onOpen('two-factor');
    else toggle('sg2fa', wanted);
  }

  return (
    <>
      {login_url === undefined ? null : (
        <ConfigureRow
          icon="link"
          title={__('Custom Login URL', 'security-optimizer')}
          help={
            isCustomLoginUrl(shown)
              ? __(
                  'Bots look for your login page at /wp-admin. Yours is at an address that only your team knows.',
                  'security-optimizer',
                )
              : __(
                  'Bots look for your login page at /wp-admin. Move it to an address that only your team knows.',
                  'security-optimizer',
                )
          }
          on={isCustomLoginUrl(shown)}
          line={isCustomLoginUrl(shown) ? <LoginAddress settings={shown} /> : undefined}
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
        help={<TwoFactorHelp stored={stored} onOpen={onOpen} />}
        tile={stored.sg2fa === 1 && !isTwoFactorComplete(stored) ? 'warn' : undefined}
        value={stored.sg2fa === 1 && stored.two_factor_users ? <TwoFactorValue settings={stored} /> : undefined}
        onToggle={toggleTwoFactor}
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
          settings={shown}
          change={changes[settingRequestName('login_attempts')]}
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

function TwoFactorHelp({ stored, onOpen }: Pick<LoginRowsProps, 'stored' | 'onOpen'>) {
  const choice = (stored.two_factor_roles ?? []).filter(({ required }) => required === 0);
  const chosen = choice.filter(({ selected }) => selected === 1);
  return (
    <>
      {__('Administrators and editors confirm each login with a code from their phone.', 'security-optimizer')}{' '}
      {chosen.length === 0 ? null : (
        <>
          {/* translators: %s: names of roles */}
          {sprintf(__('So do these roles: %s.', 'security-optimizer'), chosen.map(roleName).join(', '))}{' '}
        </>
      )}
      {stored.sg2fa === 1 && stored.two_factor_users ? null : (
        <strong>{__('They set it up at their next login.', 'security-optimizer')}</strong>
      )}
      {choice.length === 0 ? null : (
        <>
          {' '}
          <button type="button" className="so-link" onClick={() => onOpen('roles')}>
            {__('Choose more roles', 'security-optimizer')}
          </button>
        </>
      )}
      {stored.sg2fa === 1 ? (
        <>
          {' '}
          <button type="button" className="so-link" onClick={() => onOpen('reset')}>
            {__('Reset it for a user', 'security-optimizer')}
          </button>
        </>
      ) : null}
    </>
  );
}

/** Name of a role: translated for roles of WordPress, as stored for those of plugins. */
export function roleName({ role, name }: LoginOptions['two_factor_roles'][number]): string {
  const translated = formatRole(role, translate);
  return translated === role ? name : translated;
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

export interface ConfigureRowProps {
  readonly icon: string;
  readonly title: string;
  readonly help: string;
  readonly on: boolean;
  readonly recommended?: boolean;
  /** The current state in a few words. */
  readonly value?: string;
  /** Shown below the help, see `SettingRow`. */
  readonly line?: ReactNode;
  readonly onConfigure: () => void;
}

/** A setting that is changed in a dialog. */
export function ConfigureRow(props: ConfigureRowProps) {
  const { icon, title, help, on, recommended, value, line, onConfigure } = props;
  return (
    <SettingRow
      id={useId()}
      icon={icon}
      state={on ? 'on' : 'off'}
      title={title}
      help={help}
      recommended={recommended ?? false}
      value={line}
    >
      {value === undefined ? null : <span className="so-row__value">{value}</span>}
      {/* translators: %s: name of a setting */}
      <Button onClick={onConfigure} aria-label={sprintf(__('Configure: %s', 'security-optimizer'), title)}>
        {__('Configure', 'security-optimizer')}
      </Button>
    </SettingRow>
  );
}

export interface LoginSwitchRowProps {
  readonly field: LoginSwitch;
  readonly anchor: string;
  readonly icon: string;
  readonly title: string;
  readonly help: ReactNode;
  readonly tile?: TileState | undefined;
  readonly value?: ReactNode;
  readonly essential?: boolean;
  readonly stored: LoginSettings;
  /** The settings including pending changes. */
  readonly shown: LoginSettings;
  readonly changes: Changes<LoginSettings>;
  readonly onToggle: (wanted: 0 | 1) => void;
}

/** A row with a switch; hidden if the server does not know the setting. */
export function LoginSwitchRow(props: LoginSwitchRowProps) {
  const { field, icon, title, help, essential = false, stored, shown, changes, onToggle } = props;
  const value = shown[field];
  const change = changes[settingRequestName(field)];
  if (value === undefined) return null;
  return (
    <ToggleRow
      anchor={props.anchor}
      icon={icon}
      title={title}
      help={help}
      on={value === 1}
      pending={change?.state === 'saving'}
      recommended={essential && value === 0}
      tile={props.tile}
      value={props.value}
      error={change?.state === 'failed' ? notSavedText(stored[field] ?? 0) : undefined}
      onToggle={() => onToggle(value === 1 ? 0 : 1)}
      onRetry={() => onToggle(change?.target[field] ?? value)}
    />
  );
}

export interface AttemptsRowProps {
  /** The settings including pending changes. */
  readonly settings: LoginSettings;
  readonly change: ChangeState<LoginSettings> | undefined;
  readonly onChange: (value: number) => void;
}

/** Limit Login Attempts: number of wrong passwords that locks out an address. */
export function AttemptsRow({ settings, change, onChange }: AttemptsRowProps) {
  const id = useId();
  const select = useRef<HTMLButtonElement>(null);
  const value = selectedAttempts(settings);
  const pending = change?.state === 'saving';
  const failed = change?.state === 'failed' ? change : null;
  const title = __('Limit Login Attempts', 'security-optimizer');

  function retry(): void {
    select.current?.focus();
    if (failed !== null) onChange(selectedAttempts(failed.target));
  }

  return (
    <SettingRow
      id={id}
      anchor="login-attempts"
      icon="timer"
      state={value > 0 ? 'on' : 'off'}
      title={title}
      help={__(
        'Too many wrong passwords block the IP address for 1 hour, then 24 hours, then 7 days.',
        'security-optimizer',
      )}
      recommended={value === 0}
      pending={pending}
      value={
        value > 0 && (settings.locked_addresses ?? 0) > 0 ? (
          <LockedNow count={settings.locked_addresses ?? 0} />
        ) : undefined
      }
      error={
        failed === null
          ? undefined
          : __('We couldn’t save this. The limit is what it was before.', 'security-optimizer')
      }
      onRetry={retry}
    >
      {pending ? (
        <span className="so-row__value">
          <span className="so-spin" /> {__('Saving…', 'security-optimizer')}
        </span>
      ) : null}
      <Select
        ref={select}
        auto
        label={title}
        aria-describedby={value === 0 ? `${id}-tag ${id}-help` : `${id}-help`}
        pending={pending}
        value={value}
        options={(settings.login_attempts ?? []).map((option) => ({ value: option.value, text: toLabel(option) }))}
        onChange={onChange}
      />
    </SettingRow>
  );
}

/** Expands a purely numeric label; keeps any other label of the server. */
function toLabel({ value, label }: { readonly value: number; readonly label: string }): string {
  if (label !== String(value)) return translate(label);
  /* translators: %d: number of wrong passwords */
  return sprintf(_n('%d attempt', '%d attempts', value, 'security-optimizer'), value);
}
