import { randomBytes, randomInt } from 'node:crypto';
import type { StoredChallenge } from '../../storage/challenge-store.js';
import type { SecondFactorStore } from '../../storage/second-factor-store.js';
import { hashBackupCode, newBackupCodes } from './backup-codes.js';
import { type FactorKey, keyForSetup } from './factor-key.js';
import { openSecret, sealSecret } from './secrets.js';
import { matchingStep, SECRET_BYTES } from './totp.js';

export interface EnrolDeps {
  readonly factors: SecondFactorStore;
  /** Path of the key file. */
  readonly keyFile: string;
  readonly onKeyMade: () => void;
}

/**
 * The secret that a user sets up, made at the first look. The same challenge sees the same secret again; another
 * browser gets a new one, so that nobody ever scans a code that somebody else was shown.
 *
 * @returns null when the user's factor is on already
 * @throws FactorKeyProblem, StorageError
 */
export async function secretToSetUp(deps: EnrolDeps, challenge: StoredChallenge, now: number): Promise<Buffer | null> {
  const key = await keyForSetup(deps.keyFile, deps.factors, deps.onKeyMade);
  const secret = sealSecret(key.bytes, challenge, randomBytes(SECRET_BYTES), randomBytes(12));
  await deps.factors.startSetup(challenge, {
    login: challenge.login,
    secret,
    keyId: key.id,
    challenge: challenge.idHash,
    at: now,
  });
  return pendingSecret(deps, challenge, key);
}

/**
 * Checks the first code of a new factor and makes the back-up codes, which are shown this once.
 * @returns the codes, or null when the code was wrong, used, or for another browser's secret
 * @throws FactorKeyProblem, StorageError
 */
export async function confirmSetup(
  deps: EnrolDeps,
  challenge: StoredChallenge,
  typed: string,
  now: number,
): Promise<readonly string[] | null> {
  const key = await keyForSetup(deps.keyFile, deps.factors, deps.onKeyMade);
  const secret = await pendingSecret(deps, challenge, key);
  const step = secret === null ? null : matchingStep(secret, typed, { now, lastStep: 0 });
  if (step === null) return null;
  const codes = newBackupCodes(randomInt);
  const hashes = codes.map((code) => hashBackupCode(key.bytes, challenge, code));
  const change = { challenge: challenge.idHash, step, codes: hashes, at: now };
  return (await deps.factors.confirmSetup(challenge, change)) ? codes : null;
}

/**
 * New back-up codes for a visitor who left the page with the first ones before saving them.
 * @returns null when there is no confirmed set-up to make them for
 * @throws FactorKeyProblem, StorageError
 */
export async function renewSetupCodes(deps: EnrolDeps, challenge: StoredChallenge): Promise<readonly string[] | null> {
  if (!challenge.confirmed) return null;
  const key = await keyForSetup(deps.keyFile, deps.factors, deps.onKeyMade);
  const codes = newBackupCodes(randomInt);
  const hashes = codes.map((code) => hashBackupCode(key.bytes, challenge, code));
  const change = { challenge: challenge.idHash, codes: hashes };
  return (await deps.factors.replaceSetupCodes(challenge, change)) ? codes : null;
}

async function pendingSecret(deps: EnrolDeps, challenge: StoredChallenge, key: FactorKey): Promise<Buffer | null> {
  const factor = await deps.factors.read(challenge);
  if (factor === null || factor.enabled || factor.setupChallenge !== challenge.idHash) return null;
  return openSecret(key.bytes, challenge, factor.secret);
}
