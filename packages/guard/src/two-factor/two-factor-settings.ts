import {
  ROLE_PATTERN,
  TWO_FACTOR_MORE_ROLES_MAX,
  TWO_FACTOR_ROLES,
  TWO_FACTOR_USERS_MAX,
} from '@security-optimizer/contract/login/limits';
import type { LoginOptions } from '@security-optimizer/contract/login/schemas';
import type { ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { ApiError } from '../lib/api-error.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { LoginSettings } from '../rules/login-policy.js';
import type { Actor } from '../settings/audit-store.js';
import { changeSettings, rollBackSettings, type SettingChangeContext } from '../settings/change-settings.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { LoginData } from '../wordpress/connector-responses.js';
import type { FactorStore } from './factor-store.js';

/**
 * Switches the second factor of administrators and editors on or off. Switching it on ends their sessions, so that no
 * session without a factor continues; the caller's session is kept.
 *
 * @param change `endOtherSessions` ends the sessions of all users who need a second factor, except the caller's
 * @returns the text for the owner
 * @throws ApiError when WordPress or the store can't apply the change, or the sessions can't be ended; the setting is
 *   unchanged in these cases
 */
export async function setTwoFactor(
  change: SettingChangeContext & { readonly endOtherSessions: (site: SiteConfig) => Promise<void> },
  { site, actor, value }: { readonly site: SiteConfig; readonly actor: Actor; readonly value: 0 | 1 },
): Promise<string> {
  const { before } = await changeSettings(change, { site, actor }, () => ({ sg2fa: value }));
  if (value === 0) return 'Two-factor authentication is turned off.';
  if (before.login.sg2fa === 0) {
    try {
      await change.endOtherSessions(site);
    } catch (error) {
      await rollBackSettings(change, { site, actor }, { sg2fa: 0 });
      throw error;
    }
  }
  return 'Two-factor authentication is turned on. Administrators and editors set it up when they log in next.';
}

export interface TwoFactorRolesContext extends SettingChangeContext {
  readonly loginData: (site: SiteConfig) => Promise<LoginData>;
  /** Ends the sessions of users with these roles that began without a second factor. */
  readonly endSessionsWithoutFactor: (site: SiteConfig, roles: readonly string[]) => Promise<void>;
}

const REQUIRED: ReadonlySet<string> = new Set(TWO_FACTOR_ROLES);

/**
 * Sets the roles that need a second factor, in addition to those that always do. While the second factor is on, users
 * of an added role are logged out of sessions that began without one.
 *
 * @param change `roles` as WordPress stores them; roles that always need a second factor are accepted
 * @returns the roles as the API returns them, and the text for the owner
 * @throws ApiError invalid_input for a role that the site does not have and that was not chosen before,
 *   connector_outdated; also when WordPress or the store can't apply the change, or the sessions can't be ended. The
 *   setting is unchanged in these cases
 */
export async function setTwoFactorRoles(
  deps: TwoFactorRolesContext,
  { site, actor, roles }: { readonly site: SiteConfig; readonly actor: Actor; readonly roles: readonly string[] },
): Promise<{ readonly options: LoginOptions['two_factor_roles']; readonly message: ServerText }> {
  const wordpress = await deps.loginData(site);
  if (wordpress.roles === null) throw new ApiError('connector_outdated');
  const available = new Set(wordpress.roles.map(({ role }) => role));
  const selected = [...new Set(roles)].filter((role) => !REQUIRED.has(role));
  const { before, after } = await changeSettings(deps, { site, actor }, ({ login }) => {
    const unknown = selected.find(
      (role) => !isRole(role) || !(available.has(role) || login.two_factor_roles.includes(role)),
    );
    if (unknown !== undefined) throw refused(serverMessage('role_unknown', { role: unknown }));
    if (selected.length > TWO_FACTOR_MORE_ROLES_MAX) {
      throw refused(serverMessage('too_many_roles', { number: TWO_FACTOR_MORE_ROLES_MAX }));
    }
    return { two_factor_roles: selected };
  });
  const old = before.login.two_factor_roles;
  const added = selected.filter((role) => !old.includes(role));
  const options = toTwoFactorRoles(selected, wordpress);
  if (after.login.sg2fa === 0 || added.length === 0) return { options, message: 'The roles are saved.' };
  try {
    await deps.endSessionsWithoutFactor(site, added);
  } catch (error) {
    await rollBackSettings(deps, { site, actor }, { two_factor_roles: old });
    throw error;
  }
  return {
    options,
    message: 'The roles are saved. Users of a role that you added set up two-factor when they log in next.',
  };
}

/**
 * The roles of the site, and chosen roles that no longer exist: deactivating a plugin temporarily does not undo a
 * choice.
 */
export function toTwoFactorRoles(chosen: readonly string[], { roles }: LoginData): LoginOptions['two_factor_roles'] {
  if (roles === null) return [];
  const available = roles.filter(({ role }) => isRole(role));
  const missing = chosen.filter((role) => !available.some((one) => one.role === role));
  return [...available, ...missing.map((role) => ({ role, name: role }))].map(({ role, name }) => ({
    role,
    name: name === '' ? role : name,
    selected: REQUIRED.has(role) || chosen.includes(role) ? 1 : 0,
    required: REQUIRED.has(role) ? 1 : 0,
  }));
}

function isRole(role: string): boolean {
  return ROLE_PATTERN.test(role);
}

function refused(text: ServerText): ApiError {
  return new ApiError('invalid_input', { fields: { two_factor_roles: text } });
}

export interface EnrolledUsers {
  /** Deletes all data of the factor. Null when the user had none. */
  readonly reset: (reset: { site: SiteId; user: number; actor: Actor }) => Promise<{ readonly login: string } | null>;
  readonly listEnrolled: (site: SiteId) => Promise<LoginOptions['reset_2fa']>;
}

/**
 * Resets a user's second factor, so that a new one is set up at the next login.
 * @returns the users who still have a factor, and the text for the owner
 * @throws ApiError not_found for a user without a factor; ConnectorError, StorageError
 */
export async function resetTwoFactorForUser(
  deps: EnrolledUsers,
  reset: { readonly site: SiteId; readonly user: number; readonly actor: Actor },
): Promise<{ readonly enrolled: LoginOptions['reset_2fa']; readonly message: ServerText }> {
  // Checked first: the reset ends sessions, which a user without a factor must keep.
  const before = await deps.listEnrolled(reset.site);
  const done = before.some(({ ID }) => ID === reset.user) ? await deps.reset(reset) : null;
  if (done === null) throw new ApiError('not_found', { message: 'This user has no second factor.' });
  return {
    enrolled: await deps.listEnrolled(reset.site),
    message: serverMessage('second_factor_reset', { name: done.login }),
  };
}

export interface ResetServices {
  readonly store: Pick<FactorStore, 'read' | 'remove'>;
  /** Ends the user's sessions in WordPress. A failure stops the reset before anything is deleted. */
  readonly endSessions: (site: SiteId, user: number) => Promise<void>;
  /** Drops the user's trusted devices in this process at once. Absent in processes that serve no requests. */
  readonly forgetDevices?: (site: SiteId, user: number) => void;
  /** Notifies other processes, which then drop the user's trusted devices. */
  readonly publish: (change: { site: SiteId; version: number }) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Resets a user's second factor: deletes secret, back-up codes, trusted devices, logins under way and pauses, and ends
 * the user's sessions. At the next login the user sets it up again. Safe to repeat.
 *
 * @returns the user's login, or null when the user had no factor
 * @throws any error of `endSessions`, in which case nothing was reset; StorageError
 */
export async function resetTwoFactor(
  deps: ResetServices,
  reset: { readonly site: SiteId; readonly user: number; readonly actor: Actor },
): Promise<{ readonly login: string } | null> {
  const { site, user, actor } = reset;
  // Users without a factor keep their sessions.
  if ((await deps.store.read({ site, userId: user })) === null) return null;
  await deps.endSessions(site, user);
  const removed = await deps.store.remove({ site, userId: user }, { actor, at: deps.clock() });
  if (removed === null) return null;
  deps.forgetDevices?.(site, user);
  deps.publish({ site, version: removed.version });
  deps.logger.info(
    { event: 'second-factor-reset', site, user, login: removed.login, by: actor.login },
    'A second factor was reset.',
  );
  return { login: removed.login };
}

/**
 * Users whose second factor is set up, as `reset_2fa` of the API lists them, sorted by login.
 * @throws StorageError
 */
export async function listEnrolled(
  store: Pick<FactorStore, 'listEnabled'>,
  site: SiteId,
): Promise<{ ID: number; user_login: string }[]> {
  return (await store.listEnabled(site)).map(({ userId, login }) => ({ ID: userId, user_login: login }));
}

/**
 * Users who need a second factor, as the API lists them: the caller, those without one, then the others.
 *
 * @param enrolled users who have set up a factor
 * @param caller the caller's id, or null
 */
export function toTwoFactorUsers(
  { factor_users: listed }: Pick<LoginData, 'factor_users'>,
  enrolled: LoginOptions['reset_2fa'],
  caller: number | null,
): LoginOptions['two_factor_users'] {
  if (listed === null) return null;
  const done = new Set(enrolled.map(({ ID }) => ID));
  const rank = ({ you, set_up }: { you: number; set_up: number }) => (you === 1 ? 0 : 1 + set_up);
  const users = listed.users.map(({ id, login, role, sessions }) => ({
    ...{ ID: id, user_login: login, role, sessions },
    set_up: done.has(id) ? (1 as const) : (0 as const),
    you: id === caller ? (1 as const) : (0 as const),
  }));
  return {
    total: listed.total,
    set_up: users.filter(({ set_up }) => set_up === 1).length,
    users: users.sort((one, other) => rank(one) - rank(other)).slice(0, TWO_FACTOR_USERS_MAX),
  };
}

/**
 * The current address of the login.
 * @param homeUrl address of the site's home, or null while it is unknown
 */
export function toLoginUrl(
  stored: LoginSettings['login_url'],
  homeUrl: string | null,
  { login_url }: Pick<LoginData, 'login_url'>,
): string {
  const home = homeUrl ?? new URL('/', login_url).href;
  return stored.type === 'custom' ? `${home.replace(/\/+$/, '')}/${stored.login}` : login_url;
}

/**
 * The address at which an administrator sets up a second factor: below the current login address.
 *
 * @param homeUrl address of the site's home, or null while it is unknown
 */
export function toTwoFactorSetupUrl(
  stored: LoginSettings['login_url'],
  homeUrl: string | null,
  wordpress: Pick<LoginData, 'login_url'>,
): string {
  return `${toLoginUrl(stored, homeUrl, wordpress)}?action=second-factor-setup`;
}
