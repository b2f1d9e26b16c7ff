import { loginRows, type SettingRow } from '@security-optimizer/contract/settings/catalogue';
import { type ReactNode, useId } from 'react';
import { __, _n, sprintf, translate } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { SettingRow as Row } from '../../ui/setting-row.js';
import { useSetting } from '../settings/change-setting.js';
import { isCustomLoginUrl, isTwoFactorWaiting } from '../settings/essentials.js';
import { SettingRows, SettingSelect, SettingSwitch } from '../settings/setting-controls.js';
import { type LoginSettings, loginSettings } from '../settings/settings-query.js';
import { useKnownSettings } from '../settings/use-settings.js';
import type { LoginDialogName } from './login-dialogs.js';
import { LockedNow, LoginAddress, TwoFactorValue } from './login-values.js';
import { roleName, useTwoFactorChange } from './two-factor-setup.js';

export interface LoginRowsProps {
  readonly onOpen: (name: LoginDialogName) => void;
}

/** The rows of Login Settings in the order of the specification. Options that the server does not know are omitted. */
export function LoginRows({ onOpen }: LoginRowsProps) {
  const settings = useKnownSettings(loginSettings);
  const { login_url, login_access, sg2fa } = settings;
  const isCustom = isCustomLoginUrl(settings);

  return (
    <>
      {login_url === undefined ? null : (
        <ConfigureRow
          icon="link"
          title={__('Custom Login URL', 'security-optimizer')}
          help={
            isCustom
              ? __(
                  'Bots look for your login page at /wp-admin. Yours is at an address that only your team knows.',
                  'security-optimizer',
                )
              : __(
                  'Bots look for your login page at /wp-admin. Move it to an address that only your team knows.',
                  'security-optimizer',
                )
          }
          on={isCustom}
          line={isCustom ? <LoginAddress settings={settings} /> : undefined}
          recommended={!isCustom}
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
      <SettingRows
        source={loginSettings}
        rows={loginRows}
        own={{
          sg2fa: <TwoFactorRow key="sg2fa" onOpen={onOpen} />,
          disable_usernames: <UsernamesRow key="disable_usernames" onOpen={onOpen} />,
          login_attempts: <AttemptsRow key="login_attempts" />,
          ...(sg2fa !== 1 && { two_factor_app_passwords: null }),
        }}
      />
    </>
  );
}

function findRow(field: (typeof loginRows)[number]['field']): SettingRow {
  return loginRows.find((row) => row.field === field) as SettingRow;
}

/** Two-factor authentication. If the users who would be logged out are known, a dialog lists them first. */
function TwoFactorRow({ onOpen }: LoginRowsProps) {
  const settings = useKnownSettings(loginSettings);
  const { sg2fa, two_factor_users: users } = settings;
  const ask = users ? () => onOpen('two-factor') : null;
  const control = useSetting(loginSettings, findRow('sg2fa'), useTwoFactorChange(ask));
  return (
    <SettingSwitch
      control={control}
      help={<TwoFactorHelp stored={settings} onOpen={onOpen} />}
      tile={isTwoFactorWaiting(settings) ? 'warn' : undefined}
      value={sg2fa === 1 && users ? <TwoFactorValue settings={settings} /> : undefined}
      ask={(wanted) => {
        if (wanted === 1) ask?.();
        return wanted === 1 && ask !== null;
      }}
    />
  );
}

/** Common usernames. While administrators have some, a dialog asks for new ones first. */
function UsernamesRow({ onOpen }: LoginRowsProps) {
  const { disable_usernames, usernames_data } = useKnownSettings(loginSettings);
  const matches = usernames_data?.admin_matches.length ?? 0;
  const control = useSetting(loginSettings, findRow('disable_usernames'));
  const rename = (): void => onOpen('usernames');
  return (
    <SettingSwitch
      control={control}
      help={<UsernamesHelp matches={disable_usernames === 1 ? matches : 0} onRename={rename} />}
      ask={(wanted) => {
        const isDue = wanted === 1 && matches > 0;
        if (isDue) rename();
        return isDue;
      }}
    />
  );
}

/** Limit Login Attempts: number of wrong passwords that locks out an address. */
function AttemptsRow() {
  const { locked_addresses: locked = 0 } = useKnownSettings(loginSettings);
  const control = useSetting(loginSettings, findRow('login_attempts'));
  return (
    <SettingSelect
      control={control}
      value={control.shown > 0 && locked > 0 ? <LockedNow count={locked} /> : undefined}
    />
  );
}

function accessText(count: number): string {
  if (count === 0) return __('Open to all', 'security-optimizer');
  /* translators: %d: number of IP addresses */
  return sprintf(_n('%d address', '%d addresses', count, 'security-optimizer'), count);
}

function TwoFactorHelp({ stored, onOpen }: LoginRowsProps & { readonly stored: LoginSettings }) {
  const choice = (stored.two_factor_roles ?? []).filter(({ required }) => required === 0);
  const chosen = choice.filter(({ selected }) => selected === 1);
  return (
    <>
      {translate(findRow('sg2fa').help)}{' '}
      {chosen.length === 0 ? null : (
        <>
          {/* translators: %s: names of roles */}
          {sprintf(__('So do these roles: %s.', 'security-optimizer'), chosen.map(roleName).join(', '))}{' '}
        </>
      )}
      {stored.sg2fa === 1 && stored.two_factor_users ? null : (
        <strong>{__('They set it up at their next login.', 'security-optimizer')}</strong>
      )}
      <span className="so-links">
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
      </span>
    </>
  );
}

function UsernamesHelp({ matches, onRename }: { readonly matches: number; readonly onRename: () => void }) {
  return (
    <>
      {translate(findRow('disable_usernames').help)}
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

interface ConfigureRowProps {
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
function ConfigureRow(props: ConfigureRowProps) {
  const { icon, title, help, on, recommended, value, line, onConfigure } = props;
  return (
    <Row
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
    </Row>
  );
}
