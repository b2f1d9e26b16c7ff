import type { SecondFactorStore } from '../../storage/second-factor-store.js';
import { hashBackupCode, normaliseBackupCode } from './backup-codes.js';
import { FactorKeyProblem, keyForCheck } from './factor-key.js';
import { openSecret, type SecretOwner } from './secrets.js';
import { matchingStep } from './totp.js';

interface SpendCodeDeps {
  readonly factors: Pick<SecondFactorStore, 'read' | 'spendStep' | 'spendCode'>;
  /** Path of the key file. */
  readonly keyFile: string;
}

/**
 * Whether this is a code of the user's app that was never used; it then is used. Of many callers with the same code
 * one gets true.
 *
 * @throws FactorKeyProblem, StorageError
 */
export async function spendAppCode(
  deps: SpendCodeDeps,
  owner: SecretOwner,
  typed: string,
  now: number,
): Promise<boolean> {
  const factor = await deps.factors.read(owner);
  if (factor === null || !factor.enabled) return false;
  const key = await keyForCheck(deps.keyFile, factor.keyId);
  const secret = openSecret(key.bytes, owner, factor.secret);
  if (secret === null) throw new FactorKeyProblem('wrong', 'The stored secret can’t be read with the key file.');
  const step = matchingStep(secret, typed, { now, lastStep: factor.lastStep });
  return step !== null && (await deps.factors.spendStep(owner, step));
}

/** The same for a back-up code. */
export async function spendBackupCode(
  deps: SpendCodeDeps,
  owner: SecretOwner,
  typed: string,
  now: number,
): Promise<boolean> {
  const factor = await deps.factors.read(owner);
  const code = normaliseBackupCode(typed);
  if (factor === null || !factor.enabled || code === null) return false;
  const key = await keyForCheck(deps.keyFile, factor.keyId);
  return deps.factors.spendCode(owner, hashBackupCode(key.bytes, owner, code), now);
}
