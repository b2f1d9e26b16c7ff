import { lstatSync, readdirSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { isSecret } from '../config/secret-form.js';
import { findStatus, readPlainFile, shown } from '../lib/pinned-folder.js';
import { secretPhp, toKeyFileName } from '../wordpress/connector-secret.js';
import type { KeyLocation, SecretContent, SharedKey } from '../wordpress/site-files.js';
import { isKeyFile, KEYS, SECRET } from './connector-files.js';
import { existsInSite, goBack, inFolder, inFolderIfPresent, type OpenSite, toFolder } from './open-site.js';

/**
 * The key files in a site's folder of must-use plugins: `secret.php` for the only site that uses the folder, or a file
 * for each site in `keys`, named after the path of its WordPress (decision 32).
 */

/** Enough for every loader and key file. A larger file is not guard's. */
export const MAX_READ_BYTES = 65_536;

/** Whether the folder of must-use plugins has one key for each site. */
export function hasKeys(site: OpenSite): boolean {
  return listKeys(site).length > 0;
}

/** Names of the existing key files in `keys`. */
export function listKeys(site: OpenSite): readonly string[] {
  const names = inFolderIfPresent(KEYS, site, () => readdirSync('.')) ?? [];
  return names.map((name) => `${KEYS}/${name}`).filter(isKeyFile);
}

/** Whether a key file holds a key. */
export function containsKey(site: OpenSite, name: string, secret: string): boolean {
  if (!isSecret(secret)) return false;
  const text = inFolderIfPresent(toFolder(name), site, () => readPlainFile(basename(name), MAX_READ_BYTES));
  return text?.includes(secret) === true;
}

/** The key file that the connector reads for this site. */
export function findKeyFile(site: OpenSite): string {
  return existsInSite(site, ownKeyFile(site)) ? ownKeyFile(site) : SECRET;
}

/** Name of the site's key file in `keys`. */
export function ownKeyFile({ wordpressDir }: OpenSite): string {
  return `${KEYS}/${toKeyFileName(wordpressDir)}`;
}

/** The key file to write; empty when the operator provides the key. */
export function toKeyFiles(
  site: OpenSite,
  location: KeyLocation,
  content: SecretContent,
): readonly { readonly name: string; readonly bytes: Uint8Array }[] {
  if (location === 'external') return [];
  if (location === 'secret.php') return [{ name: SECRET, bytes: Buffer.from(secretPhp(content)) }];
  // `?>` would end PHP code, even in a comment.
  const about = `// Of the WordPress in ${JSON.stringify(site.wordpressDir).replaceAll('?', '\\u003f')}.\n`;
  return [{ name: ownKeyFile(site), bytes: Buffer.from(`${secretPhp(content)}${about}`) }];
}

/** Whether a key file belongs to a WordPress that no longer exists, such as a release that a deployment has removed. */
export function isOfMissingRelease(site: OpenSite, name: string): boolean {
  try {
    const text = inFolder(toFolder(name), site.model, () => readPlainFile(basename(name), MAX_READ_BYTES));
    const path = /^\/\/ Of the WordPress in (".+")\.$/m.exec(text ?? '')?.[1];
    return path !== undefined && statSync(JSON.parse(path) as string, { throwIfNoEntry: false }) === undefined;
  } catch {
    goBack(site);
    return false;
  }
}

/** Which other sites could read the site's key in a folder that it shares. */
export function examineSharedKey(site: OpenSite): SharedKey {
  const own = basename(ownKeyFile(site));
  return inFolder(KEYS, site.model, () => {
    const { uid, mode } = lstatSync(own);
    const others = readdirSync('.').filter((name) => name !== own && isKeyFile(`${KEYS}/${name}`));
    const hasSameOwner = others.some((name) => findStatus(name)?.uid === uid);
    return { path: shown(own), isPublic: (mode & 0o004) !== 0, hasSameOwner };
  });
}
