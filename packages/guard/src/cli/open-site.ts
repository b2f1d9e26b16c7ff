import { lstatSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  enterFolder,
  enterNamed,
  leaveFolder,
  look,
  MissingFolder,
  makeFolder,
  RefusedPath,
  type Rights,
  shown,
} from '../lib/pinned-folder.js';
import { becomeUser, isRoot } from '../lib/privileges.js';
import type { SiteCall } from '../wordpress/site-files.js';

/**
 * How a process gets into a site's folder of must-use plugins and moves below it: with the rights of the folder's owner,
 * and through no link or folder of another user (docs/decisions/0019). It works in its working directory, and it gives
 * root's rights away for good, so that it is for one site.
 */

/** wp-config.php, whose rights the key file gets. */
export interface Model {
  readonly path: string;
  readonly file: Stats;
  /** The link by which it was found. */
  readonly link: Stats | null;
}

/** A site whose folder of must-use plugins is the working directory. */
export interface OpenSite {
  /** WordPress's folder without links in its path, as PHP has it in ABSPATH. */
  readonly wordpressDir: string;
  readonly plugins: Stats;
  /** This process has made that folder. */
  readonly isMade: boolean;
  readonly model: Model;
}

/** User who owns the folders from here on; 0 while every folder so far was root's. */
let owner = 0;
const startedAsRoot = isRoot();

/** A WordPress folder that was entered. */
export interface EnteredWordPress {
  /** Without links in its path. */
  readonly path: string;
  readonly folder: Stats;
  readonly model: Model;
}

/** Throws MissingFolder or RefusedPath. */
export function enterWordPress(wordpressDir: string): EnteredWordPress {
  const folder = enterNamed(wordpressDir);
  return { path: process.cwd(), folder, model: readModel(folder) };
}

/**
 * Goes on to the folder of must-use plugins. Throws MissingFolder or RefusedPath.
 * @param make whether that folder is made where it is missing
 * @returns null where there is none and none is to be made
 */
export function openSite(
  { folders, isMuPluginsNamed, owner: wanted, toldOwner }: SiteCall,
  { path, folder: wordpress, model }: EnteredWordPress,
  make: boolean,
): OpenSite | null {
  const { muPluginsDir } = folders;
  let isMade = false;
  try {
    if (muPluginsDir === undefined) {
      takeOwner(wordpress, model);
      try {
        descend('wp-content', model);
        isMade = make && makeWanted('mu-plugins', wanted);
        descend('mu-plugins', model);
      } catch (error) {
        throw error instanceof RefusedPath ? new RefusedPath(`${error.message} ${NAME_THE_FOLDER}`) : error;
      }
    } else {
      const around = enterNamed(dirname(muPluginsDir));
      const name = basename(muPluginsDir);
      const there = look(name) !== null;
      const folder = there ? enterNamed(muPluginsDir) : around;
      if (startedAsRoot && !isMuPluginsNamed && folder.uid !== wordpress.uid) {
        throw new RefusedPath(
          `${muPluginsDir} belongs to user ${folder.uid}, WordPress to user ${wordpress.uid}. ${NAME_THE_FOLDER}`,
        );
      }
      takeOwner(folder, model);
      if (startedAsRoot && toldOwner !== undefined && folder.uid !== toldOwner) {
        throw new RefusedPath(
          `${process.cwd()} belongs to user ${folder.uid}, and the site’s code runs as user ${toldOwner}.`,
        );
      }
      if (!there) {
        isMade = make && makeWanted(name, wanted);
        descend(name, model);
      }
    }
  } catch (error) {
    if (!(error instanceof MissingFolder) || make) throw error;
    refuseUnlessOwner(wanted);
    return null;
  }
  refuseUnlessOwner(wanted);
  return { wordpressDir: path, plugins: lstatSync('.'), isMade, model };
}

/** @param wanted user whose folders these must be, or would be when they are made; undefined for anybody */
function refuseUnlessOwner(wanted: number | undefined): void {
  if (wanted === undefined || owner === wanted) return;
  throw new RefusedPath(
    `${shown('')} belongs to user ${owner}, and the releases that have the key of this site to user ${wanted}.`,
  );
}

