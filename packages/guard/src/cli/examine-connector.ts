import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { basename, join } from 'node:path';
import { findStatus, readPlainFile, shown } from '../lib/pinned-folder.js';
import type { ExaminedSite, FileFacts, InstalledFile, SiteCall } from '../wordpress/site-files.js';
import { isKeyFile, KEYS, LOADER, OWN_FOLDER } from './connector-files.js';
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
    return { ...facts, secret: null, hasKey: false, installed: [] };
  }
  const key = findKeyFile(site);
  const ofKey = inFolder(toFolder(key), model, () => ({
    secret: inPlugins(basename(key)),
    hasKey: readPlainFile(basename(key), MAX_READ_BYTES)?.includes(secret) === true,
  }));
  return { ...facts, ...ofKey, installed: inFolder(OWN_FOLDER, model, () => listInstalled('.')) };
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
