import type { LoginOptions } from '@security-optimizer/contract/login';
import { ApiError } from '../lib/api-error.js';
import { type ChangeDeps, changeSettings } from '../settings/change-settings.js';
import type { SiteConfig, SiteId, SitePaths } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import { english } from '../texts/language.js';
import type { LoginData } from '../wordpress/connector-answers.js';
import { checkLoginPath, cleanLoginPath, loginPathTexts } from './check-login-path.js';
import { loginUrlOptions } from './login-url-options.js';

export interface LoginUrlDeps extends ChangeDeps {
  readonly loginData: (site: SiteConfig) => Promise<LoginData>;
  /** What uses a path of the site, or null. */
  readonly pathInUse: (site: SiteConfig, path: string) => Promise<string | null>;
  readonly paths: (site: SiteId) => SitePaths;
}

export interface LoginUrlChange {
  readonly site: SiteConfig;
  readonly actor: Actor;
  readonly type: 'default' | 'custom';
  /** Looked at for `custom` only. */
  readonly login: string;
  readonly signup: string;
}

/**
 * Moves the log-in, or takes it back; the own addresses are kept for the next time. A sign-up address is needed only
 * while WordPress lets visitors register.
 *
 * @throws ApiError invalid_input naming `login`, `signup`, or both; ConnectorError, StorageError
 */
export async function setCustomLoginUrl(
  deps: LoginUrlDeps,
  change: LoginUrlChange,
): Promise<{ readonly options: LoginOptions['login_url']; readonly message: string }> {
  const { site, actor, type } = change;
  const wordpress = await deps.loginData(site);
  const wanted = type === 'custom' ? await checkedPaths(deps, change, wordpress.registration) : {};
  const { after } = await changeSettings(deps, { site, actor }, ({ login }) => {
    const next = { ...login.login_url, ...wanted, type };
    // A sign-up address that was kept is not in sight while nobody may register: it gives way.
    return { login_url: { ...next, signup: next.signup === next.login ? '' : next.signup } };
  });
  const { login_url } = after.login;
  const message =
    type === 'custom'
      ? english.translate('The log-in is at /{path} now.', {
          path: `${deps.paths(site.id).home}/${login_url.login}`.slice(1),
        })
      : 'The log-in is at the address that WordPress gives it.';
  return { options: loginUrlOptions(login_url, wordpress), message };
}

async function checkedPaths(
  deps: LoginUrlDeps,
  { site, login, signup }: LoginUrlChange,
  registration: boolean,
): Promise<{ login: string; signup?: string }> {
  const paths = { login: cleanLoginPath(login), signup: cleanLoginPath(signup) };
  // While nobody may register, an empty sign-up address keeps the one that is stored.
  const names = registration || paths.signup !== '' ? (['login', 'signup'] as const) : (['login'] as const);
  const fields: Record<string, string> = {};
  for (const name of names) {
    const wrong = checkLoginPath(paths[name], deps.paths(site.id));
    if (wrong !== null) fields[name] = wrong;
  }
  if (names.length === 2 && paths.login === paths.signup) fields.signup ??= loginPathTexts.same;
  for (const name of names) {
    const user = fields[name] === undefined ? await deps.pathInUse(site, paths[name]) : null;
    if (user !== null)
      fields[name] = english.translate('This address is taken by {user}. Choose another one.', { user });
  }
  if (Object.keys(fields).length > 0) throw new ApiError('invalid_input', { fields });
  return names.length === 2 ? paths : { login: paths.login };
}
