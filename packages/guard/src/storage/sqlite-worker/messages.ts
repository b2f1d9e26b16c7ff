import type { StorageFault } from '../storage-error.js';

/** How the worker opens its file. */
export interface WorkerSettings {
  /** Absolute path of the database file. */
  readonly file: string;
  /** How long a statement waits for a lock of another process, milliseconds. */
  readonly busyTimeoutMs: number;
}

/** One statement for the worker. Statements run in the order in which they arrive. */
export interface WorkerRequest {
  readonly id: number;
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

export interface StatementResult {
  readonly rows: Record<string, unknown>[];
  readonly changes: number;
  readonly lastInsertRowid: number | bigint;
}

export type WorkerReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'not_opened'; readonly fault: StorageFault; readonly message: string }
  | ({ readonly kind: 'done'; readonly id: number } & StatementResult)
  | { readonly kind: 'failed'; readonly id: number; readonly fault: StorageFault; readonly message: string };
