import type { Kysely } from 'kysely';
import { type Logger, silentLogger } from '../../src/lib/logger.js';
import { type AllTables, openGuardDatabase } from '../../src/migrations.js';

/** The database with the tables of all features. */
export type TestDatabase = Kysely<AllTables>;

/** Opens the database of a data folder. Close it with `destroy()`. */
export function openTestDatabase(
  dataDir: string,
  options: { readonly logger?: Logger; readonly file?: string; readonly busyTimeoutMs?: number } = {},
): Promise<TestDatabase> {
  const { logger = silentLogger(), file = 'guard.sqlite', ...rest } = options;
  return openGuardDatabase({ url: `sqlite:${file}`, dataDir, logger, ...rest });
}
