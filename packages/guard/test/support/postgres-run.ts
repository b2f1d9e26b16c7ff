import { startPostgres } from './postgres-server.js';

/**
 * Starts the PostgreSQL server for all tests of a run (`vitest.postgres.config.ts`). `TEST_DATABASE` is the folder of
 * its socket; `database.ts` creates a database there for each data folder.
 */
export default async function startForAllTests(): Promise<() => Promise<void>> {
  const server = await startPostgres();
  process.env.TEST_DATABASE = server.folder;
  return () => server.remove();
}
