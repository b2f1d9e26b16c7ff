import { lstatSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  enterFolder,
  enterNamed,
  findStatus,
  leaveFolder,
  MissingFolder,
  makeFolder,
  RefusedPath,
  type Rights,
  shown,
} from '../lib/pinned-folder.js';
import { becomeUser, isRoot } from '../lib/privileges.js';
import type { SiteCall } from '../wordpress/site-files.js';

/**
 * How a process enters a site's folder of must-use plugins and moves below it: with the rights of the folder's owner,
 * and never through a link or a folder of another user (docs/decisions/0019). The process works in its working
 * directory, and drops root's rights permanently, so it can serve only one site.
 */

/** wp-config.php. The key file gets the same readers. */
export interface Model {
  readonly path: string;
  readonly file: Stats;
  /** The link through which the file was found, if any. */
  readonly link: Stats | null;
}

/** A site whose folder of must-use plugins is the working directory. */
export interface OpenSite {
  /** WordPress's folder with links resolved, as PHP has it in ABSPATH. */
  readonly wordpressDir: string;
  readonly plugins: Stats;
  /** This process has created that folder. */
  readonly isCreated: boolean;
  readonly model: Model;
}

/** User who owns the folders that follow; 0 while every folder so far belongs to root. */
let owner = 0;
const startedAsRoot = isRoot();

/** A WordPress folder that was entered. */
export interface EnteredWordPress {
  /** With links resolved. */
  readonly path: string;
  readonly folder: Stats;
  readonly model: Model;
}

/** @throws MissingFolder, RefusedPath */
export function enterWordPress(wordpressDir: string): EnteredWordPress {
  const folder = enterNamed(wordpressDir);
  return { path: process.cwd(), folder, model: readModel(folder) };
}

/**
 * Enters the folder of must-use plugins.
 * @param make whether to create that folder when it is missing
 * @returns null when it is missing and `make` is false
 * @throws MissingFolder, RefusedPath
 */
export function openSite(
  { folders, isMuPluginsNamed, owner: wanted, reportedOwner }: SiteCall,
  { path, folder: wordpress, model }: EnteredWordPress,
  make: boolean,
): OpenSite | null {
  const { muPluginsDir } = folders;
  let isCreated = false;
  try {
    if (muPluginsDir === undefined) {
      takeOwner(wordpress, model);
      try {
        descend('wp-content', model);
        isCreated = make && makeOwnedFolder('mu-plugins', wanted);
        descend('mu-plugins', model);
      } catch (error) {
        throw error instanceof RefusedPath ? new RefusedPath(`${error.message} ${NAME_THE_FOLDER}`) : error;
      }
    } else {
      const around = enterNamed(dirname(muPluginsDir));
      const name = basename(muPluginsDir);
      const exists = findStatus(name) !== null;
      const folder = exists ? enterNamed(muPluginsDir) : around;
      if (startedAsRoot && !isMuPluginsNamed && folder.uid !== wordpress.uid) {
        throw new RefusedPath(
          `${muPluginsDir} belongs to user ${folder.uid}, WordPress to user ${wordpress.uid}. ${NAME_THE_FOLDER}`,
        );
      }
      takeOwner(folder, model);
      if (startedAsRoot && reportedOwner !== undefined && folder.uid !== reportedOwner) {
        throw new RefusedPath(
          `${process.cwd()} belongs to user ${folder.uid}, and the site’s code runs as user ${reportedOwner}.`,
        );
      }
      if (!exists) {
        isCreated = make && makeOwnedFolder(name, wanted);
        descend(name, model);
      }
    }
  } catch (error) {
    if (!(error instanceof MissingFolder) || make) throw error;
    refuseUnlessOwner(wanted);
    return null;
  }
  refuseUnlessOwner(wanted);
  return { wordpressDir: path, plugins: lstatSync('.'), isCreated, model };
}

/** @param wanted user who must own these folders, or would own them once they are created; undefined for any user */
function refuseUnlessOwner(wanted: number | undefined): void {
  if (wanted === undefined || owner === wanted) return;
  throw new RefusedPath(
    `${shown('')} belongs to user ${owner}, and the releases that have the key of this site to user ${wanted}.`,
  );
}

/** @returns whether the folder was created; false when it existed already */
function makeOwnedFolder(name: string, wanted: number | undefined): boolean {
  if (findStatus(name) !== null) return false;
  refuseUnlessOwner(wanted);
  return makeFolder(name);
}

const NAME_THE_FOLDER = 'Name the real path of its folder of must-use plugins with --mu-plugins.';

/** Continues with the rights of a folder's owner, unless every folder so far belongs to root. */
function takeOwner(folder: Stats, model: Model): void {
  owner = folder.uid;
  if (owner === 0 || !isRoot()) return;
  const group = isTrusted(model) && model.file.gid !== 0 ? { group: model.file.gid } : {};
  becomeUser(owner, { ...group, fallbackGroup: folder.gid, withGroups: false });
}

