import { ApiError } from '../lib/api-error.js';

/** Why storage could not do what it was asked, in words that a log line and a status page can use. */
export type StorageFault =
  | 'locked'
  | 'full'
  | 'corrupt'
  | 'read_only'
  | 'cannot_open'
  | 'input_output'
  | 'worker_died'
  | 'closed'
  | 'other';

/**
 * A failed storage operation; nothing of its transaction was kept. A caller of the API gets the general text, log and
 * command line get `detail`.
 */
export class StorageError extends ApiError {
  readonly fault: StorageFault;
  readonly detail: string;

  constructor(fault: StorageFault, detail: string, options?: { cause?: unknown }) {
    super('storage_unavailable', { cause: new Error(detail, options) });
    this.name = 'StorageError';
    this.fault = fault;
    this.detail = detail;
  }
}

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html); extended codes keep them in the low byte. */
const faultByCode: Readonly<Record<number, StorageFault>> = {
  3: 'cannot_open',
  5: 'locked',
  6: 'locked',
  8: 'read_only',
  10: 'input_output',
  11: 'corrupt',
  13: 'full',
  14: 'cannot_open',
  26: 'corrupt',
};

/** Names the fault behind a result code of SQLite, extended or not. */
export function faultOfSqliteCode(code: number | undefined): StorageFault {
  return (code !== undefined && faultByCode[code & 0xff]) || 'other';
}
