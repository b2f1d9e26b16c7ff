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
 * Walks through folders whose owner may be an enemy, and works in one of them.
 *
 * Node has no `openat`. The working directory of a process does the same: it stays the folder that it is, whatever its
 * path is made to lead to meanwhile, and a name without a slash is looked up in it. Each step compares the folder that
 * was looked at with the one that was entered. That is why this belongs into a process of its own, and why everything
 * here is synchronous.
 */

/** Something on the way is not what may be there: a link, a file, a folder of another user. */
export class RefusedPath extends Error {}

/** A folder on the way is not there. */
export class MissingFolder extends Error {}

/** How many links a path may lead through, as Linux has it. */
const MAX_LINKS = 40;

/**
 * Enters a folder that the operator named. Links are followed where nobody but root, this process's user and the owner
 * of the folder they lead to could have laid them.
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
    const found = look(name);
    if (found === null) throw new MissingFolder(`${shown(name)} is not there.`);
    if (!found.isSymbolicLink()) {
      enterFound(name, found);
      continue;
    }
    if (++links > MAX_LINKS) throw new RefusedPath(`${shown(name)} leads in a circle.`);
    const around = lstatSync('.');
    // In a sticky folder nobody else can change the link; elsewhere the folder's owner can.
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
 * What a name in the working directory is, without following it.
 * @returns null when there is nothing
 */
export function look(name: string): Stats | null {
  return lstatSync(name, { throwIfNoEntry: false }) ?? null;
}

/**
 * Enters a folder of the working directory. It must be a real one.
 * @param check is given the folder before it is entered, and throws when it won't do
 * @throws RefusedPath, MissingFolder
 */
export function enterFolder(name: string, check: (folder: Stats) => void = () => {}): Stats {
  const found = look(name);
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

/** Goes back to the folder that a step was taken from. Throws RefusedPath when it is another one by now. */
export function leaveFolder(to: Stats): void {
  const path = shown('');
  process.chdir('..');
  if (!isSame(lstatSync('.'), to)) throw new RefusedPath(`${path} was moved while guard worked in it.`);
}

function isSame(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}

/** Makes a folder in the working directory that others may enter, unless something has its name. */
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
    // Something else is in it, or it is gone.
  }
}

/** Removes a name that is no folder; a link goes, never what it leads to. */
export function removeFile(name: string): void {
  const found = look(name);
  if (found === null || found.isDirectory()) return;
  unlinkSync(name);
}

/**
 * The beginning of a plain file in the working directory.
 * @returns null when there is none, or something else has its name
 */
export function readPlainFile(name: string, maxBytes: number): string | null {
  // Without O_NONBLOCK opening a FIFO would wait for a writer for ever.
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

/** Who may do what with a file; `null` leaves the user or group that the system gives it. */
export interface Rights {
  readonly mode: number;
  readonly uid: number | null;
  readonly gid: number | null;
  /** Whether a user or group that may not be set is an error. */
  readonly required: boolean;
}

/** A file that is written and has not its name yet. */
export interface StagedFile {
  readonly temporary: string;
  readonly name: string;
}

/**
 * Writes a file beside its place in the working directory. Nothing that is there is opened or followed.
 *
 * @param suffix end of the temporary name
 * @throws RefusedPath where a folder has the name, or the system's error
 */
export function stageFile(name: string, content: Uint8Array, rights: Rights, suffix = '.tmp'): StagedFile {
  if (look(name)?.isDirectory()) throw new RefusedPath(`${shown(name)} is a folder; a file of guard's belongs there.`);
  const temporary = `${name}.${randomBytes(6).toString('hex')}${suffix}`;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = openSync(temporary, flags, 0o600);
  try {
    for (let at = 0; at < content.length; ) at += writeSync(file, content, at);
    setOwner(file, rights);
    // The mode given to open() is cut by the umask; this one is not.
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

/** Gives a staged file its name; whatever had it before is replaced, a link included. */
export function placeFile({ temporary, name }: StagedFile): void {
  renameSync(temporary, name);
}

/** Flushes the names of the working directory. Not every platform can; a rename is atomic there all the same. */
export function syncFolder(): void {
  try {
    const folder = openSync('.', 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    // Opening a folder is not possible on Windows.
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
