import { userInfo } from 'node:os';

/** Group of nobody, for a user without an entry in the system's user database and a folder whose group is root's. */
const NO_GROUP = 65_534;

/** Node's types lack it. */
const withInitgroups = process as unknown as { initgroups(user: string, extraGroup: number): void };

/** A user that a process can act as. */
export interface ProcessUser {
  readonly uid: number;
  /** Group of a user who is not in the system's user database. */
  readonly gid: number;
}

/** Whether this process may act as any user. */
export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

/**
 * Permanently changes to another user: real, effective and saved user and group. Requires root. Linux also prevents the
 * user from reading or tracing a process that has changed its user, so no data of root leaks to them.
 *
 * @param options.group primary group. Default: the user's own
 * @param options.fallbackGroup used for a user who is not in the system's user database; never root's
 * @param options.withGroups whether to use the user's supplementary groups, too
 */
export function becomeUser(
  uid: number,
  options: { readonly group?: number; readonly fallbackGroup: number; readonly withGroups: boolean },
): void {
  const known = lookUp(uid);
  const group = options.group ?? known?.gid ?? (options.fallbackGroup === 0 ? NO_GROUP : options.fallbackGroup);
  if (options.withGroups && known !== null) withInitgroups.initgroups(known.username, group);
  else process.setgroups?.([]);
  process.setgid?.(group);
  process.setuid?.(uid);
  if (process.getuid?.() !== uid || process.geteuid?.() !== uid || process.getegid?.() !== group) {
    throw new Error(`The rights of user ${uid} could not be taken.`);
  }
}

/**
 * Runs a function as another user, and returns to root's rights. Requires root. For checks of what the user may do; the
 * function must not run code that the user controls.
 */
export function tryAsUser<Result>({ uid, gid }: ProcessUser, work: () => Result): Result {
  const known = lookUp(uid);
  const group = known?.gid ?? (gid === 0 ? NO_GROUP : gid);
  const before = process.getgroups?.() ?? [];
  if (known === null) process.setgroups?.([]);
  else withInitgroups.initgroups(known.username, group);
  process.setegid?.(group);
  process.seteuid?.(uid);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
    process.setgroups?.(before);
  }
}

/** The system's entry of a user. Node returns only that of the effective user. */
function lookUp(uid: number): { readonly username: string; readonly gid: number } | null {
  process.seteuid?.(uid);
  try {
    return userInfo();
  } catch {
    return null;
  } finally {
    process.seteuid?.(0);
  }
}
