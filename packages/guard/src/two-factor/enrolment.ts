import { createHmac, hkdfSync, randomBytes, randomInt } from 'node:crypto';
import { encode } from 'uqr';
import type { StoredChallenge } from './challenges.js';
import { decryptSecret, encryptSecret, type FactorKey, getKeyForSetup, type SecretOwner } from './factor-key.js';
import type { FactorStore } from './factor-store.js';
import { findMatchingStep, SECRET_BYTES } from './totp.js';
import { readCode } from './typed-code.js';

export interface EnrolmentServices {
  readonly factors: FactorStore;
  /** Path of the key file. */
  readonly keyFile: string;
  readonly onKeyCreated: () => void;
}

/**
 * The secret that a user sets up, created on first use. The same challenge gets the same secret again; another browser
 * gets a new one, so that no user scans a code that someone else has seen.
 *
 * @returns null when the user's factor is enabled already
 * @throws FactorKeyError, StorageError
 */
export async function getSetupSecret(
  deps: EnrolmentServices,
  challenge: StoredChallenge,
  now: number,
): Promise<Buffer | null> {
  const key = await getKeyForSetup(deps.keyFile, deps.factors, deps.onKeyCreated);
  const secret = encryptSecret(key.bytes, challenge, randomBytes(SECRET_BYTES), randomBytes(12));
  await deps.factors.startSetup(challenge, {
    login: challenge.login,
    secret,
    keyId: key.id,
    challenge: challenge.idHash,
    at: now,
  });
  return findPendingSecret(deps, challenge, key);
}

/**
 * Checks the first code of a new factor and creates the back-up codes, which are shown only once.
 * @returns the codes, or null when the code was wrong, already used, or for another browser's secret
 * @throws FactorKeyError, StorageError
 */
export async function confirmSetup(
  deps: EnrolmentServices,
  challenge: StoredChallenge,
  typed: string,
  now: number,
): Promise<readonly string[] | null> {
  const key = await getKeyForSetup(deps.keyFile, deps.factors, deps.onKeyCreated);
  const secret = await findPendingSecret(deps, challenge, key);
  const step = secret === null ? null : findMatchingStep(secret, typed, { now, lastStep: 0 });
  if (step === null) return null;
  const codes = createBackupCodes(randomInt);
  const hashes = codes.map((code) => hashBackupCode(key.bytes, challenge, code));
  const change = { challenge: challenge.idHash, step, codes: hashes, at: now };
  return (await deps.factors.confirmSetup(challenge, change)) ? codes : null;
}

/**
 * Creates new back-up codes for a user who closed the page with the first ones before saving them.
 * @returns null when there is no confirmed setup
 * @throws FactorKeyError, StorageError
 */
export async function renewSetupCodes(
  deps: EnrolmentServices,
  challenge: StoredChallenge,
): Promise<readonly string[] | null> {
  if (!challenge.confirmed) return null;
  const key = await getKeyForSetup(deps.keyFile, deps.factors, deps.onKeyCreated);
  const codes = createBackupCodes(randomInt);
  const hashes = codes.map((code) => hashBackupCode(key.bytes, challenge, code));
  const change = { challenge: challenge.idHash, codes: hashes };
  return (await deps.factors.replaceSetupCodes(challenge, change)) ? codes : null;
}

async function findPendingSecret(
  deps: EnrolmentServices,
  challenge: StoredChallenge,
  key: FactorKey,
): Promise<Buffer | null> {
  const factor = await deps.factors.read(challenge);
  if (factor === null || factor.enabled || factor.setupChallenge !== challenge.idHash) return null;
  return decryptSecret(key.bytes, challenge, factor.secret);
}

/** Number of back-up codes per user. */
export const BACKUP_CODES = 10;
const DIGITS = 8;

/**
 * Creates back-up codes, all different, 8 digits each. With ten attempts until a pause, they can't be guessed.
 * @param randomInt returns a uniformly random integer from 0 to below its argument
 */
export function createBackupCodes(randomInt: (below: number) => number): string[] {
  const codes = new Set<string>();
  while (codes.size < BACKUP_CODES) codes.add(String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0'));
  return [...codes];
}

/** Formats a code for display: two groups of four digits. */
export function formatBackupCode(code: string): string {
  return `${code.slice(0, 4)} ${code.slice(4)}`;
}

/** The eight digits of a typed back-up code in ASCII, or null when the text can't be one. */
export function parseBackupCode(typed: string): string | null {
  return readCode(typed, DIGITS);
}

/**
 * The stored form of a code. Eight digits could be guessed from a plain hash, but not without the key file.
 * @param key content of the key file, 32 bytes
 */
export function hashBackupCode(key: Uint8Array, owner: SecretOwner, code: string): string {
  const codesKey = Buffer.from(hkdfSync('sha256', key, '', 'second factor: back-up codes', 32));
  return createHmac('sha256', codesKey)
    .update(JSON.stringify([owner.site, owner.userId, code]))
    .digest('hex');
}

/**
 * A QR code as the path of an SVG image with a view box of `size` by `size`: one unit per module, without quiet zone.
 */
export function createQrCode(text: string): { readonly size: number; readonly path: string } {
  const { size, data } = encode(text, { ecc: 'M', border: 0 });
  let path = '';
  data.forEach((row, y) => {
    for (let x = 0; x < size; x++) {
      if (!row[x]) continue;
      const start = x;
      while (x < size && row[x]) x++;
      path += `M${start} ${y}h${x - start}v1h-${x - start}z`;
    }
  });
  return { size, path };
}
