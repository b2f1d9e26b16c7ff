import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { isAbsolute, join, parse, sep } from 'node:path';

/**
 * Enters folders whose owner may be an attacker, and works in one of them.
 *
 * Node has no `openat`. The working directory of a process has the same effect: it stays the same folder when its path
 * is changed to lead elsewhere, and a name without a slash is looked up in it. Each step compares the folder that was
 * examined with the one that was entered. Therefore this code runs in a separate process, and all of it is synchronous.
 */

/** A part of the path is not allowed there: a link, a file, a folder of another user. */
export class RefusedPath extends Error {}

/** A folder of the path does not exist. */
export class MissingFolder extends Error {}

/** Maximum number of links in a path, as in Linux. */
const MAX_LINKS = 40;

/**
 * Enters a folder that the operator named. A link is followed only if nobody but root, this process's user and the
 * owner of the target folder could have created it.
 *
 * @param path absolute
 * @returns the folder
 * @throws RefusedPath, MissingFolder
 */
export function enterNamed(path: string): Stats {
  const suspects: { readonly shown: string; readonly uids: readonly number[] }[] = [];
  const ahead = goToRoot(path);
  for (let links = 0; ahead.length > 0; ) {
    const name = ahead.shift() as string;
    if (name === '..') {
      process.chdir('..');
      continue;
    }
    const found = findStatus(name);
    if (found === null) throw new MissingFolder(`${shown(name)} is not there.`);
    if (!found.isSymbolicLink()) {
      enterFound(name, found);
      continue;
    }
    if (++links > MAX_LINKS) throw new RefusedPath(`${shown(name)} leads in a circle.`);
    const around = lstatSync('.');
    // In a sticky folder no other user can change the link; elsewhere the folder's owner can.
    suspects.push({ shown: shown(name), uids: [found.uid, around.uid] });
    const target = readlinkSync(name);
    const parts = isAbsolute(target) ? goToRoot(target) : splitPath(target);
    ahead.unshift(...parts);
  }
  const folder = lstatSync('.');
  const trusted = new Set([0, process.geteuid?.() ?? 0, folder.uid]);
  for (const { shown: link, uids } of suspects) {
    const other = uids.find((uid) => !trusted.has(uid));
    if (other !== undefined) {
      throw new RefusedPath(
        `${link} is a link that user ${other} can change, and leads to a folder of user ${folder.uid}. Name the folder itself.`,
      );
    }
  }
  return folder;
}

function goToRoot(path: string): string[] {
  const { root } = parse(path);
  process.chdir(root);
  return splitPath(path.slice(root.length));
}

function splitPath(path: string): string[] {
  return path.split(sep).filter((part) => part !== '' && part !== '.');
}

/**
 * The status of a name in the working directory, without following links.
 * @returns null when the name does not exist
 */
export function findStatus(name: string): Stats | null {
  return lstatSync(name, { throwIfNoEntry: false }) ?? null;
}

/**
 * Enters a folder of the working directory, but no link.
 * @param check receives the folder before it is entered, and throws when it is not allowed
 * @throws RefusedPath, MissingFolder
 */
export function enterFolder(name: string, check: (folder: Stats) => void = () => {}): Stats {
  const found = findStatus(name);
  if (found === null) throw new MissingFolder(`${shown(name)} is not there.`);
  if (found.isSymbolicLink()) {
    throw new RefusedPath(`${shown(name)} is a symbolic link; guard follows none inside a site.`);
  }
  if (found.isDirectory()) check(found);
  enterFound(name, found);
  return found;
}

function enterFound(name: string, found: Stats): void {
  const path = shown(name);
  if (!found.isDirectory()) throw new RefusedPath(`${path} is not a folder.`);
  process.chdir(name);
  if (!isSame(lstatSync('.'), found)) throw new RefusedPath(`${path} was replaced while guard looked at it.`);
}

/** Returns to the folder from which a step was taken. @throws RefusedPath when it is another folder by now */
export function leaveFolder(to: Stats): void {
  const path = shown('');
  process.chdir('..');
  if (!isSame(lstatSync('.'), to)) throw new RefusedPath(`${path} was moved while guard worked in it.`);
}

function isSame(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}

/** Creates a folder in the working directory that all users may enter, unless the name exists. */
export function makeFolder(name: string): boolean {
  try {
    mkdirSync(name, { mode: 0o755 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes a folder of the working directory if it is empty. */
export function removeIfEmpty(name: string): void {
  try {
    rmdirSync(name);
  } catch {
    // The folder is not empty, or no longer exists.
  }
}

/** Removes a name that is not a folder. A link is removed, never its target. */
export function removeFile(name: string): void {
  const found = findStatus(name);
  if (found === null || found.isDirectory()) return;
  unlinkSync(name);
}

/**
 * Reads the beginning of a regular file in the working directory.
 * @returns null when the name does not exist, or is not a regular file
 */
export function readPlainFile(name: string, maxBytes: number): string | null {
  // Without O_NONBLOCK, opening a FIFO would wait for a writer indefinitely.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  let file: number;
  try {
    file = openSync(name, flags);
  } catch {
    return null;
  }
  try {
    if (!fstatSync(file).isFile()) return null;
    const bytes = Buffer.alloc(maxBytes);
    return bytes.subarray(0, readSync(file, bytes, 0, maxBytes, 0)).toString('utf8');
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

/** Access to a file; `null` keeps the user or group that the system assigns. */
export interface Rights {
  readonly mode: number;
  readonly uid: number | null;
  readonly gid: number | null;
  /** Whether it is an error when the user or group can't be set. */
  readonly required: boolean;
}

/** A complete file that still has its temporary name. */
export interface StagedFile {
  readonly temporary: string;
  readonly name: string;
}

/**
 * Writes a file under a temporary name in the working directory. No existing file is opened, and no link is followed.
 *
 * @param suffix end of the temporary name
 * @throws RefusedPath when a folder has the name, or the system's error
 */
export function stageFile(name: string, content: Uint8Array, rights: Rights, suffix = '.tmp'): StagedFile {
  if (findStatus(name)?.isDirectory())
    throw new RefusedPath(`${shown(name)} is a folder; a file of guard's belongs there.`);
  const temporary = `${name}.${randomBytes(6).toString('hex')}${suffix}`;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = openSync(temporary, flags, 0o600);
  try {
    for (let at = 0; at < content.length; ) at += writeSync(file, content, at);
    setOwner(file, rights);
    // The umask restricts the mode of open(), but not that of fchmod().
    fchmodSync(file, rights.mode);
    fsyncSync(file);
  } catch (error) {
    closeSync(file);
    removeFile(temporary);
    throw error;
  }
  closeSync(file);
  return { temporary, name };
}

function setOwner(file: number, { uid, gid, required }: Rights): void {
  const now = fstatSync(file);
  const [user, group] = [uid ?? now.uid, gid ?? now.gid];
  if (user === now.uid && group === now.gid) return;
  try {
    fchownSync(file, user, group);
  } catch (error) {
    if (required) throw error;
  }
}

/** Renames a staged file to its name. An existing file or link with that name is replaced. */
export function placeFile({ temporary, name }: StagedFile): void {
  renameSync(temporary, name);
}

/** Flushes the working directory's entries. Not every platform supports this; a rename is atomic there nevertheless. */
export function syncFolder(): void {
  try {
    const folder = openSync('.', 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    // Windows can't open a folder.
  }
}

/** The path of a name in the working directory, for messages. */
export function shown(name: string): string {
  try {
    return join(process.cwd(), name);
  } catch {
    // The folder was deleted.
    return name;
  }
}
