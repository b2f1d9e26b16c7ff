import type { LoginOptions } from '@security-optimizer/contract/login';
import { ApiError } from '../lib/api-error.js';
import { type ChangeDeps, changeSettings } from '../settings/change-settings.js';
import { putBackSettings } from '../settings/put-back-settings.js';
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
  /** As it is after a rename; null when nobody was renamed, or WordPress does not tell it. */
  readonly usernames: LoginOptions['usernames_data'] | null;
  /** Cookies for the caller's browser, whose session holds the old name when the caller was renamed too. */
  readonly setCookies: readonly string[];
  readonly message: string;
}

/**
 * Forbids or allows common usernames. It can't be forbidden while an administrator has one, unless each gets a new
 * name with the same call; all are renamed or none.
 *
 * @throws ApiError common_usernames_in_use, or invalid_input with texts by user ID; ConnectorError, StorageError. Then
 *   nobody was renamed and the setting is as it was, but for an answer to the renaming that got lost
 */
export async function setDisableUsernames(deps: UsernamesDeps, change: UsernamesChange): Promise<UsernamesOutcome> {
  const { site, actor, value, names } = change;
  if (names.length > 0) return setAndRename(deps, change);
  if (value === 1) refuseWhileInUse(await deps.loginData(site));
  await changeSettings(deps, { site, actor }, () => ({ disable_usernames: value }));
  return {
    usernames: null,
    setCookies: [],
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

/**
 * The setting comes first: it can be taken back, while renamed users can't, and whoever is renamed needs the cookies of
 * the answer. Hence nothing that comes after the renaming may fail the call.
 */
async function setAndRename(deps: UsernamesDeps, change: UsernamesChange): Promise<UsernamesOutcome> {
  const { site, actor, value, names } = change;
  const users = names.map(({ ID, user_login }) => ({ ID, user_login: user_login.trim() }));
  const present = await deps.loginData(site);
  const fields = checkNewUsernames(users, present);
  if (Object.keys(fields).length > 0) throw new ApiError('invalid_input', { fields });
  const { before } = await changeSettings(deps, { site, actor }, () => ({ disable_usernames: value }));
  const { disable_usernames } = before.login;
  let setCookies: readonly string[];
  try {
    setCookies = await rename(deps, site, users);
  } catch (error) {
    if (disable_usernames !== value) await putBackSettings(deps, { site, actor }, { disable_usernames });
    throw error;
  }
  await noteRenaming(deps, change, users, present);
  return {
    // The page asks again by itself where they are missing.
    usernames: await deps.loginData(site).then(usernamesData, () => null),
    setCookies,
    message: users.length === 1 ? 'The username is changed.' : 'The usernames are changed.',
  };
}

/** @returns the cookies that keep the caller signed in */
async function rename(deps: UsernamesDeps, site: SiteConfig, users: readonly NewName[]): Promise<readonly string[]> {
  const { faults, setCookies } = await deps.renameUsers(site, users);
  if (faults === null) return setCookies;
  const nameOf = (id: string) => users.find(({ ID }) => String(ID) === id)?.user_login ?? '';
  const fields = Object.entries(faults).map(([id, fault]) => [id, usernameText(fault, nameOf(id))]);
  throw new ApiError('invalid_input', { fields: Object.fromEntries(fields) });
}

/** Lets what guard keeps by name follow, and writes the new names down. That it can't be done is logged. */
async function noteRenaming(
  deps: UsernamesDeps,
  { site, actor }: UsernamesChange,
  users: readonly NewName[],
  { matches }: LoginData,
): Promise<void> {
  const oldName = (id: number) => matches.find(({ ID }) => ID === id)?.user_login ?? '';
  const entries = users.map(({ ID, user_login }) => ({
    name: `username:${ID}`,
    before: oldName(ID),
    after: user_login,
  }));
  const noted = await Promise.allSettled([
    ...users.map((user) => deps.onRenamed(site.id, user)),
    deps.audit(site.id, { actor, at: deps.clock() }, entries),
  ]);
  for (const outcome of noted) {
    if (outcome.status === 'fulfilled') continue;
    deps.logger.error(
      { event: 'audit-not-stored', site: site.id, name: 'username', err: outcome.reason },
      'Not written down.',
    );
  }
  deps.logger.info(
    { event: 'users-renamed', site: site.id, users: users.map(({ ID }) => ID), user: actor.id },
    'Administrators with a common username were renamed.',
  );
}
