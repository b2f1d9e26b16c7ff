import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

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
