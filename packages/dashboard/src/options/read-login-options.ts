import type { LoginOptions } from '@security-optimizer/contract/login';
import { type Fields, isFields } from '../data/fields.js';
import { readFlag } from './read-flag.js';

/** Login options that the server knows. An older server may not know all of them. */
export type KnownLoginOptions = Readonly<Partial<LoginOptions>>;

type Readers = { readonly [Name in keyof LoginOptions]: (value: unknown) => LoginOptions[Name] | undefined };

const readers: Readers = {
  sg2fa: readFlag,
  two_factor_app_passwords: readFlag,
  reset_2fa: users,
  disable_usernames: readFlag,
  usernames_data: (value) => {
    if (!isFields(value)) return undefined;
    return { all_users: list(value.all_users, isNamed), admin_matches: users(value.admin_matches) ?? [] };
  },
  login_access: (value) => (Array.isArray(value) ? list(value, isText) : undefined),
  login_attempts: (value) => filled(list(value, isAttempts)),
  login_url: (value) => {
    const entries = list(value, isLoginUrl);
    return entries.some(({ type }) => type === 'default') && entries.some(({ type }) => type === 'custom')
      ? entries
      : undefined;
  },
  away_mode: (value) => (isAwayState(value) ? value : undefined),
  your_address: text,
  two_factor_setup_url: text,
};

/** Reads the answered options. What has not the form that the contract gives it counts as not known. */
export function readLoginOptions(data: unknown): KnownLoginOptions {
  if (!isFields(data)) return {};
  const known: Record<string, unknown> = {};
  for (const [name, read] of Object.entries(readers)) {
    const value = read(data[name]);
    if (value !== undefined) known[name] = value;
  }
  return known as KnownLoginOptions;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function users(value: unknown): LoginOptions['reset_2fa'] | undefined {
  return Array.isArray(value) ? list(value, isUser) : undefined;
}

function list<Item>(value: unknown, isItem: (item: unknown) => item is Item): Item[] {
  return Array.isArray(value) ? value.filter(isItem) : [];
}

function filled<Item>(items: Item[]): Item[] | undefined {
  return items.length > 0 ? items : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isNamed(value: unknown): value is { user_login: string } {
  return isFields(value) && typeof value.user_login === 'string';
}

function isUser(value: unknown): value is LoginOptions['reset_2fa'][number] {
  return isNamed(value) && typeof (value as Fields).ID === 'number';
}

function isAttempts(value: unknown): value is LoginOptions['login_attempts'][number] {
  return isFields(value) && typeof value.value === 'number' && typeof value.label === 'string';
}

function isLoginUrl(value: unknown): value is LoginOptions['login_url'][number] {
  return (
    isFields(value) &&
    (value.type === 'default' || value.type === 'custom') &&
    typeof value.login === 'string' &&
    (value.signup === null || typeof value.signup === 'string')
  );
}

function isAwayState(value: unknown): value is LoginOptions['away_mode'] {
  return isFields(value) && isFields(value.schedule) && typeof value.schedule.type === 'string';
}
