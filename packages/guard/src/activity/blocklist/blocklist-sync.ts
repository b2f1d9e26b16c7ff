import { parseAddress } from '../../lib/address.js';
import type { Logger } from '../../lib/logger.js';
import type { KeyedMutex } from '../../lib/mutex.js';
import type { Services } from '../../services.js';
import type { SiteId } from '../../site.js';
import type { BlockedVisitor, BlocklistStore } from './blocklist-store.js';

/** Pause before a list that could not be read is read again, milliseconds. */
const RETRY_MS = 1000;

/** A block that was stored or ended. Without `until` it is permanent, or its end is unknown. */
export type ChangedBlock = Pick<BlockedVisitor, 'kind' | 'value'> & Partial<Pick<BlockedVisitor, 'until'>>;

/** Applies blocks at the gateway, and those of users in the policy of WordPress. */
export interface BlocklistSync {
  /** Reads the blocks of a site at the start. Throws StorageError. */
  load(site: SiteId): Promise<void>;
  /** Called when a site was changed, perhaps by another process: reads its blocks when they differ. Never throws. */
  reload(site: SiteId): void;
  /**
   * Called when this process stored or ended one block. The caller holds the site's mutex. Never throws: a list that
   * can't be read is read again until it succeeds.
   * @param version of the site's blocks after the change
   */
  changed(site: SiteId, who: ChangedBlock, blocked: boolean, version: number): Promise<void>;
  stop(): void;
}

/** @param onUsers called when another process has changed the blocked users */
export function createBlocklistSync(deps: {
  readonly store: Pick<BlocklistStore, 'addresses' | 'ranges' | 'timed' | 'users' | 'version'>;
  readonly sites: Pick<Services['sites'], 'get' | 'set'>;
  readonly mutex: KeyedMutex;
  readonly logger: Logger;
  readonly onUsers: (site: SiteId) => void;
}): BlocklistSync {
  const { store, sites, mutex, logger, onUsers } = deps;
  /** Versions of the blocks that are applied. */
  const versions = new Map<SiteId, number>();
  const retries = new Map<SiteId, NodeJS.Timeout>();
  let stopped = false;

  async function load(site: SiteId): Promise<void> {
    // Read before the rows: a change in between is then read twice, but never missed.
    const version = await store.version(site);
    // Most sites have never blocked a visitor; thousands of them must not slow down the start.
    if (version === 0) return;
    const [blocked, blockedUntil, users] = await Promise.all([
      store.addresses(site, version),
      store.timed(site),
      store.users(site),
    ]);
    if (stopped) return;
    sites.set(site, { blocked, blockedUntil, blockedUsers: new Set(users) });
    versions.set(site, version);
  }

  async function loadIfChanged(site: SiteId): Promise<void> {
    if ((await store.version(site)) === (versions.get(site) ?? 0)) return;
    const before = [...sites.get(site).blockedUsers].join();
    await load(site);
    if ([...sites.get(site).blockedUsers].join() !== before) onUsers(site);
  }

  function again(site: SiteId, error: unknown): void {
    if (stopped) return;
    logger.error({ event: 'blocklist-read-failed', site, err: error }, 'Blocked visitors can’t be read yet.');
    clearTimeout(retries.get(site));
    retries.set(
      site,
      setTimeout(() => reload(site), RETRY_MS),
    );
  }

  function reload(site: SiteId): void {
    clearTimeout(retries.get(site));
    retries.delete(site);
    if (stopped) return;
    mutex.run(site, () => loadIfChanged(site)).catch((error: unknown) => again(site, error));
  }

  async function apply(site: SiteId, { kind, value, until = null }: ChangedBlock, blocked: boolean) {
    const now = sites.get(site);
    if (kind === 'user') {
      const users = new Set(now.blockedUsers);
      if (blocked) users.add(Number(value));
      else users.delete(Number(value));
      sites.set(site, { blockedUsers: users });
      return;
    }
    const address = kind === 'ip' ? parseAddress(value) : null;
    const blockedUntil = until === null && now.blockedUntil.size === 0 ? now.blockedUntil : await store.timed(site);
    sites.set(site, {
      blockedUntil,
      blocked:
        address?.family === 4
          ? now.blocked.withSingle(address, blocked && until === null)
          : now.blocked.withRangesFrom(await store.ranges(site)),
    });
  }

  return {
    load,
    reload,
    async changed(site, who, blocked, version) {
      try {
        // Another process was faster: its change is not applied in this process yet.
        if (version !== (versions.get(site) ?? 0) + 1) await load(site);
        else {
          await apply(site, who, blocked);
          versions.set(site, version);
        }
      } catch (error) {
        again(site, error);
      }
    },
    stop() {
      stopped = true;
      for (const timer of retries.values()) clearTimeout(timer);
    },
  };
}
