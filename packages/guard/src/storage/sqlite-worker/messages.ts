import type { StorageFault } from '../storage-error.js';

/** How the worker opens its file. */
export interface WorkerSettings {
  /** Absolute path of the database file. */
  readonly file: string;
  /** How long a statement waits for a lock of another process, milliseconds. */
  readonly busyTimeoutMs: number;
  /** Only reads: beside a connection of another thread that writes. */
  readonly readOnly?: boolean;
}

/** One call for a worker. Calls run in the order in which they arrive. */
export interface WorkerRequest<Call> {
  readonly id: number;
  readonly call: Call;
}

export interface StatementCall {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Asks for the addresses and ranges that a site has blocked: `PackedAddresses`, read in the thread. */
export interface AddressesCall {
  readonly blockedAt: string;
  /** `ranges` leaves single IPv4 addresses out. */
  readonly which: 'all' | 'ranges';
}

export interface StatementResult {
  readonly rows: Record<string, unknown>[];
  readonly changes: number;
  readonly lastInsertRowid: number | bigint;
}

export type WorkerReply<Result> =
  | { readonly kind: 'ready' }
  | { readonly kind: 'not_opened'; readonly fault: StorageFault; readonly message: string }
  | { readonly kind: 'done'; readonly id: number; readonly result: Result }
  | { readonly kind: 'failed'; readonly id: number; readonly fault: StorageFault; readonly message: string }
  /** Something for the log that belongs to no call. */
  | { readonly kind: 'note'; readonly event: string; readonly message: string };
