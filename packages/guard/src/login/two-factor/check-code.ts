import type { ChallengeStore, StoredChallenge } from '../../storage/challenge-store.js';
import type { FactorTriesStore } from '../../storage/factor-tries-store.js';
import { countTry, MAX_TRIES } from './tries-rule.js';

export type CodeOutcome =
  | { readonly kind: 'right' }
  | { readonly kind: 'wrong' }
  /** Not checked: the account waits until then, milliseconds since the Unix epoch. */
  | { readonly kind: 'paused'; readonly until: number }
  /** The challenge has ended; the account may wait as well (0: it doesn't). */
  | { readonly kind: 'over'; readonly until: number };

/** Rounds in which others may be first before the visitor is told to wait. */
const ROUNDS = 20;

/**
 * Checks one code of a challenge within the limits. The try is counted, for the user and for the challenge, before the
 * check: neither parallel requests nor a crash give away more checks than allowed. A right code clears the user's count.
 *
 * @param check says whether the code is right, and uses it up
 * @throws StorageError, and what `check` throws
 */
export async function checkCode(
  deps: { readonly challenges: Pick<ChallengeStore, 'takeTry' | 'tries' | 'end'>; readonly tries: FactorTriesStore },
  challenge: StoredChallenge,
  now: number,
  check: () => Promise<boolean>,
): Promise<CodeOutcome> {
  const paused = await countForUser(deps.tries, challenge, now);
  if (paused !== null) return { kind: 'paused', until: paused };
  const counted = await deps.challenges.takeTry(challenge.site, challenge.idHash, MAX_TRIES, now);
  if (counted && (await check())) {
    await deps.tries.clear(challenge);
    return { kind: 'right' };
  }
  if (counted && (await deps.challenges.tries(challenge.site, challenge.idHash)) < MAX_TRIES) return { kind: 'wrong' };
  await deps.challenges.end(challenge.site, challenge.idHash, now);
  return { kind: 'over', until: (await deps.tries.read(challenge)).pausedUntil };
}

/** @returns until when the account is paused, or null when the try is counted */
async function countForUser(store: FactorTriesStore, owner: StoredChallenge, now: number): Promise<number | null> {
  for (let round = 0; round < ROUNDS; round++) {
    const before = await store.read(owner);
    const after = countTry(before, now);
    if (after === null) return before.pausedUntil;
    if (await store.swap(owner, before, after)) return null;
  }
  return now + 1000;
}
