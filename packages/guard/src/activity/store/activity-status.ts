import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Kysely } from 'kysely';
import { silentLogger } from '../../lib/logger.js';
import type { SiteId } from '../../site.js';
import { createSqliteDialect } from '../../storage/sqlite-dialect.js';
import { StorageError } from '../../storage/storage-error.js';
import { SqliteThread } from '../../storage/storage-thread.js';
import { droppedVisits } from './read-aggregates.js';
import { createReader, readLimits } from './reader.js';
import type { ActivitySchema } from './schema.js';

/** The state of the Activity Log's database. */
export interface ActivityStatus {
  readonly ok: boolean;
  /** Why it can't be used; null when it can, or when it does not exist yet. */
  readonly detail: string | null;
  /** Size of its files, bytes; 0 when it does not exist yet. */
  readonly bytes: number;
  /** Visits that were not recorded since a time, by site. */
  readonly dropped: ReadonlyMap<SiteId, number>;
}

const BUSY_TIMEOUT_MS = 5000;

/**
 * Reads the state of the file without writing to it, whether guard is running or not.
 * @param from Unix seconds
 */
export async function readActivityStatus(
  dataDir: string,
  sites: readonly SiteId[],
  from: number,
): Promise<ActivityStatus> {
  const file = join(dataDir, 'activity.sqlite');
  const bytes = (await Promise.all([getFileSize(file), getFileSize(`${file}-wal`)])).reduce(
    (sum, size) => sum + size,
    0,
  );
  const dropped = new Map<SiteId, number>();
  if (bytes === 0) return { ok: true, detail: null, bytes, dropped };
  const settings = { file, busyTimeoutMs: BUSY_TIMEOUT_MS, readOnly: true, immutableAtRest: true };
  const thread = new SqliteThread(settings, silentLogger());
  const db = new Kysely<ActivitySchema>({ dialect: createSqliteDialect(thread) });
  try {
    await thread.open();
    const reader = createReader(db, readLimits);
    for (const site of sites) dropped.set(site, await droppedVisits(reader, site, from));
    return { ok: true, detail: null, bytes, dropped };
  } catch (error) {
    const detail = error instanceof StorageError ? `${error.fault}: ${error.detail}` : String(error);
    return { ok: false, detail, bytes, dropped };
  } finally {
    await db.destroy();
    await thread.close();
  }
}

async function getFileSize(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
