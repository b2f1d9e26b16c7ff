import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';
import type { Database } from './database.js';

/**
 * Tells every part of the product, in every process on the same database, that a site's settings changed. A listener
 * reads the settings again; it may be told more often than something changed, never less.
 */
export interface ChangeFeed {
  /** Tells the listeners of this process at once. Other processes learn it from the database. */
  publish(change: { readonly site: SiteId; readonly version: number }): void;
  /** @returns stops listening */
  subscribe(listener: (site: SiteId) => void): () => void;
  close(): void;
}

/** How often the database is asked for changes of other processes, milliseconds. */
const POLL_MS = 1000;

/**
 * Change feed over the table of site versions, by polling: one indexed question that finds nothing most of the time.
 * A database that can notify (LISTEN/NOTIFY) calls the same `poll` when it is notified, and keeps the timer as a net.
 *
 * @param from what the table held when the settings were loaded; see `latestVersion`
 */
export function pollingChangeFeed(options: {
  db: Database;
  logger: Logger;
  from: number;
  pollMs?: number;
}): ChangeFeed {
  const { db, logger } = options;
  const listeners = new Set<(site: SiteId) => void>();
  /** Versions that listeners have already been told, by site. */
  const told = new Map<SiteId, number>();
  let seen = options.from;
  let failing = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  const tell = (site: SiteId, version: number) => {
    if ((told.get(site) ?? 0) >= version) return;
    told.set(site, version);
    for (const listener of listeners) listener(site);
  };

  const poll = async () => {
    try {
      const rows = await db
        .selectFrom('site_versions')
        .select(['site', 'version'])
        .where('version', '>', seen)
        .orderBy('version')
        .execute();
      for (const { site, version } of rows) {
        seen = Math.max(seen, version);
        tell(site, version);
      }
      failing = false;
    } catch (error) {
      // Once per outage: a line per second would bury the log.
      if (!failing && !closed) {
        logger.error({ event: 'change-feed-failed', err: error }, 'Changes by other processes can’t be read.');
      }
      failing = true;
    }
    if (!closed) timer = setTimeout(poll, options.pollMs ?? POLL_MS);
  };
  timer = setTimeout(poll, options.pollMs ?? POLL_MS);

  return {
    publish: ({ site, version }) => tell(site, version),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      closed = true;
      clearTimeout(timer);
      listeners.clear();
    },
  };
}

/** The highest version of any site. Read it before the settings, so that no change falls between the two. */
export async function latestVersion(db: Database): Promise<number> {
  const row = await db
    .selectFrom('site_versions')
    .select((expression) => expression.fn.max('version').as('highest'))
    .executeTakeFirst();
  return Number(row?.highest ?? 0);
}
