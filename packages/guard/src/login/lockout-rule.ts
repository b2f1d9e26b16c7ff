import { LOCKOUT_SECONDS, type LoginAttempts } from '@security-optimizer/contract/login/limits';

/** The entry of one address (or browser) that failed to log in. Times are milliseconds since the Unix epoch. */
export interface AttemptEntry {
  readonly failures: number;
  /** 0 when it was never locked. */
  readonly lockedUntil: number;
  readonly lastFailure: number;
  /** Ids of the accounts that were tried, one for each failure. Names without an account are omitted. */
  readonly accounts: readonly number[];
}

const NO_ACCOUNTS: readonly number[] = [];
export const NO_FAILURES: AttemptEntry = Object.freeze({
  failures: 0,
  lockedUntil: 0,
  lastFailure: 0,
  accounts: NO_ACCOUNTS,
});

/** An entry expires when it has had no failure for this long after its last lock, milliseconds. */
export const FORGET_AFTER_MS = 7 * 24 * 3600_000;
/** The longest lock, milliseconds. A wrong clock can't make one longer. */
const LONGEST_LOCK_MS = Math.max(...LOCKOUT_SECONDS) * 1000;
/** Limit of accounts of one entry. With a lock of 7 days after every few failures, it covers a long time. */
const ACCOUNTS_MAX = 60;

/** Whether the entry refuses password checks. With the limit off no entry does; the lock is kept. */
export function isLocked(entry: AttemptEntry, limit: LoginAttempts, now: number): boolean {
  return limit !== 0 && entry.lockedUntil > now;
}

/**
 * How many password checks may run at the same time: the failures that are left until the next lock. At n, 2n and 3n
 * failures an address is locked for 1 hour, 24 hours and 7 days (specification section 9), and for 7 days after every
 * further n.
 */
export function getRemainingChecks(entry: AttemptEntry, limit: LoginAttempts): number {
  return limit === 0 ? Number.POSITIVE_INFINITY : limit - (entry.failures % limit);
}

/**
 * The entry after one more failure. A failure of a check that was under way when the lock began doesn't extend it.
 *
 * @param user id of the account that was tried, 0 when no account has the name
 */
export function applyFailure(entry: AttemptEntry, user: number, limit: LoginAttempts, now: number): AttemptEntry {
  const failures = entry.failures + 1;
  const accounts = user === 0 ? entry.accounts : [...entry.accounts.slice(1 - ACCOUNTS_MAX), user];
  const locks = limit !== 0 && failures % limit === 0 && entry.lockedUntil <= now;
  const lockedUntil = locks ? now + lockSeconds(failures / limit) * 1000 : entry.lockedUntil;
  return { failures, lockedUntil, lastFailure: now, accounts };
}

/**
 * The entry after a success: it keeps only the failures at other accounts, or everything while it is locked. Otherwise
 * a user with an account could guess the password of another one indefinitely, by logging in to their own account in
 * between.
 *
 * @param user id of the user who has logged in
 */
export function applySuccess(entry: AttemptEntry, user: number, now: number): AttemptEntry {
  if (entry.lockedUntil > now) return entry;
  const accounts = entry.accounts.filter((account) => account !== user);
  if (accounts.length === 0) return NO_FAILURES;
  return accounts.length === entry.failures ? entry : { ...entry, failures: accounts.length, accounts };
}

/** Whether the entry has expired: 7 days without failure after the last lock. */
export function isExpired(entry: AttemptEntry, now: number): boolean {
  return now - Math.max(entry.lastFailure, entry.lockedUntil) >= FORGET_AFTER_MS;
}

/** Which of the three lock durations applies to a locked entry. */
export function getLockStage(entry: AttemptEntry, limit: LoginAttempts): 1 | 2 | 3 {
  const stage = limit === 0 ? 1 : Math.floor(entry.failures / limit);
  return stage >= 3 ? 3 : stage === 2 ? 2 : 1;
}

/**
 * Corrects times that a wrong clock may have written. A failure in the future was recorded by a clock that has been set
 * back since: it is treated as having just happened, and its lock keeps its length.
 */
export function correctClock(entry: AttemptEntry, now: number): AttemptEntry {
  const ahead = Math.max(0, entry.lastFailure - now);
  const lockedUntil = Math.max(0, Math.min(entry.lockedUntil - ahead, now + LONGEST_LOCK_MS));
  return { ...entry, lockedUntil, lastFailure: entry.lastFailure - ahead };
}

function lockSeconds(stage: number): number {
  return LOCKOUT_SECONDS[Math.min(stage, LOCKOUT_SECONDS.length) - 1] as number;
}
