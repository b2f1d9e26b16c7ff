import type { SiteId } from '../site.js';
import type { ActivityStore } from './activity-store.js';
import { listEventsOfKind } from './events-of-kind.js';

/** From this number of wrong passwords on, an address that logs in does not count as a member who mistyped. */
export const GUESSES = 5;

/**
 * Counts failed logins in the hours that begin in [from, to): passwords that were refused, whether they were wrong or a
 * rule of Login Security (a lockout, Login Access, Away Mode) refused them unchecked, and whether the account exists or
 * not. This is the only definition for dashboard, lists, report, export and metrics. Throws StorageError.
 */
export async function countFailedLogins(
  store: Pick<ActivityStore, 'failedLogins'>,
  site: SiteId,
  from: number,
  to: number,
): Promise<number> {
  return (await store.failedLogins(site, from, to)).reduce((sum, { count }) => sum + count, 0);
}

/** A period: the beginning and the end (exclusive) in Unix seconds, and its first and last day, `YYYY-MM-DD`. */
export interface Period {
  readonly from: number;
  readonly to: number;
  readonly days: readonly [first: string, last: string];
}

/** The failed logins of a period. */
export interface FailedLogins {
  readonly attempts: number;
  /** Number of addresses that sent them. */
  readonly addresses: number;
  /** Addresses that were locked out because of them. */
  readonly locked: number;
}

/** Returns the failed logins of a period, as report and Activity Log state them. Throws StorageError. */
export async function readFailedLogins(
  store: Pick<ActivityStore, 'failedLogins' | 'failedLoginAddresses' | 'eventKinds' | 'listEvents'>,
  site: SiteId,
  { from, to, days }: Period,
): Promise<FailedLogins> {
  const [attempts, addresses, kinds] = await Promise.all([
    countFailedLogins(store, site, from, to),
    store.failedLoginAddresses(site, ...days),
    store.eventKinds(site, from, to),
  ]);
  const lockouts = kinds.find(({ kind }) => kind === 'login.locked')?.count ?? 0;
  const locks = lockouts > 0 ? await listEventsOfKind(store, site, 'login.locked', { from, to }) : [];
  return { attempts, addresses, locked: locks === null ? lockouts : new Set(locks.map((lock) => lock.address)).size };
}
