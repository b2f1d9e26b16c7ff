import type { Kysely, Migration } from 'kysely';
import { setBounded } from '../lib/collections.js';
import type { SiteId } from '../site.js';
import { type Database, withTables } from '../storage/database.js';
import type { Migrations } from '../storage/migrations.js';

/** An account is throttled after more failures of anonymous clients than this within `THROTTLE_WINDOW_MS`. */
export const THROTTLE_AFTER = 20;
export const THROTTLE_WINDOW_MS = 15 * 60_000;
/** Limits of tracked accounts in total, and of throttled accounts per site that WordPress receives. */
const TRACKED_MAX = 10_000;
const THROTTLED_MAX = 200;
const NO_USERS: readonly number[] = [];

/** Times of the latest failures, oldest first, at most one more than `THROTTLE_AFTER`. */
type FailureTimes = readonly number[];

function addFailure(times: FailureTimes, now: number): FailureTimes {
  return [...times.slice(-THROTTLE_AFTER), now];
}

/** Time until which the account is throttled, or 0 when it isn't throttled now. */
function getThrottledUntil(times: FailureTimes, now: number): number {
  const oldest = times[times.length - 1 - THROTTLE_AFTER];
  if (oldest === undefined) return 0;
  const until = oldest + THROTTLE_WINDOW_MS;
  return until > now && oldest <= now ? until : 0;
}

/**
 * Tracks throttled accounts and calls `onChanged` whenever the list of a site changes. In memory: after a restart, a
 * continuing attack causes its account to be throttled again after 21 failures.
 */
export class ThrottledAccounts {
  readonly #watched = new Map<string, { readonly site: string; readonly user: number; times: FailureTimes }>();
  readonly #reported = new Map<string, readonly number[]>();

  constructor(private readonly onChanged: (site: string, users: readonly number[]) => void) {}

  /** Records that an anonymous client failed to log in as that user. */
  recordFailure(site: string, user: number, now: number): void {
    const key = `${site} ${user}`;
    const account = this.#watched.get(key) ?? { site, user, times: [] };
    account.times = addFailure(account.times, now);
    this.#watched.delete(key);
    setBounded(this.#watched, key, account, TRACKED_MAX);
    if (getThrottledUntil(account.times, now) !== 0) this.#notify(site, now);
  }

  /** Throttled users of a site, as last passed to `onChanged`, lowest id first. */
  list(site: string): readonly number[] {
    return this.#reported.get(site) ?? NO_USERS;
  }

  /** Ends the throttling of accounts whose time is over. Call it periodically. */
  sweep(now: number): void {
    for (const site of [...this.#reported.keys()]) this.#notify(site, now);
    for (const [key, { times }] of this.#watched) {
      if ((times[times.length - 1] as number) + THROTTLE_WINDOW_MS <= now) this.#watched.delete(key);
    }
  }

  #notify(site: string, now: number): void {
    const users = this.#listThrottled(site, now);
    if (users.join() === this.list(site).join()) return;
    if (users.length === 0) this.#reported.delete(site);
    else this.#reported.set(site, users);
    this.onChanged(site, users);
  }

  #listThrottled(site: string, now: number): readonly number[] {
    const users: number[] = [];
    for (const account of this.#watched.values()) {
      if (account.site === site && getThrottledUntil(account.times, now) !== 0) users.push(account.user);
    }
    return users.sort((a, b) => a - b).slice(0, THROTTLED_MAX);
  }
}

export interface ThrottledAccountsTables {
  /** The throttled accounts that guard last sent to WordPress; no row means none. */
  slow_users: {
    site: string;
    /** User ids joined by commas, lowest first. */
    users: string;
  };
}

const throttledAccountsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('slow_users')
      .addColumn('site', 'text', (column) => column.primaryKey())
      .addColumn('users', 'text', (column) => column.notNull())
      .execute();
  },
};

/**
 * The accounts that a running guard throttles, for other processes that must know which policy WordPress should run.
 * Guard itself starts with none.
 * @throws StorageError from every method
 */
export interface ThrottledAccountsStore {
  /** User ids, lowest first. */
  read(site: SiteId): Promise<readonly number[]>;
  /** The same for all sites, with one query. Sites without any are omitted. */
  readAll(): Promise<ReadonlyMap<SiteId, readonly number[]>>;
  write(site: SiteId, users: readonly number[]): Promise<void>;
  /** Deletes the throttled accounts of all sites. */
  clear(): Promise<void>;
}

const toIds = (users: string): readonly number[] => users.split(',').map(Number);

export function sqlThrottledAccountsStore(database: Database): ThrottledAccountsStore {
  const db = withTables<ThrottledAccountsTables>(database);
  return {
    async read(site) {
      const row = await db.selectFrom('slow_users').select('users').where('site', '=', site).executeTakeFirst();
      return row ? toIds(row.users) : [];
    },

    async readAll() {
      const rows = await db.selectFrom('slow_users').select(['site', 'users']).execute();
      return new Map(rows.map(({ site, users }) => [site, toIds(users)]));
    },

    async write(site, list) {
      if (list.length === 0) {
        await db.deleteFrom('slow_users').where('site', '=', site).execute();
        return;
      }
      const users = list.join(',');
      await db
        .insertInto('slow_users')
        .values({ site, users })
        .onConflict((conflict) => conflict.column('site').doUpdateSet({ users }))
        .execute();
    },

    async clear() {
      await db.deleteFrom('slow_users').execute();
    },
  };
}

export const throttledAccountsMigrations: Migrations = {
  '007_slow_users': throttledAccountsMigration,
};
