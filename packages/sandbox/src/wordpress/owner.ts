import { randomInt } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Login of the site's administrator. */
export interface Owner {
  readonly user: string;
  readonly password: string;
}

const CHARACTERS = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** Reads the login from the data folder; null if there is none. */
export function readOwner(dataDir: string): Owner | null {
  try {
    const value = JSON.parse(readFileSync(toFile(dataDir), 'utf8')) as Partial<Owner> | null;
    if (typeof value?.user !== 'string' || typeof value.password !== 'string') return null;
    return { user: value.user, password: value.password };
  } catch {
    return null;
  }
}

/** Creates a login with a random password of 20 unambiguous letters and digits (about 115 bits). */
export function createOwner(random: (below: number) => number = (below) => randomInt(below)): Owner {
  const password = Array.from({ length: 20 }, () => CHARACTERS.charAt(random(CHARACTERS.length))).join('');
  return { user: 'owner', password };
}

/** Stores the login in the data folder. Only the user who runs the sandbox can read it. */
export function saveOwner(dataDir: string, owner: Owner): void {
  writeFileSync(toFile(dataDir), `${JSON.stringify(owner)}\n`, { mode: 0o600 });
  chmodSync(toFile(dataDir), 0o600);
}

function toFile(dataDir: string): string {
  return join(dataDir, 'owner.json');
}
