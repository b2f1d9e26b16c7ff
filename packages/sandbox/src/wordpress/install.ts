import { randomInt } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

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

/** Login of the site's administrator. */
export interface Owner {
  readonly user: string;
  readonly password: string;
}

const letters = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** The login kept in the data folder; null when there is none yet. */
export function readOwner(dataDir: string): Owner | null {
  try {
    const value = JSON.parse(readFileSync(ownerFile(dataDir), 'utf8')) as Partial<Owner> | null;
    if (typeof value?.user !== 'string' || typeof value.password !== 'string') return null;
    return { user: value.user, password: value.password };
  } catch {
    return null;
  }
}

/** A new login with a random password of 20 letters and digits (about 115 bits), none of them easily mistaken. */
export function newOwner(random: (below: number) => number = (below) => randomInt(below)): Owner {
  const password = Array.from({ length: 20 }, () => letters.charAt(random(letters.length))).join('');
  return { user: 'owner', password };
}

/** Keeps the login in the data folder, readable for the user who runs the sandbox only. */
export function saveOwner(dataDir: string, owner: Owner): void {
  writeFileSync(ownerFile(dataDir), `${JSON.stringify(owner)}\n`, { mode: 0o600 });
  chmodSync(ownerFile(dataDir), 0o600);
}

function ownerFile(dataDir: string): string {
  return join(dataDir, 'owner.json');
}
