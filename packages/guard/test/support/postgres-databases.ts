import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { Logger } from '../../src/lib/logger.js';
import { silentLogger } from '../../src/lib/logger.js';
import { openGuardDatabase } from '../../src/migrations.js';
import type { TestDatabase } from './database.js';
import { type PostgresOptions, type PostgresServer, startPostgres } from './postgres-server.js';

/** A PostgreSQL server for the tests of a suite. */
export interface SuiteServer {
  readonly server: PostgresServer;
  /** Creates a database for one test. @returns its name */
  createDatabase(): Promise<string>;
  /** Opens a database with guard's tables, as one process of guard does; closed after the test. */
  open(database: string, options?: { readonly logger?: Logger; readonly connections?: number }): Promise<TestDatabase>;
}

/** Starts a server before the tests of the current suite, and ends it after them. */
export function suiteServer(options: PostgresOptions = {}): SuiteServer {
  let server: PostgresServer | undefined;
  let databases = 0;
  beforeAll(async () => {
    server = await startPostgres(options);
  });
  afterAll(() => server?.remove());
  const started = () => {
    if (server === undefined) throw new Error('The server starts before the tests.');
    return server;
  };
  return {
    get server() {
      return started();
    },
    async createDatabase() {
      const name = `test_${++databases}`;
      await started().createDatabase(name);
      return name;
    },
    async open(database, { logger = silentLogger(), connections = 4 } = {}) {
      const db = await openGuardDatabase({ url: started().url(database), dataDir: '/nowhere', logger, connections });
      onTestFinished(() => db.destroy());
      return db;
    },
  };
}
