import { DISALLOWED_USERNAMES, USERNAME_MAX, USERNAME_PATTERN } from '@security-optimizer/contract/login/limits';
import type { LoginOptions } from '@security-optimizer/contract/login/schemas';
import { messages } from '@security-optimizer/contract/messages';
import type { ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { dropUnseen } from '@security-optimizer/contract/typed-text';
import { ApiError } from '../lib/api-error.js';
import type { Actor, AuditEntry } from '../settings/audit-store.js';
import { changeSettings, rollBackSettings, type SettingChangeContext } from '../settings/change-settings.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { LoginData, RenameFault } from '../wordpress/connector-responses.js';

export interface NewName {
  readonly ID: number;
  readonly user_login: string;
}

const NO_MATCH = 'This user is not an administrator with a common username.';

/**
 * Validates new usernames (specification section 5); names are compared case-insensitively. Each administrator with a
 * common username needs a new one, and no other user may get one.
 *
 * @returns texts by user ID; empty when all names are valid
 */
function checkNewUsernames(names: readonly NewName[], { users, matches }: LoginData): Record<string, ServerText> {
  const fields: Record<string, ServerText> = {};
  const usedNames = new Set(users.map((name) => name.toLowerCase()));
  const typed = new Set<string>();
  const ids = new Set<number>();
  for (const { ID, user_login: name } of names) {
    const lower = name.toLowerCase();
    if (ids.has(ID) || !matches.some((match) => match.ID === ID)) fields[ID] = NO_MATCH;
    else if (name === '') fields[ID] = messages.required;
    else if (!USERNAME_PATTERN.test(name) || name.length > USERNAME_MAX) fields[ID] = messages.invalidFormat;
    else if (typed.has(lower)) fields[ID] = usernameText('typed', name);
    // Checked before "exists": the old name exists as well, but that is not the fault.
    else if (isDisallowed(lower)) fields[ID] = usernameText('not_allowed', name);
    else if (usedNames.has(lower)) fields[ID] = usernameText('exists', name);
    ids.add(ID);
    typed.add(lower);
  }
  for (const { ID } of matches) if (!ids.has(ID)) fields[ID] = messages.required;
  return fields;
}

/** The text for a fault that WordPress reports. */
function usernameText(fault: RenameFault, name: string): ServerText {
  switch (fault) {
    case 'typed':
      return serverMessage('username_typed', { name });
    case 'exists':
      return serverMessage('username_exists', { name });
    case 'not_allowed':
      return serverMessage('username_not_allowed', { name });
    case 'invalid':
      return messages.invalidFormat;
    case 'no_match':
      return NO_MATCH;
  }
}

function isDisallowed(lower: string): boolean {
  return (DISALLOWED_USERNAMES as readonly string[]).includes(lower);
}

export interface UsernamesContext extends SettingChangeContext {
  readonly loginData: (site: SiteConfig) => Promise<LoginData>;
  /** Renames all users or none. */
  readonly renameUsers: (
    site: SiteConfig,
    users: readonly NewName[],
  ) => Promise<{
    /** The faults by user ID; null when all users were renamed. */
    readonly faults: Readonly<Record<string, RenameFault>> | null;
    /** Cookies that keep the caller signed in. */
    readonly setCookies: readonly string[];
  }>;
  /** Called after each rename, so that data that guard stores by name is updated. */
  readonly onRenamed: (site: SiteId, user: NewName) => Promise<void>;
  readonly audit: (site: SiteId, by: { actor: Actor; at: number }, entries: readonly AuditEntry[]) => Promise<void>;
}

export interface UsernamesChange {
  readonly site: SiteConfig;
  readonly actor: Actor;
  readonly value: 0 | 1;
  /** New names for the administrators who have a common one. */
  readonly names: readonly NewName[];
}

export interface UsernamesOutcome {
  /** The usernames after a rename; null when no user was renamed, or when WordPress does not return them. */
  readonly usernames: LoginOptions['usernames_data'] | null;
  /** Cookies for the caller's browser: when the caller was renamed too, its session holds the old name. */
  readonly setCookies: readonly string[];
  readonly message: ServerText;
}

/**
 * Forbids or allows common usernames. They can't be forbidden while an administrator has one, unless the same call
 * gives each a new name; all are renamed or none.
 *
 * @throws ApiError common_usernames_in_use, or invalid_input with texts by user ID; ConnectorError, StorageError. In
 *   these cases no user was renamed and the setting is unchanged, unless the response to the renaming was lost
 */
export async function setDisableUsernames(deps: UsernamesContext, change: UsernamesChange): Promise<UsernamesOutcome> {
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
    message: serverMessage('common_usernames', { names }),
    fields: Object.fromEntries(matches.map(({ ID, user_login }) => [ID, usernameText('not_allowed', user_login)])),
  });
}

/**
 * Stores the setting first: it can be rolled back, while a rename can't, and a renamed caller needs the cookies of the
 * response. So nothing after the renaming may fail the call.
 */
async function setAndRename(deps: UsernamesContext, change: UsernamesChange): Promise<UsernamesOutcome> {
  const { site, actor, value, names } = change;
  const users = names.map(({ ID, user_login }) => ({ ID, user_login: dropUnseen(user_login) }));
  const present = await deps.loginData(site);
  const fields = checkNewUsernames(users, present);
  if (Object.keys(fields).length > 0) throw new ApiError('invalid_input', { fields });
  const { before } = await changeSettings(deps, { site, actor }, () => ({ disable_usernames: value }));
  const { disable_usernames } = before.login;
  let setCookies: readonly string[];
  try {
    setCookies = await rename(deps, site, users);
  } catch (error) {
    if (disable_usernames !== value) await rollBackSettings(deps, { site, actor }, { disable_usernames });
    throw error;
  }
  await recordRenaming(deps, change, users, present);
  return {
    // The page requests them again when they are missing.
    usernames: await deps.loginData(site).then(toUsernamesData, () => null),
    setCookies,
    message: users.length === 1 ? 'The username is changed.' : 'The usernames are changed.',
  };
}

/** @returns the cookies that keep the caller signed in */
async function rename(deps: UsernamesContext, site: SiteConfig, users: readonly NewName[]): Promise<readonly string[]> {
  const { faults, setCookies } = await deps.renameUsers(site, users);
  if (faults === null) return setCookies;
  const toLogin = (id: string) => users.find(({ ID }) => String(ID) === id)?.user_login ?? '';
  const fields = Object.entries(faults).map(([id, fault]) => [id, usernameText(fault, toLogin(id))]);
  throw new ApiError('invalid_input', { fields: Object.fromEntries(fields) });
}

/** Updates data that guard stores by name, and records the new names in the audit. Failures are only logged. */
async function recordRenaming(
  deps: UsernamesContext,
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
      { event: 'audit-store-failed', site: site.id, name: 'username', err: outcome.reason },
      'Not written down.',
    );
  }
  deps.logger.info(
    { event: 'users-renamed', site: site.id, users: users.map(({ ID }) => ID), user: actor.id },
    'Administrators with a common username were renamed.',
  );
}

/** The usernames for the page Login Security: all usernames, and the administrators with a common one. */
export function toUsernamesData({ users, matches }: LoginData): LoginOptions['usernames_data'] {
  return { all_users: users.map((user_login) => ({ user_login })), admin_matches: matches };
}
