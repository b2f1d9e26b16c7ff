import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, openSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

const PRIVATE = 0o600;

/**
 * Makes a file readable for its owner only. The file is created if it is missing. For files that a library creates with
 * the default mode of the process; the companions that SQLite creates next to a database get the mode of the database.
 * Errors are ignored: the next user of the file reports that it can't be written.
 *
 * An existing file is never opened: closing it would release every lock that this process has on it (POSIX, fcntl), and
 * SQLite depends on them.
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
    // The file belongs to another user.
  }
}

/** Access to a new file: permission bits and, where this process may set them, owner and group. */
export interface FileAccess {
  readonly mode: number;
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Writes a file atomically and durably: readers see either the old or the new content, and it survives a power failure.
 * Written under a temporary name, flushed, renamed to the target, folder flushed.
 */
export async function writeFileAtomically(path: string, content: string | Uint8Array, access: FileAccess) {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  let file: FileHandle | undefined;
  try {
    file = await open(temporary, 'wx', access.mode);
    await file.writeFile(content);
    if (access.uid !== undefined && access.gid !== undefined) await file.chown(access.uid, access.gid);
    // The umask restricts the mode of open(), but not that of chmod().
    await file.chmod(access.mode);
    await file.sync();
    await file.close();
    await rename(temporary, path);
  } catch (error) {
    await file?.close().catch(() => undefined);
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Flushes a folder's directory entries. Not every platform supports this; a rename is atomic there nevertheless. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    await folder.sync().finally(() => folder.close());
  } catch {
    // Windows can't open a folder.
  }
}

/** The folder of an installed package that guard depends on. @throws the system's error when it is missing */
export function packageFolder(name: string): string {
  return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
}
