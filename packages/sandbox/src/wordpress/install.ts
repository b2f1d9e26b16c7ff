import { fileURLToPath } from 'node:url';
import { newOwner, type Owner, readOwner, saveOwner } from './owner.js';

/** Runs a PHP script with the given environment and answers what it printed. Throws with its error output. */
export type RunPhp = (script: string, env: Readonly<Record<string, string>>) => Promise<string>;

/** Folder of the PHP files of this package. */
export const phpDir = fileURLToPath(new URL('../../php/', import.meta.url));

/**
 * Installs WordPress through PHP when it is new and answers the owner's login.
 * The password is made once and kept in the data folder; if it was lost there, the owner gets a new one.
 */
export async function installWordPress(options: {
  readonly wordpressDir: string;
  readonly dataDir: string;
  readonly siteUrl: string;
  readonly runPhp: RunPhp;
}): Promise<Owner> {
  const known = readOwner(options.dataDir);
  const owner = known ?? newOwner();
  const request = {
    wordpress: options.wordpressDir,
    url: options.siteUrl,
    title: 'Example site',
    email: 'owner@example.com',
    reset: known === null,
    ...owner,
  };
  const output = await options.runPhp(`${phpDir}install.php`, { SANDBOX_INSTALL: JSON.stringify(request) });
  if (!output.includes('"installed":true')) throw new Error(`WordPress could not be installed:\n${output.trim()}`);
  saveOwner(options.dataDir, owner);
  return owner;
}
