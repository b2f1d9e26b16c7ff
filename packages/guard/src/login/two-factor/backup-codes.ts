import { createHmac, hkdfSync } from 'node:crypto';
import type { SecretOwner } from './secrets.js';

/** How many a user gets. */
export const BACKUP_CODES = 10;
const DIGITS = 8;

/**
 * New back-up codes, all different, 8 digits each: with ten tries until a pause, guessing is hopeless.
 * @param randomInt an even choice from 0 to below its argument
 */
export function newBackupCodes(randomInt: (below: number) => number): string[] {
  const codes = new Set<string>();
  while (codes.size < BACKUP_CODES) codes.add(String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0'));
  return [...codes];
}

/** A code as people read it: two groups of four. */
export function showBackupCode(code: string): string {
  return `${code.slice(0, 4)} ${code.slice(4)}`;
}

/** Eight digits without the spaces and hyphens that people put in, or null when it can't be a back-up code. */
export function normaliseBackupCode(typed: string): string | null {
  const digits = typed.replace(/[\s-]/g, '');
  return /^\d{8}$/.test(digits) ? digits : null;
}

/**
 * What is stored of a code. Eight digits could be guessed from a plain hash; without the key file they can't.
 * @param key content of the key file, 32 bytes
 */
export function hashBackupCode(key: Uint8Array, owner: SecretOwner, code: string): string {
  const codesKey = Buffer.from(hkdfSync('sha256', key, '', 'second factor: back-up codes', 32));
  return createHmac('sha256', codesKey)
    .update(JSON.stringify([owner.site, owner.userId, code]))
    .digest('hex');
}
