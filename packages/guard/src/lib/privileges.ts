import { userInfo } from 'node:os';

/** Group of nobody, for a user without an entry in the system's list and a folder whose group is root's. */
const NO_GROUP = 65_534;

/** Node's types lack it. */
const withInitgroups = process as unknown as { initgroups(user: string, extraGroup: number): void };

/** Whether this process may act as any user. */
export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

/**
 * Takes the rights of another user for good: real, effective and saved user and group. Only root may. Linux also keeps
 * the user from reading or tracing a process that has changed its user, so nothing that root knew leaks to them.
 *
 * @param options.group primary group; left out, the user's own
 * @param options.fallbackGroup used for a user whom the system's list does not know; never root's
 * @param options.withGroups whether to take the user's further groups too
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

/** The system's entry of a user. Node gives only that of the effective user. */
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
