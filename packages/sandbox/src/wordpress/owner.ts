import { randomInt } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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