function descend(name: string, model: Model): void {
  const folder = enterFolder(name, (found) => {
    const own = process.geteuid?.();
    // Below root's folders, the first other owner counts: only root can have created that folder there.
    if (owner === 0 || found.uid === owner || (own !== 0 && found.uid === own)) return;
    throw new RefusedPath(`${shown(name)} belongs to user ${found.uid}, the folder around it to user ${owner}.`);
  });
  if (owner === 0 && folder.uid !== 0) takeOwner(folder, model);
}

/** Runs a function in a folder below the working directory, and returns to the working directory. */
export function inFolder<Result>(path: string, model: Model, work: () => Result): Result {
  const names = path === '' ? [] : path.split('/');
  const trail: Stats[] = [];
  for (const name of names) {
    const here = lstatSync('.');
    descend(name, model);
    trail.push(here);
  }
  const result = work();
  for (const folder of trail.reverse()) leaveFolder(folder);
  return result;
}

/** Returns to the folder of must-use plugins from wherever a failed step has ended. @throws RefusedPath */
export function goBack({ plugins }: OpenSite): void {
  const deepest = 16;
  for (let step = 0; step < deepest; step++) {
    const here = lstatSync('.');
    if (here.ino === plugins.ino && here.dev === plugins.dev) return;
    process.chdir('..');
  }
  throw new RefusedPath('The folders of the site were moved while guard worked in them.');
}

/** Whether a file below the folder exists. */
export function existsInSite(site: OpenSite, name: string): boolean {
  return inFolderIfPresent(toFolder(name), site, () => findStatus(basename(name)) !== null) === true;
}

/** The folder part of a name; '' for the top. */
export function toFolder(name: string): string {
  const folder = dirname(name);
  return folder === '.' ? '' : folder;
}

/** Runs a function in a folder that may be missing, and returns from it. @returns null when the folder is missing */
export function inFolderIfPresent<Result>(path: string, site: OpenSite, work: () => Result): Result | null {
  try {
    return inFolder(path, site.model, work);
  } catch (error) {
    if (!(error instanceof MissingFolder)) throw error;
    goBack(site);
    return null;
  }
}

/**
 * wp-config.php, or wp-load.php before WordPress is configured. Like wp-load.php, this uses the file in the parent
 * folder only if that folder holds no WordPress, whose configuration may have other readers.
 * @param wordpress the working directory
 */
function readModel(wordpress: Stats): Model {
  const isBelowAnother = statSync(join('..', 'wp-settings.php'), { throwIfNoEntry: false }) !== undefined;
  const above = isBelowAnother ? [] : [join('..', 'wp-config.php')];
  for (const name of ['wp-config.php', ...above, 'wp-load.php']) {
    const found = findStatus(name);
    if (found?.isFile()) return { path: shown(name), file: found, link: null };
    const target = found?.isSymbolicLink() ? statSync(name, { throwIfNoEntry: false }) : undefined;
    if (target?.isFile()) return { path: shown(name), file: target, link: found };
  }
  return { path: process.cwd(), file: wordpress, link: null };
}

/**
 * Whether the owner may receive a file with the group of wp-config.php. They may if they own wp-config.php. A file of
 * another user is in their folder because that user or root put it there, unless it is a hard link.
 */
function isTrusted({ file, link }: Model): boolean {
  if (file.uid === owner) return true;
  return link === null ? file.nlink === 1 : link.uid === 0;
}

/** Users who may read the database password may read the key, and nobody else. */
export function secretRights(model: Model): Rights {
  const { path, file } = model;
  const mode = file.mode & 0o644;
  if (!startedAsRoot) return { mode, uid: null, gid: file.gid, required: false };
  if (isRoot()) return { mode, uid: file.uid, gid: file.gid, required: true };
  const isForAll = (mode & 0o004) !== 0;
  if (isForAll) return { mode, uid: null, gid: null, required: true };
  const isForOwnerAlone = (mode & 0o040) === 0;
  if (isForOwnerAlone ? file.uid !== owner && file.uid !== 0 : !isTrusted(model)) {
    throw new RefusedPath(
      `${path} belongs to user ${file.uid} and not to user ${owner}, who owns the folder of must-use plugins: the key file can’t be given the same readers. Change the owner of one of them.`,
    );
  }
  return file.gid === 0 || isForOwnerAlone
    ? { mode: 0o600, uid: null, gid: null, required: true }
    : { mode, uid: null, gid: file.gid, required: true };
}

/** Rights of every file except a key. */
export const PUBLIC: Rights = { mode: 0o644, uid: null, gid: null, required: false };
