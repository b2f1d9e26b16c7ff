import { type Database, withTables } from '../storage/database.js';
import type { ChallengeStore, StoredChallenge } from './challenges.js';
import { hashBackupCode, parseBackupCode } from './enrolment.js';
import { decryptSecret, FactorKeyError, getKeyForCheck, type SecretOwner } from './factor-key.js';
import type { FactorOwner, FactorStore } from './factor-store.js';
import type { TwoFactorTables } from './tables.js';
import { findMatchingStep } from './totp.js';

export type CodeOutcome =
  | { readonly kind: 'right' }
  | { readonly kind: 'wrong' }
  /** Not checked: the account is paused until then, milliseconds since the Unix epoch. */
  | { readonly kind: 'paused'; readonly until: number }
  /** The challenge has ended. The account may be paused as well; `until` is 0 when it isn't. */
  | { readonly kind: 'over'; readonly until: number };

/** Retries after concurrent writes, before the user has to wait. */
const ROUNDS = 20;

/**
 * Checks one code of a challenge within the limits. The attempt is counted, for the user and for the challenge, before
 * the check, so that neither parallel requests nor a crash allow more checks than the limits. A correct code clears the
 * user's count.
 *
 * @param check resolves whether the code is correct, and consumes it
 * @throws StorageError, and any error of `check`
 */
export async function checkCode(
  deps: {
    readonly challenges: Pick<ChallengeStore, 'countTry' | 'readTries' | 'end'>;
    readonly tries: FactorTriesStore;
  },
  challenge: StoredChallenge,
  now: number,
  check: () => Promise<boolean>,
): Promise<CodeOutcome> {
  const paused = await countForUser(deps.tries, challenge, now);
  if (paused !== null) return { kind: 'paused', until: paused };
  const counted = await deps.challenges.countTry(challenge.site, challenge.idHash, MAX_TRIES, now);
  if (counted && (await check())) {
    await deps.tries.clear(challenge);
    return { kind: 'right' };
  }
  if (counted && (await deps.challenges.readTries(challenge.site, challenge.idHash)) < MAX_TRIES)
    return { kind: 'wrong' };
  await deps.challenges.end(challenge.site, challenge.idHash, now);
  return { kind: 'over', until: (await deps.tries.read(challenge)).pausedUntil };
}

/**
 * Counts an attempt of the user.
 * @returns the end of the account's pause, or null when the attempt was counted
 */
async function countForUser(store: FactorTriesStore, owner: StoredChallenge, now: number): Promise<number | null> {
  for (let round = 0; round < ROUNDS; round++) {
    const before = await store.read(owner);
    const after = countTry(before, now);
    if (after === null) return before.pausedUntil;
    if (await store.swap(owner, before, after)) return null;
  }
  return now + 1000;
}

interface CodeSources {
  readonly factors: Pick<FactorStore, 'read' | 'consumeStep' | 'consumeBackupCode'>;
  /** Path of the key file. */
  readonly keyFile: string;
}

/**
 * Consumes a code of the user's app. Of concurrent callers with the same code one gets true.
 *
 * @returns whether the code is correct and was never used
 * @throws FactorKeyError, StorageError
 */
export async function consumeAppCode(
  deps: CodeSources,
  owner: SecretOwner,
  typed: string,
  now: number,
): Promise<boolean> {
  const factor = await deps.factors.read(owner);
  if (factor === null || !factor.enabled) return false;
  const key = await getKeyForCheck(deps.keyFile, factor.keyId);
  const secret = decryptSecret(key.bytes, owner, factor.secret);
  if (secret === null) throw new FactorKeyError('wrong', 'The stored secret can’t be read with the key file.');
  const step = findMatchingStep(secret, typed, { now, lastStep: factor.lastStep });
  return step !== null && (await deps.factors.consumeStep(owner, step));
}

/** Like `consumeAppCode`, for a back-up code. */
export async function consumeBackupCode(
  deps: CodeSources,
  owner: SecretOwner,
  typed: string,
  now: number,
): Promise<boolean> {
  const factor = await deps.factors.read(owner);
  const code = parseBackupCode(typed);
  if (factor === null || !factor.enabled || code === null) return false;
  const key = await getKeyForCheck(deps.keyFile, factor.keyId);
  return deps.factors.consumeBackupCode(owner, hashBackupCode(key.bytes, owner, code), now);
}

/** The number of wrong codes that ends a challenge and pauses the account. */
export const MAX_TRIES = 10;

const MINUTE_MS = 60_000;
/** Pauses of an account after 10, 20, 30 … wrong codes, milliseconds; the last one repeats. */
export const PAUSES_MS: readonly number[] = [1, 5, 15, 60, 240, 1440].map((minutes) => minutes * MINUTE_MS);

/**
 * A pause that ends later than this, milliseconds from now, was recorded by a clock that has been set back since, and
 * is over.
 */
const MAX_PAUSE_AHEAD_MS = 2 * Math.max(...PAUSES_MS);

/**
 * Counts a code before it is checked, so that concurrent attempts can't exceed the limit. Null while the account is
 * paused.
 */
export function countTry(state: FactorTries, now: number): FactorTries | null {
  if (state.pausedUntil > now && state.pausedUntil <= now + MAX_PAUSE_AHEAD_MS) return null;
  const tries = state.tries + 1;
  if (tries % MAX_TRIES !== 0) return { tries, pausedUntil: 0 };
  const pause = PAUSES_MS[Math.min(tries / MAX_TRIES, PAUSES_MS.length) - 1] as number;
  return { tries, pausedUntil: now + pause };
}

/** Codes tried since the last correct one, over all challenges of a user. */
export interface FactorTries {
  readonly tries: number;
  /** No code is checked before this time, milliseconds since the Unix epoch; 0 without a pause. */
  readonly pausedUntil: number;
}

/**
 * Stores the tries of users.
 * @throws StorageError from every method
 */
export interface FactorTriesStore {
  read(owner: FactorOwner): Promise<FactorTries>;
  /**
   * Atomic: stores `after` if the stored value is still `before`.
   * @returns whether it was
   */
  swap(owner: FactorOwner, before: FactorTries, after: FactorTries): Promise<boolean>;
  clear(owner: FactorOwner): Promise<void>;
}

export function createFactorTriesStore(database: Database): FactorTriesStore {
  const db = withTables<TwoFactorTables>(database);
  return {
    async read({ site, userId }) {
      const row = await db
        .selectFrom('second_factor_tries')
        .select(['tries', 'paused_until'])
        .where('site', '=', site)
        .where('user_id', '=', userId)
        .executeTakeFirst();
      return { tries: row?.tries ?? 0, pausedUntil: Number(row?.paused_until ?? 0) };
    },

    async swap({ site, userId }, before, after) {
      const values = { tries: after.tries, paused_until: after.pausedUntil };
      const result = await db
        .insertInto('second_factor_tries')
        .values({ site, user_id: userId, ...values })
        .onConflict((conflict) =>
          conflict
            .columns(['site', 'user_id'])
            .doUpdateSet(values)
            .where('second_factor_tries.tries', '=', before.tries)
            .where('second_factor_tries.paused_until', '=', before.pausedUntil),
        )
        .executeTakeFirst();
      return result.numInsertedOrUpdatedRows === 1n;
    },

    async clear({ site, userId }) {
      await db.deleteFrom('second_factor_tries').where('site', '=', site).where('user_id', '=', userId).execute();
    },
  };
}
