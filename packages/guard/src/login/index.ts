import type { CallHandlers, Feature, RunningFeature } from '../feature.js';
import { KeyedMutex } from '../lib/mutex.js';
import type { SiteId } from '../site.js';
import { listSitesWithRows } from '../storage/database.js';
import { createLoginHook } from './admission.js';
import { isClientKey, type LoginAttempts, type StoredAttempt } from './attempts.js';
import { BasicCredentials } from './basic-credentials.js';
import type { NewName } from './common-usernames.js';
import type { LoginCalls } from './endpoints.js';
import { createLoginAttemptRepository } from './login-attempt-repository.js';
import { deleteLoginLocks, sqlLoginAttemptStore } from './login-attempts-store.js';
import { CHECK_WAIT_MS, type SecondFactor } from './login-services.js';
import { createMissingReports } from './missing-reports.js';
import { createViewDesk, type ViewDesk } from './remote-views.js';
import { sqlThrottledAccountsStore } from './throttled-accounts.js';

export { type LoginAttempts, recordSuccess, type StoredAttempt, toCrossSiteKey } from './attempts.js';
export { getAwayState, parseAwaySchedule } from './away-mode.js';
export { toUsernamesData } from './common-usernames.js';
export { checkLoginPath, loginPathTexts, normaliseLoginPath, toLoginUrlOptions } from './custom-login-url.js';
export {
  createLoginAddressCache,
  HIDDEN_ADDRESS,
  type LoginAddresses,
  readLoginAddresses,
} from './login-addresses.js';
export { deleteLoginLocks, type LoginAttemptTables, loginAttemptMigrations } from './login-attempts-store.js';
export type { SecondFactor } from './login-services.js';
export type { ViewDesk } from './remote-views.js';
export { readLoginAccess } from './set-login-access.js';
export {
  sqlThrottledAccountsStore,
  type ThrottledAccountsTables,
  throttledAccountsMigrations,
} from './throttled-accounts.js';

/** The running Login Security. */
export interface LoginSecurity extends RunningFeature {
  readonly attempts: LoginAttempts;
  /** For views that worker processes forward. */
  readonly views: ViewDesk;
  /** Sets the handler of logins that need a second factor. Must be called before the first request. */
  setSecondFactor(secondFactor: SecondFactor): void;
  /** Locked addresses, newest first. */
  lockedAddresses(site: SiteId): readonly StoredAttempt[];
  /** End of the lock of an address (see `toClientKey`), milliseconds since the Unix epoch; null when there is none. */
  lockedUntil(site: SiteId, key: string): number | null;
  /**
   * Ends locks and deletes their failures, with an audit row.
   * @throws StorageError
   */
  unlock(removal: Parameters<typeof deleteLoginLocks>[1]): Promise<void>;
  /**
   * Adds a listener for new locks.
   * @param listener receives a locked address and the end of its lock, milliseconds; it may receive a lock twice
   */
  onLocked(listener: (site: SiteId, address: string, until: number) => void): void;
  /**
   * Adds a listener for renamed users.
   * @param listener stores the new names
   */
  onRenamed(listener: (site: SiteId, user: NewName) => Promise<void>): void;
  loadEndpoints(): Promise<{ readonly handlers: CallHandlers<LoginCalls> }>;
}

export const loginSecurity: Feature<LoginSecurity> = {
  name: 'login',
  async start(services) {
    const { siteList, snapshots, db, sites, connectors, wordpress, feed, clock, logger } = services;
    const lockListeners: ((site: SiteId, address: string, until: number) => void)[] = [];
    const renameListeners: ((site: SiteId, user: NewName) => Promise<void>)[] = [];
    const throttledUsers = sqlThrottledAccountsStore(db);
    // One write of a site at a time, so that the last list is stored last.
    const throttledWrites = new KeyedMutex();
    await throttledUsers.clear();
    const repository = createLoginAttemptRepository({
      store: sqlLoginAttemptStore(db),
      onThrottledUsers(site, users) {
        sites.setThrottledUsers(site, users);
        throttledWrites
          .run(site, () => throttledUsers.write(site, users))
          .catch((error: unknown) => {
            logger.warn(
              { event: 'throttled-accounts-store-failed', site, err: error },
              '`status` will not know the slow accounts.',
            );
          })
          .finally(() => connectors.reconcilePolicy(site));
      },
      onLocked(site, address, until) {
        for (const listener of lockListeners) listener(site, address, until);
      },
      clock,
      logger,
    });
    feed.subscribe((site) => {
      repository.loadUnlocks(site).catch((error: unknown) => {
        logger.error({ event: 'login-unlocks-read-failed', site, err: error }, 'What was unblocked can’t be read.');
      });
    });
    const missingReports = createMissingReports({
      query: (site, requests) => wordpress.loginReports(site, requests),
      state: connectors.state,
      recheck: connectors.recheck,
      clock,
      logger,
    });
    const { attempts, throttled, whenStored } = repository;
    let secondFactor: SecondFactor | null = null;
    const getSecondFactor = (): SecondFactor => {
      if (secondFactor === null) throw new Error('The second factor has not started.');
      return secondFactor;
    };
    const onAllowed = createLoginHook({
      ...{ attempts, throttled, whenStored, missingReports, clock, logger },
      basicCredentials: new BasicCredentials(),
      waitMs: CHECK_WAIT_MS,
      secondFactor: getSecondFactor,
    });
    const ready = async () => {
      const stored = await listSitesWithRows(db, 'login_attempts', 'login_unlocks');
      for (const { id } of siteList) if (stored.has(id)) await repository.load(id);
    };

    return {
      ready: ready(),
      hooks: { onAllowed, onFactor: (...args) => getSecondFactor().begin(...args) },
      attempts,
      views: createViewDesk(
        { attempts, throttled, missingReports, whenStored, clock, logger },
        { getLimit: (site) => snapshots.get(site).login.limit, find: (site) => siteList.find(site) },
      ),
      setSecondFactor(given) {
        secondFactor = given;
      },
      lockedAddresses(site) {
        // With the limit off no address is locked. Locks of browsers, and of attempts from other sites' pages, refuse
        // no address.
        if (sites.getEffectiveSettings(site).login.login_attempts === 0) return [];
        return attempts.listLocked(site, clock()).filter(({ key }) => isClientKey(key));
      },
      lockedUntil(site, key) {
        if (sites.getEffectiveSettings(site).login.login_attempts === 0) return null;
        const { lockedUntil } = attempts.getEntry(site, key);
        return lockedUntil > clock() ? lockedUntil : null;
      },
      async unlock(removal) {
        await repository.drain();
        await deleteLoginLocks(db, removal);
        await repository.loadUnlocks(removal.site);
      },
      onLocked: (listener) => void lockListeners.push(listener),
      onRenamed: (listener) => void renameListeners.push(listener),
      async loadEndpoints() {
        const { loginEndpoints } = await import('./endpoints.js');
        const onRenamed = async (site: SiteId, user: NewName) => {
          await Promise.all(renameListeners.map((listener) => listener(site, user)));
        };
        return { handlers: loginEndpoints(services, onRenamed) };
      },
      loadSite: repository.load,
      drain: () => missingReports.stop(),
      stop: () => repository.stop(),
    };
  },
};
