import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { basename, join } from 'node:path';
import { enterFolder, findStatus, leaveFolder, readPlainFile, shown } from '../lib/pinned-folder.js';
import type { ExaminedSite, FileFacts, InstalledFile, SiteCall } from '../wordpress/site-files.js';
import { isKeyFile, KEYS, LOADER, OWN_FOLDER, readOwnClassNames } from './connector-files.js';
import { enterWordPress, inFolder, openSite, toFolder } from './open-site.js';
import { findKeyFile, MAX_READ_BYTES } from './site-keys.js';

/** More files than a connector has, with those of former versions. */
const FILES_MAX = 5000;

/** Examines the connector that is installed in a site, without following links or creating anything. */
export function examineConnector(call: SiteCall, secret: string): ExaminedSite {
  const { model, ...wordpress } = enterWordPress(call.folders.wordpressDir);
  const site = openSite(call, { ...wordpress, model }, false);
  const inPlugins = (name: string): FileFacts | null => {
    const found = findStatus(name);
    return found === null ? null : toFileFacts(shown(name), found);
  };
  const facts = {
    plugins: toFileFacts(process.cwd(), lstatSync('.')),
    loader: site === null ? null : inPlugins(LOADER),
    model: toFileFacts(model.path, model.file),
  };
  if (site === null || findStatus(OWN_FOLDER) === null) {
    return { ...facts, secret: null, hasKey: false, installed: [], lacking: [] };
  }
  const key = findKeyFile(site);
  const ofKey = inFolder(toFolder(key), model, () => ({
    secret: inPlugins(basename(key)),
    hasKey: readPlainFile(basename(key), MAX_READ_BYTES)?.includes(secret) === true,
  }));
  const classes = readOwnClassNames(readPlainFile(LOADER, MAX_READ_BYTES) ?? '');
  return {
    ...facts,
    ...ofKey,
    ...inFolder(OWN_FOLDER, model, () => ({
      installed: listInstalled('.'),
      lacking: classes === null ? [] : listLacking(classes),
    })),
  };
}

/** The list of the classes, and the class that the loader calls first. Without one of them it does nothing. */
const FIRST_CLASSES: readonly string[] = ['classes.php', 'class-hooks.php'];

/** Paths of the classes that are missing in a folder, by its own list of them. */
function listLacking(folder: string): readonly string[] {
  const list = findStatus(folder)?.isDirectory() === true ? readListOfClasses(folder) : '';
  const named = [...list.matchAll(/=> '([a-z0-9/-]+\.php)',/g)].map(([, name]) => name as string);
  return [...new Set([...FIRST_CLASSES, ...named])]
    .map((name) => join(folder, name))
    .filter(isMissing)
    .map(shown);
}

/** Empty where this user may not look. */
function readListOfClasses(folder: string): string {
  const here = lstatSync('.');
  try {
    enterFolder(folder);
  } catch {
    return '';
  }
  const text = readPlainFile('classes.php', MAX_READ_BYTES);
  leaveFolder(here);
  return text ?? '';
}

/** False where this user may not look. */
function isMissing(path: string): boolean {
  try {
    return findStatus(path) === null;
  } catch {
    return false;
  }
}

/** The folder and everything in it except keys. A folder that this user can't read is listed without its content. */
function listInstalled(folder: string, found: InstalledFile[] = []): readonly InstalledFile[] {
  if (found.length >= FILES_MAX) return found;
  found.push({ ...toFileFacts(shown(folder === '.' ? '' : folder), lstatSync(folder)), isFolder: true });
  for (const entry of listNames(folder)) {
    const path = join(folder, entry.name);
    const name = `${OWN_FOLDER}/${path}`;
    if (name === KEYS || isKeyFile(name)) continue;
    const status = findStatus(path);
    if (status === null) continue;
    if (entry.isDirectory()) listInstalled(path, found);
    // The mode of a link means nothing.
    else if (!status.isSymbolicLink()) found.push({ ...toFileFacts(shown(path), status), isFolder: false });
  }
  return found;
}

function listNames(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function toFileFacts(path: string, { uid, mode }: Stats): FileFacts {
  return { path, uid, mode: mode & 0o7777 };
}
