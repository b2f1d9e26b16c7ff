import {
  isReservedLoginPath,
  LOGIN_PATH_MAX,
  LOGIN_PATH_MIN,
  LOGIN_PATH_PATTERN,
} from '@security-optimizer/contract/login/limits';
import type { LoginOptions } from '@security-optimizer/contract/login/schemas';
import { messages } from '@security-optimizer/contract/messages';
import type { ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { toPlainText } from '@security-optimizer/contract/typed-text';
import { ApiError } from '../lib/api-error.js';
import type { LoginSettings } from '../rules/login-policy.js';
import type { Actor } from '../settings/audit-store.js';
import { changeSettings, type SettingChangeContext } from '../settings/change-settings.js';
import { listFolderAddresses, type SiteConfig, type SiteId, type SitePaths } from '../site.js';
import type { LoginData } from '../wordpress/connector-responses.js';

export const loginPathTexts = {
  // Formatted when it is read: the first formatted number takes 20 ms or more, and every start loads this file.
  get length() {
    return serverMessage('path_length', { least: LOGIN_PATH_MIN, most: LOGIN_PATH_MAX });
  },
  wordpress: 'WordPress uses this address itself. Choose another one.',
  same: 'Choose another address than the one for the login.',
} as const;

/**
 * The path as it is stored: plain text without surrounding spaces and slashes, and lower-case, since rules compare
 * lower-case paths. The response shows this form.
 */
export function normaliseLoginPath(typed: string): string {
  return toPlainText(typed)
    .replace(/^\/+|\/+$/g, '')
    .toLowerCase();
}

/**
 * Checks whether a normalised path may serve the login or the sign-up, without querying WordPress.
 * @returns the text of the fault, or null
 */
export function checkLoginPath(path: string, paths: SitePaths): ServerText | null {
  if (path === '') return messages.required;
  if (!LOGIN_PATH_PATTERN.test(path)) return messages.invalidFormat;
  if (path.length < LOGIN_PATH_MIN || path.length > LOGIN_PATH_MAX) return loginPathTexts.length;
  if (isReservedLoginPath(path)) return loginPathTexts.wordpress;
  const folders = (['admin', 'includes', 'content', 'uploads'] as const).flatMap((name) =>
    listFolderAddresses(paths, name),
  );
  const usedPaths = [...folders, paths.home + paths.rest];
  const below = `${paths.home}/${path}/`;
  return usedPaths.some((own) => below.startsWith(`${own}/`)) ? loginPathTexts.wordpress : null;
}

export interface LoginUrlContext extends SettingChangeContext {
  readonly loginData: (site: SiteConfig) => Promise<LoginData>;
  /** What uses a path of the site, or null. */
  readonly pathInUse: (site: SiteConfig, path: string) => Promise<string | null>;
  readonly paths: (site: SiteId) => SitePaths;
}

export interface LoginUrlChange {
  readonly site: SiteConfig;
  readonly actor: Actor;
  readonly type: 'default' | 'custom';
  /** Used for `custom` only. */
  readonly login: string;
  readonly signup: string;
}

/**
 * Moves the login to a custom address or back to the default. Custom addresses are kept for the next change. A sign-up
 * address is required only while WordPress lets visitors register.
 *
 * @throws ApiError invalid_input naming `login`, `signup`, or both; ConnectorError, StorageError
 */
export async function setCustomLoginUrl(
  deps: LoginUrlContext,
  change: LoginUrlChange,
): Promise<{ readonly options: LoginOptions['login_url']; readonly message: ServerText }> {
  const { site, actor, type } = change;
  const wordpress = await deps.loginData(site);
  const wanted = type === 'custom' ? await parsePaths(deps, change, wordpress.registration) : {};
  const { after } = await changeSettings(deps, { site, actor }, ({ login }) => {
    const next = { ...login.login_url, ...wanted, type };
    // The page doesn't show a stored sign-up address while registration is off, so a conflicting one is dropped.
    return { login_url: { ...next, signup: next.signup === next.login ? '' : next.signup } };
  });
  const { login_url } = after.login;
  const message =
    type === 'custom'
      ? serverMessage('login_moved', {
          path: `${deps.paths(site.id).home}/${login_url.login}`.slice(1),
        })
      : 'The login is at the address that WordPress gives it.';
  return { options: toLoginUrlOptions(login_url, wordpress), message };
}

async function parsePaths(
  deps: LoginUrlContext,
  { site, login, signup }: LoginUrlChange,
  registration: boolean,
): Promise<{ login: string; signup?: string }> {
  const paths = { login: normaliseLoginPath(login), signup: normaliseLoginPath(signup) };
  // While registration is off, an empty sign-up address keeps the stored one.
  const names = registration || paths.signup !== '' ? (['login', 'signup'] as const) : (['login'] as const);
  const fields: Record<string, ServerText> = {};
  for (const name of names) {
    const fault = checkLoginPath(paths[name], deps.paths(site.id));
    if (fault !== null) fields[name] = fault;
  }
  if (names.length === 2 && paths.login === paths.signup) fields.signup ??= loginPathTexts.same;
  for (const name of names) {
    const user = fields[name] === undefined ? await deps.pathInUse(site, paths[name]) : null;
    if (user !== null) fields[name] = serverMessage('path_taken', { user });
  }
  if (Object.keys(fields).length > 0) throw new ApiError('invalid_input', { fields });
  return names.length === 2 ? paths : { login: paths.login };
}

/** The two entries of `login_url`: whole URLs for WordPress's own pages, bare paths for custom ones. */
export function toLoginUrlOptions(stored: LoginSettings['login_url'], wordpress: LoginData): LoginOptions['login_url'] {
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
