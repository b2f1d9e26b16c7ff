import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { SqliteThread } from './storage-thread.js';

/** A Kysely dialect for SQLite in a worker thread. It has one connection: transactions run one after another. */
export function createSqliteDialect(thread: SqliteThread): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SqliteWorkerDriver(thread),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

class SqliteWorkerDriver implements Driver {
  readonly #thread: SqliteThread;
  readonly #connection: WorkerConnection;
  /** Resolves when the connection is free; each caller chains its own release. */
  #free: Promise<void> = Promise.resolve();
  #release: (() => void) | undefined;

  constructor(thread: SqliteThread) {
    this.#thread = thread;
    this.#connection = new WorkerConnection(thread);
  }

  async init(): Promise<void> {
    await this.#thread.open();
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#free;
    let release: () => void = () => undefined;
    this.#free = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    this.#release = release;
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#connection.instanceNumber = undefined;
    this.#release?.();
  }

  async beginTransaction(): Promise<void> {
    this.#connection.instanceNumber = await this.#thread.open();
    // IMMEDIATE acquires the write lock at once, so that a transaction that reads first can't fail at its first write.
    await this.#connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  async commitTransaction(): Promise<void> {
    await this.#connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(): Promise<void> {
    try {
      await this.#connection.executeQuery(CompiledQuery.raw('rollback'));
    } catch {
      // SQLite has rolled back by itself (disk full, I/O error), or the worker died with its transaction.
    }
  }

  async destroy(): Promise<void> {
    await this.#thread.close();
  }
}

class WorkerConnection implements DatabaseConnection {
  readonly #thread: SqliteThread;
  /** Number of the worker instance in which the open transaction began; undefined outside a transaction. */
  instanceNumber: number | undefined;

  constructor(thread: SqliteThread) {
    this.#thread = thread;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, changes, lastInsertRowid } = await this.#thread.execute(
      query.sql,
      query.parameters,
      this.instanceNumber,
    );
    return {
      rows: rows as Row[],
      numAffectedRows: BigInt(changes),
      insertId: BigInt(lastInsertRowid),
    };
  }

  // Kysely requires this method, but guard streams no rows.
  // biome-ignore lint/correctness/useYield: it only refuses
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Rows are read in pages, not streamed.');
  }
}
