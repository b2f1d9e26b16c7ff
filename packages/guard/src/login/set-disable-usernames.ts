import type { LoginOptions } from '@security-optimizer/contract/login';
import { ApiError } from '../lib/api-error.js';
import { type ChangeDeps, changeSettings } from '../settings/change-settings.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { AuditEntry } from '../storage/audit-store.js';
import type { Actor } from '../storage/settings-store.js';
import { english } from '../texts/language.js';
import type { LoginData, RenameFault } from '../wordpress/connector-answers.js';
import { checkNewUsernames, type NewName, usernameText } from './check-new-usernames.js';
import { usernamesData } from './fetch-login-options.js';

export interface UsernamesDeps extends ChangeDeps {
  readonly loginData: (site: SiteConfig) => Promise<LoginData>;
  /** Renames all or none. */
  readonly renameUsers: (
    site: SiteConfig,
    users: readonly NewName[],
  ) => Promise<{
    /** Why not, by user ID, or null. */
    readonly faults: Readonly<Record<string, RenameFault>> | null;
    /** Keep the caller signed in. */
    readonly setCookies: readonly string[];
  }>;
  /** Told of each rename, so that what guard keeps by name follows. */
  readonly onRenamed: (site: SiteId, user: NewName) => Promise<void>;
  readonly audit: (site: SiteId, by: { actor: Actor; at: number }, entries: readonly AuditEntry[]) => Promise<void>;
}

export interface UsernamesChange {
  readonly site: SiteConfig;
  readonly actor: Actor;
  readonly value: 0 | 1;
  /** New names for the administrators that have a common one. */
  readonly names: readonly NewName[];
}

export interface UsernamesOutcome {
  /** As it is after a rename; left out when nobody was renamed. */
  readonly usernames: LoginOptions['usernames_data'] | null;
  /** Cookies for the caller's browser, whose session holds the old name when the caller was renamed too. */
  readonly setCookies: readonly string[];
  readonly message: string;
}

/**
 * Forbids or allows common usernames. It can't be forbidden while an administrator has one, unless each gets a new
 * name with the same call; all are renamed or none.
 *
 * @throws ApiError common_usernames_in_use, or invalid_input with texts by user ID; ConnectorError, StorageError
 */
export async function setDisableUsernames(deps: UsernamesDeps, change: UsernamesChange): Promise<UsernamesOutcome> {
  const { site, actor, value, names } = change;
  const setCookies = names.length > 0 ? await rename(deps, change) : [];
  if (names.length === 0 && value === 1) refuseWhileInUse(await deps.loginData(site));
  await changeSettings(deps, { site, actor }, () => ({ disable_usernames: value }));
  if (names.length > 0) {
    const message = names.length === 1 ? 'The username is changed.' : 'The usernames are changed.';
    return { usernames: usernamesData(await deps.loginData(site)), setCookies, message };
  }
  return {
    usernames: null,
    setCookies,
    message: value === 1 ? 'Common usernames are disabled.' : 'Common usernames are allowed.',
  };
}

function refuseWhileInUse({ matches }: LoginData): void {
  if (matches.length === 0) return;
  const names = matches.map(({ user_login }) => user_login).join(', ');
  throw new ApiError('common_usernames_in_use', {
    message: english.translate(
      'Administrators with a common username: {names}. Choose new usernames for them first. Nothing was saved.',
      { names },
    ),
    fields: Object.fromEntries(matches.map(({ ID, user_login }) => [ID, usernameText('not_allowed', user_login)])),
  });
}

async function rename(deps: UsernamesDeps, { site, actor, names }: UsernamesChange): Promise<readonly string[]> {
  const users = names.map(({ ID, user_login }) => ({ ID, user_login: user_login.trim() }));
  const before = await deps.loginData(site);
  refuse(checkNewUsernames(users, before));
  const { faults, setCookies } = await deps.renameUsers(site, users);
  if (faults !== null) {
    const nameOf = (id: string) => users.find(({ ID }) => String(ID) === id)?.user_login ?? '';
    refuse(Object.fromEntries(Object.entries(faults).map(([id, fault]) => [id, usernameText(fault, nameOf(id))])));
  }
  for (const user of users) await deps.onRenamed(site.id, user);
  const oldName = (id: number) => before.matches.find(({ ID }) => ID === id)?.user_login ?? '';
  await deps.audit(
    site.id,
    { actor, at: deps.clock() },
    users.map(({ ID, user_login }) => ({ name: `username:${ID}`, before: oldName(ID), after: user_login })),
  );
  deps.logger.info(
    { event: 'users-renamed', site: site.id, users: users.map(({ ID }) => ID), user: actor.id },
    'Administrators with a common username were renamed.',
  );
  return setCookies;
}

function refuse(fields: Readonly<Record<string, string>>): void {
  if (Object.keys(fields).length > 0) throw new ApiError('invalid_input', { fields });
}
