import { createRequire } from 'node:module';
import { AddressSet, type PackedAddresses } from '../../lib/address-set.js';
import type { Logger } from '../../lib/logger.js';
import type { AddressesCall, StatementCall, StatementResult, WorkerSettings } from './messages.js';
import { StorageThread } from './storage-thread.js';

const workerFile = createRequire(import.meta.url).resolve('@security-optimizer/guard/program/sqlite-thread');

/** Main-thread side of the SQLite worker, which runs one statement after another. */
export class SqliteThread extends StorageThread<StatementCall | AddressesCall, StatementResult | PackedAddresses> {
  /** @param restAfterMs see ThreadProgram */
  constructor(settings: WorkerSettings, logger: Logger, restAfterMs?: number) {
    super({ file: workerFile, settings, ...(restAfterMs !== undefined && { restAfterMs }) }, logger);
  }

  /**
   * Runs one statement.
   * @param inLife when given, refuse unless the worker still lives the life of that number
   */
  async execute(sql: string, parameters: readonly unknown[], inLife?: number): Promise<StatementResult> {
    return (await this.call({ sql, parameters }, inLife)) as StatementResult;
  }

  /** Reads the addresses and ranges that a site has blocked. Statements that are called meanwhile run in between. */
  async blockedAddresses(site: string, which: AddressesCall['which']): Promise<AddressSet> {
    return AddressSet.unpack((await this.call({ blockedAt: site, which })) as PackedAddresses);
  }
}
