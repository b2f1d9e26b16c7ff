import { fileURLToPath } from 'node:url';
import { createOwner, type Owner, readOwner, saveOwner } from './owner.js';

/** Runs a PHP script with the given environment and returns its output. Throws with its error output. */
export type RunPhp = (script: string, env: Readonly<Record<string, string>>) => Promise<string>;

/** Folder of the PHP files of this package. */
export const phpDir = fileURLToPath(new URL('../../php/', import.meta.url));

/**
 * Installs WordPress if it is new. The password is created once and stored in the data folder; if it is missing there,
 * the owner gets a new one.
 * @returns the owner's login
 */
export async function installWordPress(options: {
  readonly wordpressDir: string;
  readonly dataDir: string;
  readonly siteUrl: string;
  readonly runPhp: RunPhp;
}): Promise<Owner> {
  const stored = readOwner(options.dataDir);
  const owner = stored ?? createOwner();
  const request = {
    wordpress: options.wordpressDir,
    url: options.siteUrl,
    title: 'Example site',
    email: 'owner@example.com',
    reset: stored === null,
    ...owner,
  };
  const output = await options.runPhp(`${phpDir}install.php`, { SANDBOX_INSTALL: JSON.stringify(request) });
  if (!output.includes('"installed":true')) throw new Error(`WordPress could not be installed:\n${output.trim()}`);
  saveOwner(options.dataDir, owner);
  return owner;
}