/** @returns whether the folder was made; false where there was one already */
function makeWanted(name: string, wanted: number | undefined): boolean {
  if (look(name) !== null) return false;
  refuseUnlessOwner(wanted);
  return makeFolder(name);
}

const NAME_THE_FOLDER = 'Name the real path of its folder of must-use plugins with --mu-plugins.';

/** Goes on with the rights of a folder's owner, unless everything so far is root's own. */
function takeOwner(folder: Stats, model: Model): void {
  owner = folder.uid;
  if (owner === 0 || !isRoot()) return;
  const group = isTrusted(model) && model.file.gid !== 0 ? { group: model.file.gid } : {};
  becomeUser(owner, { ...group, fallbackGroup: folder.gid, withGroups: false });
}

function descend(name: string, model: Model): void {
  const folder = enterFolder(name, (found) => {
    const own = process.geteuid?.();
    // Below folders of root's, the first other owner counts: nobody but root can have put the folder there.
    if (owner === 0 || found.uid === owner || (own !== 0 && found.uid === own)) return;
    throw new RefusedPath(`${shown(name)} belongs to user ${found.uid}, the folder around it to user ${owner}.`);
  });
  if (owner === 0 && folder.uid !== 0) takeOwner(folder, model);
}

/** Does something in a folder below the working directory and comes back. */
export function within<Result>(path: string, model: Model, make: boolean, work: () => Result): Result {
  const names = path === '' ? [] : path.split('/');
  const trail: Stats[] = [];
  for (const name of names) {
    const here = lstatSync('.');
    if (make) makeFolder(name);
    descend(name, model);
    trail.push(here);
  }
  const result = work();
  for (const folder of trail.reverse()) leaveFolder(folder);
  return result;
}

/** Goes back to the folder of must-use plugins from where a failed step has left the process. Throws RefusedPath. */
export function goBack({ plugins }: OpenSite): void {
  const deepest = 16;
  for (let step = 0; step < deepest; step++) {
    const here = lstatSync('.');
    if (here.ino === plugins.ino && here.dev === plugins.dev) return;
    process.chdir('..');
  }
  throw new RefusedPath('The folders of the site were moved while guard worked in them.');
}

/** Whether a file below the folder is there. */
export function isThere(site: OpenSite, name: string): boolean {
  return withinIfThere(toFolder(name), site, () => look(basename(name)) !== null) === true;
}

/** The folder of a name, '' for the top. */
export function toFolder(name: string): string {
  const folder = dirname(name);
  return folder === '.' ? '' : folder;
}

/** Does something in a folder that may be missing, and comes back. @returns null where it is missing */
export function withinIfThere<Result>(path: string, site: OpenSite, work: () => Result): Result | null {
  try {
    return within(path, site.model, false, work);
  } catch (error) {
    if (!(error instanceof MissingFolder)) throw error;
    goBack(site);
    return null;
  }
}

/**
 * wp-config.php, or wp-load.php before WordPress is configured. As wp-load.php does, it takes the one a folder up only
 * if that folder holds no WordPress: the other one's configuration may have other readers.
 * @param wordpress the working directory
 */
function readModel(wordpress: Stats): Model {
  const isBelowAnother = statSync(join('..', 'wp-settings.php'), { throwIfNoEntry: false }) !== undefined;
  const above = isBelowAnother ? [] : [join('..', 'wp-config.php')];
  for (const name of ['wp-config.php', ...above, 'wp-load.php']) {
    const found = look(name);
    if (found?.isFile()) return { path: shown(name), file: found, link: null };
    const target = found?.isSymbolicLink() ? statSync(name, { throwIfNoEntry: false }) : undefined;
    if (target?.isFile()) return { path: shown(name), file: target, link: found };
  }
  return { path: process.cwd(), file: wordpress, link: null };
}

/**
 * Whether the owner may have a file of the group that wp-config.php has. They have one already if it is theirs; a file
 * of another user is in their folder because that user or root put it there, unless it is a second name of it.
 */
function isTrusted({ file, link }: Model): boolean {
  if (file.uid === owner) return true;
  return link === null ? file.nlink === 1 : link.uid === 0;
}

/** Those who may read the database password may read the key, nobody else. */
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

/** Of every file but a key. */
export const PUBLIC: Rights = { mode: 0o644, uid: null, gid: null, required: false };
