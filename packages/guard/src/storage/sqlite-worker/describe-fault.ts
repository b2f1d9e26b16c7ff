import { faultOfSqliteCode, type StorageFault } from '../storage-error.js';

/** SQLite's own texts for the faults that a statement can meet while it runs, when the result code is not reported. */
const faultByText: readonly (readonly [string, StorageFault])[] = [
  ['locked', 'locked'],
  ['disk is full', 'full'],
  ['readonly', 'read_only'],
  ['malformed', 'corrupt'],
  ['not a database', 'corrupt'],
  ['disk I/O', 'input_output'],
  ['unable to open', 'cannot_open'],
];

/** Names the fault behind what SQLite threw. */
export function describeFault(error: unknown): { fault: StorageFault; message: string } {
  const { message, errcode } = error as { message?: string; errcode?: number };
  const text = message ?? String(error);
  const byCode = faultOfSqliteCode(errcode);
  const fault = byCode === 'other' ? faultByText.find(([words]) => text.includes(words))?.[1] : byCode;
  return { fault: fault ?? 'other', message: text };
}
