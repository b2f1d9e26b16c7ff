import type { AwayState, LoginOptions } from '@security-optimizer/contract/login';
import type { loginEndpoints } from '@security-optimizer/contract/login-endpoints';
import type { LoginAttempts } from '@security-optimizer/contract/login-limits';
import { loginAttemptOptions } from '../login/login-attempt-options.js';
import type { AwayInput } from '../login/parse-away-schedule.js';
import type { LoginUrlChange } from '../login/set-custom-login-url.js';
import type { UsernamesChange, UsernamesOutcome } from '../login/set-disable-usernames.js';
import type { LoginAccessChange } from '../login/set-login-access.js';
import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import type { CallContext } from './call-context.js';
import type { Handlers } from './handlers.js';

type Caller = { readonly site: SiteConfig; readonly actor: Actor };
type Switch = Caller & { readonly value: 0 | 1 };

/** The use cases behind the page Login Security. Texts are for the owner. */
export interface LoginUseCases {
  readonly fetchLoginOptions: (ask: { site: SiteConfig; caller: string | null }) => Promise<LoginOptions>;
  readonly setLoginAttempts: (change: Caller & { readonly value: LoginAttempts }) => Promise<string>;
  readonly setLoginAccess: (
    change: LoginAccessChange,
  ) => Promise<{ readonly list: readonly string[]; readonly message: string }>;
  readonly setCustomLoginUrl: (
    change: LoginUrlChange,
  ) => Promise<{ readonly options: LoginOptions['login_url']; readonly message: string }>;
  readonly setDisableUsernames: (
    change: UsernamesChange & { readonly visitor: CallContext['visitor'] },
  ) => Promise<UsernamesOutcome>;
  readonly setSecondFactor: (
    change: Switch & { readonly visitor: CallContext['visitor'] },
  ) => Promise<{ readonly setupUrl: string; readonly message: string }>;
  readonly setTwoFactorAppPasswords: (change: Switch) => Promise<string>;
  readonly resetUserSecondFactor: (
    reset: Caller & { readonly user: number; readonly visitor: CallContext['visitor'] },
  ) => Promise<{ readonly enrolled: LoginOptions['reset_2fa']; readonly message: string }>;
  readonly fetchAwayMode: (site: SiteConfig) => Promise<AwayState>;
  readonly setAwayMode: (
    change: Caller & { readonly input: AwayInput },
  ) => Promise<{ readonly state: AwayState; readonly message: string }>;
}

type LoginCall = (typeof loginEndpoints)[number]['name'];

/** Connects each call of the page Login Security with its use case. */
export function createLoginHandlers(useCases: LoginUseCases): Pick<Handlers, LoginCall> {
  return {
    async 'update:login_attempts'({ login_attempts: value }, { site, actor }) {
      const message = await useCases.setLoginAttempts({ site, actor, value });
      return { data: { login_attempts: loginAttemptOptions(value) }, message };
    },
    async 'update:login_access'({ entries, confirm }, { site, actor }) {
      const { list, message } = await useCases.setLoginAccess({ site, actor, entries, confirm: confirm === 1 });
      return { data: { login_access: [...list] }, message };
    },
    async 'update:login_url'({ type, login, signup }, { site, actor }) {
      const change = { site, actor, type, login: login ?? '', signup: signup ?? '' };
      const { options, message } = await useCases.setCustomLoginUrl(change);
      return { data: { login_url: options }, message };
    },
    async 'update:disable_usernames'({ disable_usernames, admin_names = [] }, { site, actor, visitor }) {
      // Names without the switch come from the dialog, which opens when it is being switched on.
      const value = disable_usernames ?? 1;
      const change = { site, actor, value, names: admin_names, visitor };
      const { usernames, setCookies, message } = await useCases.setDisableUsernames(change);
      const data = { disable_usernames: value, ...(usernames && { usernames_data: usernames }) };
      return { data, message, setCookies };
    },
    async 'update:sg2fa'({ sg2fa: value }, { site, actor, visitor }) {
      const { setupUrl, message } = await useCases.setSecondFactor({ site, actor, value, visitor });
      return { data: { sg2fa: value, two_factor_setup_url: setupUrl }, message };
    },
    async 'update:two_factor_app_passwords'({ two_factor_app_passwords: value }, { site, actor }) {
      const message = await useCases.setTwoFactorAppPasswords({ site, actor, value });
      return { data: { two_factor_app_passwords: value }, message };
    },
    async resetUserTwoFactor({ id }, { site, actor, visitor }) {
      const { enrolled, message } = await useCases.resetUserSecondFactor({ site, actor, user: id, visitor });
      return { data: { reset_2fa: enrolled }, message };
    },
    async fetchAwayMode(_input, { site }) {
      return { data: awayAnswer(await useCases.fetchAwayMode(site)), message: '' };
    },
    async 'update:away_mode'(input, { site, actor }) {
      const { state, message } = await useCases.setAwayMode({ site, actor, input });
      return { data: awayAnswer(state), message };
    },
  };
}

function awayAnswer(state: AwayState) {
  return { ...state.schedule, away_mode: state };
}
