import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { ChallengeStore, StoredChallenge } from '../../storage/challenge-store.js';

/** Time to find the phone. */
export const CHALLENGE_MS = 10 * 60_000;
/** Log-ins of one user under way at the same time; older ones end. */
export const CHALLENGES_PER_USER = 5;

/** Bytes of randomness in a cookie; nobody guesses 256 bits. */
export const ID_BYTES = 32;
const ID_PATTERN = /^[A-Za-z0-9_-]{43}$/;

/** What is stored of a cookie or a browser's name. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Hidden field of the forms: only a page that was served to the owner of the cookie holds it. */
export function formToken(cookie: string): string {
  return createHmac('sha256', cookie).update('second factor form').digest('base64url');
}

/** Whether a form came from a page that belongs to the cookie. */
export function isFormToken(cookie: string, token: string): boolean {
  const expected = Buffer.from(formToken(cookie));
  const given = Buffer.from(token);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Hash of a cookie that could be one of ours, or null. */
export function challengeHash(cookie: string | null): string | null {
  return cookie !== null && ID_PATTERN.test(cookie) ? hashOf(cookie) : null;
}

export type FoundChallenge =
  | { readonly kind: 'found'; readonly challenge: StoredChallenge }
  | { readonly kind: 'none' }
  | { readonly kind: 'other-browser'; readonly challenge: StoredChallenge };

/** The challenge behind a cookie: alive, and begun in this browser. Throws StorageError. */
export async function findChallenge(
  store: Pick<ChallengeStore, 'read'>,
  ask: { readonly site: string; readonly cookie: string | null; readonly userAgent: string; readonly now: number },
): Promise<FoundChallenge> {
  const idHash = challengeHash(ask.cookie);
  const challenge = idHash === null ? null : await store.read(ask.site, idHash);
  if (challenge === null || challenge.ended || challenge.expiresAt <= ask.now) return { kind: 'none' };
  if (challenge.browserHash !== hashOf(ask.userAgent)) return { kind: 'other-browser', challenge };
  return { kind: 'found', challenge };
}
