import { chmodSync, closeSync, openSync } from 'node:fs';

const PRIVATE = 0o600;

/**
 * Lets nobody but its owner read a file, which is made if it is missing. For files that a library makes with the
 * rights of the process; the companions that SQLite makes beside a database get the rights of the database.
 * Who may not change the rights, or not write at all, is told by what uses the file next.
 *
 * A file that is there is never opened: closing it again would end every lock that this process has on it
 * (POSIX, fcntl), and SQLite counts on them.
 */
export function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'ax', PRIVATE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') changeRights(file);
  }
}

function changeRights(file: string): void {
  try {
    chmodSync(file, PRIVATE);
  } catch {
    // Somebody else's file.
  }
}
