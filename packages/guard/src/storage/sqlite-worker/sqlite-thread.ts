import { createRequire } from 'node:module';
import type { Logger } from '../../lib/logger.js';
import type { StatementCall, StatementResult, WorkerSettings } from './messages.js';
import { StorageThread } from './storage-thread.js';

const workerFile = createRequire(import.meta.url).resolve('@security-optimizer/guard/program/sqlite-thread');

/** Main-thread side of the SQLite worker, which runs one statement after another. */
export class SqliteThread extends StorageThread<StatementCall, StatementResult> {
  /** @param restAfterMs see ThreadProgram */
  constructor(settings: WorkerSettings, logger: Logger, restAfterMs?: number) {
    super({ file: workerFile, settings, ...(restAfterMs !== undefined && { restAfterMs }) }, logger);
  }

  /**
   * Runs one statement.
   * @param inLife when given, refuse unless the worker still lives the life of that number
   */
  execute(sql: string, parameters: readonly unknown[], inLife?: number): Promise<StatementResult> {
    return this.call({ sql, parameters }, inLife);
  }
}
