import { setBounded } from '../lib/set-bounded.js';

/** More failures of strangers than this within the time make an account slow. */
export const SLOW_AFTER = 20;
export const SLOW_WINDOW_MS = 15 * 60_000;
/** Accounts that are watched at the same time in all, and slow ones told to WordPress per site. */
const WATCHED_MAX = 10_000;
const SLOW_MAX = 200;
const NOBODY: readonly number[] = [];

/** Times of the latest failures, oldest first, at most one more than `SLOW_AFTER`. */
export type FailureTimes = readonly number[];

function withFailure(times: FailureTimes, now: number): FailureTimes {
  return [...times.slice(-SLOW_AFTER), now];
}

/** Until when the account is slow, or 0 when it isn't now. */
function slowUntil(times: FailureTimes, now: number): number {
  const oldest = times[times.length - 1 - SLOW_AFTER];
  if (oldest === undefined) return 0;
  const until = oldest + SLOW_WINDOW_MS;
  return until > now && oldest <= now ? until : 0;
}

/**
 * Which accounts are slow, told to `onChanged` whenever the list of a site changes. In memory: after a restart an
 * attack that goes on makes its account slow again within 21 failures.
 */
export class SlowAccounts {
  readonly #watched = new Map<string, { readonly site: string; readonly user: number; times: FailureTimes }>();
  readonly #told = new Map<string, readonly number[]>();

  constructor(private readonly onChanged: (site: string, users: readonly number[]) => void) {}

  /** A stranger failed to log in as that user. */
  failed(site: string, user: number, now: number): void {
    const key = `${site} ${user}`;
    const account = this.#watched.get(key) ?? { site, user, times: [] };
    account.times = withFailure(account.times, now);
    this.#watched.delete(key);
    setBounded(this.#watched, key, account, WATCHED_MAX);
    if (slowUntil(account.times, now) !== 0) this.#tell(site, now);
  }

  /** Users of a site that are slow, as last told to `onChanged`, lowest id first. */
  slow(site: string): readonly number[] {
    return this.#told.get(site) ?? NOBODY;
  }

  /** Looks for accounts that are slow no more; to be called now and then. */
  sweep(now: number): void {
    for (const site of [...this.#told.keys()]) this.#tell(site, now);
    for (const [key, { times }] of this.#watched) {
      if ((times[times.length - 1] as number) + SLOW_WINDOW_MS <= now) this.#watched.delete(key);
    }
  }

  #tell(site: string, now: number): void {
    const users = this.#slowNow(site, now);
    if (users.join() === this.slow(site).join()) return;
    if (users.length === 0) this.#told.delete(site);
    else this.#told.set(site, users);
    this.onChanged(site, users);
  }

  #slowNow(site: string, now: number): readonly number[] {
    const users: number[] = [];
    for (const account of this.#watched.values()) {
      if (account.site === site && slowUntil(account.times, now) !== 0) users.push(account.user);
    }
    return users.sort((a, b) => a - b).slice(0, SLOW_MAX);
  }
}
