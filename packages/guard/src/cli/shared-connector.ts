import { randomBytes } from 'node:crypto';
import { type Dirent, lstatSync, readdirSync, rmdirSync, rmSync, type Stats } from 'node:fs';
import { chmod, mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ConnectorSources } from '../wordpress/site-files.js';
import { CommandError } from './command.js';
import { listFolders, readRelease, toHash } from './connector-files.js';
import { withSignals } from './signals.js';

/** Advice for a WordPress that runs without the connector that it shares. */
export function sharedAdvice(shared: string): string {
  return `The site runs the connector from ${shared}: where PHP has open_basedir, it must name that folder; where PHP keeps files in memory, reload it.`;
}

/** A class that the loader needs first. A folder without it is no release. */
const FIRST_CLASS = 'includes/class-hooks.php';

/**
 * Why sites must not run the connector from a folder: any user who may change it could run code in all of them. The
 * folder and all its ancestors must belong to root and contain no links, and PHP of every site must be able to read it.
 *
 * @param release folder of one release
 * @returns the fault as a sentence, or null
 */
export function findSharedFault(release: string): string | null {
  const classes = join(release, dirname(FIRST_CLASS));
  for (const path of [...listAncestors(release), release, classes, join(release, FIRST_CLASS)]) {
    const isInside = path.length >= dirname(release).length;
    const fault = findFault(path, { isFile: path.endsWith('.php'), isInside });
    if (fault !== null) return fault;
  }
  return findFaultBelow(release);
}

/** The first fault of a file or folder below a folder of a release. */
function findFaultBelow(folder: string): string | null {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    // Only PHP needs these folders, and it reads no lists of them.
    return null;
  }
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const isFile = !entry.isDirectory();
    const fault = findFault(path, { isFile, isInside: true }) ?? (isFile ? null : findFaultBelow(path));
    if (fault !== null) return fault;
  }
  return null;
}

/** Ancestors of a path, from the root on. */
function listAncestors(path: string): readonly string[] {
  const around = dirname(path);
  return around === path ? [] : [...listAncestors(around), around];
}

/**
 * @param position `isInside`: the path is the shared folder or below it, where only root may add files. Above it, the
 *   sticky bit keeps other users from replacing root's files
 */
function findFault(path: string, position: { readonly isFile: boolean; readonly isInside: boolean }): string | null {
  let found: Stats | undefined;
  try {
    found = lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return `PHP of the site can’t reach ${path}: its owner may not enter the folder around it.`;
  }
  if (found === undefined) {
    return `There is no ${path}. As root: security-optimizer share-connector, with the same folder.`;
  }
  if (position.isFile ? !found.isFile() : !found.isDirectory()) return `${path} is a link, or another kind of file.`;
  if (found.uid !== 0) return `${path} belongs to user ${found.uid}. A shared connector must be root’s.`;
  const isSticky = !position.isInside && (found.mode & 0o1000) !== 0;
  if ((found.mode & 0o022) !== 0 && !isSticky) return `Others than root may change ${path}.`;
  const needed = position.isFile ? 0o004 : 0o001;
  return (found.mode & needed) === 0 ? `PHP of the site can’t read ${path}: its mode keeps others out.` : null;
}

/**
 * Copies the connector of this version into a folder that sites share. The release appears atomically under a name
 * derived from its content, and is never changed afterwards, so that no request runs two versions.
 *
 * @param shared absolute path; created if it is missing
 * @returns the folder of the release
 * @throws CommandError, or the system's error
 */
export async function shareConnector(shared: string, sources: ConnectorSources): Promise<string> {
  const contents = await readRelease(sources);
  const release = join(shared, toHash(contents));
  const temporary = join(shared, `.${randomBytes(6).toString('hex')}.tmp`);
  const created: string[] = [];
  const cleanUp = () => {
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
    for (const folder of [...created].reverse()) removeEmptyFolder(folder);
  };
  return withSignals(cleanUp, async () => {
    try {
      await makeSharedFolder(shared, created);
      if (await exists(release)) return accepted(release);
      await writeRelease(contents, temporary);
      await rename(temporary, release);
      return accepted(release);
    } catch (error) {
      cleanUp();
      // Another command has created the release first.
      if (!(await exists(release))) throw error;
      return accepted(release);
    }
  });
}

/** Leaves a folder that another command uses by now. */
function removeEmptyFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is not empty, or gone.
  }
}

async function writeRelease(contents: Awaited<ReturnType<typeof readRelease>>, temporary: string): Promise<void> {
  await makeFolder(temporary);
  for (const folder of listFolders(contents.map(({ to }) => to))) await makeFolder(join(temporary, folder));
  for (const { to, bytes } of contents) {
    const file = await open(join(temporary, to), 'wx', 0o644);
    try {
      await file.writeFile(bytes);
      await file.chmod(0o644);
      await file.sync();
    } finally {
      await file.close();
    }
  }
}

/**
 * Creates missing folders one by one, only in folders that belong to root alone: root must not write where a link of
 * another user leads.
 * @param created receives the created folders
 */
async function makeSharedFolder(shared: string, created: string[]): Promise<void> {
  for (const path of [...listAncestors(shared), shared]) {
    if (!(await exists(path))) {
      await makeFolder(path);
      created.push(path);
    }
    const fault = findFault(path, { isFile: false, isInside: path === shared });
    if (fault !== null) throw new CommandError(fault);
  }
}

/** @throws CommandError for a release that sites must not run */
function accepted(release: string): string {
  const fault = findSharedFault(release);
  if (fault !== null) throw new CommandError(fault);
  return release;
}

/** The umask restricts the mode that mkdir() receives. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { mode: 0o755 });
  await chmod(path, 0o755);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
