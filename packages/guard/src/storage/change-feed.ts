import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';
import { type Database, listenForNotifications, lockVersions, notifyListeners, withTables } from './database.js';

/** One sequence of versions for all sites: each change of a site gives the site's row the next version. */
export interface SiteVersionTables {
  site_versions: { site: string; version: number };
}

/**
 * Notifies listeners, in every process on the same database, that a site's settings changed. A listener then reads the
 * settings again. There may be more notifications than changes, never fewer.
 */
export interface ChangeFeed {
  /** Notifies the listeners of this process at once. Other processes read the change from the database. */
  publish(change: { readonly site: SiteId; readonly version: number }): void;
  /**
   * Adds a listener.
   * @returns a function that removes the listener
   */
  subscribe(listener: (site: SiteId) => void): () => void;
  close(): void;
}

/** Interval at which changes of other processes are polled, milliseconds. */
const POLL_MS = 1000;

/** The channel on which PostgreSQL notifies of new versions. */
const CHANNEL = 'security_optimizer_versions';

/**
 * Creates a change feed that polls the table of site versions: one indexed query that mostly finds nothing. PostgreSQL
 * notifies it of each change; the timer finds what a lost notification did not tell.
 *
 * @param from highest version in the table when the settings were loaded; see `getLatestVersion`
 */
export function createChangeFeed(options: { db: Database; logger: Logger; from: number; pollMs?: number }): ChangeFeed {
  const { logger } = options;
  const db = withTables<SiteVersionTables>(options.db);
  const listeners = new Set<(site: SiteId) => void>();
  /** The last version published to listeners, by site. */
  const published = new Map<SiteId, number>();
  let seen = options.from;
  let failing = false;
  let closed = false;
  let reading = false;
  /** A notification arrived while the changes were being read. */
  let readAgain = false;
  let timer: NodeJS.Timeout | undefined;

  const notify = (site: SiteId, version: number) => {
    if ((published.get(site) ?? 0) >= version) return;
    published.set(site, version);
    for (const listener of listeners) listener(site);
  };

  const read = async () => {
    try {
      const rows = await db
        .selectFrom('site_versions')
        .select(['site', 'version'])
        .where('version', '>', seen)
        .orderBy('version')
        .execute();
      for (const { site, version } of rows) {
        seen = Math.max(seen, version);
        notify(site, version);
      }
      failing = false;
    } catch (error) {
      // Logged once per outage: a log line per second would hide all others.
      if (!failing && !closed) {
        logger.error({ event: 'change-feed-failed', err: error }, 'Changes by other processes can’t be read.');
      }
      failing = true;
    }
  };
  const poll = async () => {
    if (reading) {
      readAgain = true;
      return;
    }
    clearTimeout(timer);
    reading = true;
    do {
      readAgain = false;
      await read();
    } while (readAgain && !closed);
    reading = false;
    if (!closed) timer = setTimeout(poll, options.pollMs ?? POLL_MS);
  };
  timer = setTimeout(poll, options.pollMs ?? POLL_MS);
  listenForNotifications(options.db, CHANNEL, () => {
    if (!closed) void poll();
  });

  return {
    publish: ({ site, version }) => notify(site, version),
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

/** Reads the highest version of all sites. Call it before reading the settings, so that no change is missed. */
export async function getLatestVersion(db: Database): Promise<number> {
  const row = await withTables<SiteVersionTables>(db)
    .selectFrom('site_versions')
    .select((expression) => expression.fn.max('version').as('highest'))
    .executeTakeFirst();
  return Number(row?.highest ?? 0);
}

/**
 * Gives the site the next version of the sequence that all sites share. Call it at the end of a transaction: in
 * PostgreSQL it waits until the transaction with the version before has ended. So versions become visible in their order,
 * and a reader that has seen one has missed none before it.
 */
export async function nextSiteVersion(transaction: Database, site: SiteId): Promise<number> {
  const db = withTables<SiteVersionTables>(transaction);
  await lockVersions(db);
  const { highest } = await db
    .selectFrom('site_versions')
    .select((expression) => expression.fn.max('version').as('highest'))
    .executeTakeFirstOrThrow();
  const version = Number(highest ?? 0) + 1;
  await db
    .insertInto('site_versions')
    .values({ site, version })
    .onConflict((conflict) => conflict.column('site').doUpdateSet({ version }))
    .execute();
  // Sent when the transaction is committed.
  await notifyListeners(db, CHANNEL);
  return version;
}
