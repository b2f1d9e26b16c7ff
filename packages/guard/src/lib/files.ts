import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, openSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

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

/** Who may read a new file: permission bits and, where this process may set them, owner and group. */
export interface FileAccess {
  readonly mode: number;
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Writes a file so that readers see either the old or the new content, never a part of it, and so that it survives
 * a power cut: written beside the target, flushed, renamed over it, folder flushed.
 */
export async function writeFileAtomically(path: string, content: string | Uint8Array, access: FileAccess) {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  let file: FileHandle | undefined;
  try {
    file = await open(temporary, 'wx', access.mode);
    await file.writeFile(content);
    if (access.uid !== undefined && access.gid !== undefined) await file.chown(access.uid, access.gid);
    // The mode given to open() is cut by the umask; this one is not.
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

/** Flushes a folder's list of names. Not every platform can; a rename is atomic there all the same. */
async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    await folder.sync().finally(() => folder.close());
  } catch {
    // Opening a folder is not possible on Windows.
  }
}

/** The folder of a package that guard depends on, however it is installed. Throws the system's error without it. */
export function packageFolder(name: string): string {
  return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
}
