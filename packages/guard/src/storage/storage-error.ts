import { ApiError } from '../lib/api-error.js';

/** Why a storage operation failed, for log lines and the status. */
export type StorageFault =
  | 'locked'
  | 'full'
  | 'corrupt'
  | 'read_only'
  | 'cannot_open'
  | 'input_output'
  | 'worker_died'
  | 'unreachable'
  | 'timeout'
  | 'too_many_connections'
  | 'conflict'
  | 'closed'
  | 'other';

/** The faults that are counted, from the start: a counter that appears with its first fault has not increased. */
const COUNTED: readonly StorageFault[] = [
  'locked',
  'full',
  'corrupt',
  'read_only',
  'cannot_open',
  'input_output',
  'worker_died',
  'unreachable',
  'timeout',
  'too_many_connections',
  'conflict',
  'other',
];

/**
 * A failed storage operation, whose transaction was rolled back. A client of the API gets the general message; the log
 * and the command line get `detail`.
 */
export class StorageError extends ApiError {
  /** Number of faults in this process, by fault. A closed storage is not counted. */
  static readonly counts = new Map<StorageFault, number>(COUNTED.map((fault) => [fault, 0]));

  readonly fault: StorageFault;
  readonly detail: string;

  constructor(fault: StorageFault, detail: string, options?: { cause?: unknown }) {
    super('storage_unavailable', { cause: new Error(detail, options) });
    this.name = 'StorageError';
    this.fault = fault;
    this.detail = detail;
    if (fault !== 'closed') StorageError.counts.set(fault, (StorageError.counts.get(fault) ?? 0) + 1);
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

/** Maps a result code of SQLite, extended or not, to a fault. */
export function toStorageFault(code: number | undefined): StorageFault {
  return (code !== undefined && faultByCode[code & 0xff]) || 'other';
}
