import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { SiteId } from '../site.js';
import { affectsOneRow, type Database, inTransaction, withTables } from '../storage/database.js';
import type { TwoFactorTables } from './tables.js';

/** Name of the cookie that binds a challenge to a browser. */
export const CHALLENGE_COOKIE = 'sf_challenge';
/** Lifetime of a challenge, milliseconds. It allows time to find the phone. */
export const CHALLENGE_MS = 10 * 60_000;
/** Limit of concurrent challenges of one user; older ones end. */
export const CHALLENGES_PER_USER = 5;

/** Random bytes in a cookie: 256 bits can't be guessed. */
export const ID_BYTES = 32;
const ID_PATTERN = /^[A-Za-z0-9_-]{43}$/;

/** The hash under which a cookie is stored. */
export function hashToken(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * The value of the hidden field of the forms. Only pages that were served to the browser with the cookie contain it.
 */
export function toFormToken(cookie: string): string {
  return createHmac('sha256', cookie).update('second factor form').digest('base64url');
}

/** Whether a form was sent from a page that belongs to the cookie. */
export function isFormToken(cookie: string, token: string): boolean {
  const expected = Buffer.from(toFormToken(cookie));
  const given = Buffer.from(token);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** The hash of a cookie that has guard's format, or null. */
export function toChallengeHash(cookie: string | null): string | null {
  return cookie !== null && ID_PATTERN.test(cookie) ? hashToken(cookie) : null;
}

/**
 * The challenge of a cookie, unless it has expired.
 *
 * The cookie alone identifies the browser: 256 random bits that no script can read. User agent, address and languages
 * may change between two steps of one browser, and an attacker who copies the cookie from a browser can copy them too.
 *
 * @throws StorageError
 */
export async function findChallenge(
  store: Pick<ChallengeStore, 'read'>,
  query: { readonly site: SiteId; readonly cookie: string | null; readonly now: number },
): Promise<StoredChallenge | null> {
  const idHash = toChallengeHash(query.cookie);
  const challenge = idHash === null ? null : await store.read(query.site, idHash);
  return challenge === null || challenge.ended || challenge.expiresAt <= query.now ? null : challenge;
}

/** A login between password and session, or an administrator's setup of their own factor. */
export interface StoredChallenge {
  readonly site: SiteId;
  /** SHA-256 of the cookie, hexadecimal; the cookie itself is never stored. */
  readonly idHash: string;
  readonly userId: number;
  readonly login: string;
  /** Only a `login` may lead to a session. */
  readonly purpose: 'login' | 'setup';
  readonly remember: boolean;
  /** See `TwoFactorRequirement`. */
  readonly redirect: string;
  readonly decided: boolean;
  readonly sitePath: string;
  readonly interim: boolean;
  /**
   * A stamp of the user's password and role, created by WordPress when the challenge began. Empty when WordPress sent
   * none.
   */
  readonly stamp: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /**
   * Whether the first code of a new factor was correct, so that only the confirmation of the back-up codes is missing.
   */
  readonly confirmed: boolean;
  readonly ended: boolean;
}

/**
 * Stores challenges. `countTry` and `end` run one statement each.
 * @throws StorageError from every method
 */
export interface ChallengeStore {
  /** Creates a challenge. Deletes challenges that are a day old, and the user's oldest beyond `keep`. */
  create(challenge: Omit<StoredChallenge, 'confirmed' | 'ended'>, keep: number): Promise<void>;
  read(site: SiteId, idHash: string): Promise<StoredChallenge | null>;
  /**
   * Counts one code before it is checked.
   * @returns false when the challenge is over or `max` codes were tried
   */
  countTry(site: SiteId, idHash: string, max: number, now: number): Promise<boolean>;
  /** Number of codes tried so far. */
  readTries(site: SiteId, idHash: string): Promise<number>;
  /**
   * Ends the challenge.
   * @returns false when it had already ended: of concurrent callers only one gets true
   */
  end(site: SiteId, idHash: string, now: number): Promise<boolean>;
}

const DAY_MS = 24 * 3600 * 1000;

export function createChallengeStore(database: Database): ChallengeStore {
  const db = withTables<TwoFactorTables>(database);
  return {
    async create(challenge, keep) {
      const { site, userId, createdAt } = challenge;
      await inTransaction(db, site, async (transaction) => {
        await transaction
          .deleteFrom('second_factor_challenges')
          .where('site', '=', site)
          .where('expires_at', '<', createdAt - DAY_MS)
          .execute();
        await transaction
          .insertInto('second_factor_challenges')
          .values({
            site,
            id_hash: challenge.idHash,
            user_id: userId,
            login: challenge.login,
            purpose: challenge.purpose,
            remember: challenge.remember ? 1 : 0,
            redirect: challenge.redirect,
            decided: challenge.decided ? 1 : 0,
            site_path: challenge.sitePath,
            interim: challenge.interim ? 1 : 0,
            stamp: challenge.stamp,
            created_at: createdAt,
            expires_at: challenge.expiresAt,
            tries: 0,
            confirmed_at: null,
            ended_at: null,
          })
          .execute();
        const surplus = await transaction
          .selectFrom('second_factor_challenges')
          .select('id_hash')
          .where('site', '=', site)
          .where('user_id', '=', userId)
          .where('id_hash', '!=', challenge.idHash)
          .orderBy('created_at', 'desc')
          .limit(1000)
          .offset(keep - 1)
          .execute();
        if (surplus.length === 0) return;
        await transaction
          .deleteFrom('second_factor_challenges')
          .where('site', '=', site)
          .where(
            'id_hash',
            'in',
            surplus.map((row) => row.id_hash),
          )
          .execute();
      });
    },

    async read(site, idHash) {
      const row = await db
        .selectFrom('second_factor_challenges')
        .selectAll()
        .where('site', '=', site)
        .where('id_hash', '=', idHash)
        .executeTakeFirst();
      if (!row) return null;
      return {
        site,
        idHash,
        userId: Number(row.user_id),
        login: row.login,
        purpose: row.purpose,
        remember: row.remember === 1,
        redirect: row.redirect,
        decided: row.decided === 1,
        sitePath: row.site_path,
        interim: row.interim === 1,
        stamp: row.stamp,
        createdAt: Number(row.created_at),
        expiresAt: Number(row.expires_at),
        confirmed: row.confirmed_at !== null,
        ended: row.ended_at !== null,
      };
    },

    async countTry(site, idHash, max, now) {
      const change = updateOpenChallenge(db, { site, idHash }, now)
        .set((expression) => ({ tries: expression('tries', '+', 1) }))
        .where('tries', '<', max);
      return affectsOneRow(change);
    },

    async readTries(site, idHash) {
      const row = await db
        .selectFrom('second_factor_challenges')
        .select('tries')
        .where('site', '=', site)
        .where('id_hash', '=', idHash)
        .executeTakeFirst();
      return row?.tries ?? 0;
    },

    end: (site, idHash, now) => affectsOneRow(updateOpenChallenge(db, { site, idHash }, now).set({ ended_at: now })),
  };
}

/** An update of a challenge that has not ended. The caller adds the change and further conditions. */
export function updateOpenChallenge(
  db: Kysely<TwoFactorTables>,
  { site, idHash }: { readonly site: SiteId; readonly idHash: string },
  now: number,
) {
  return db
    .updateTable('second_factor_challenges')
    .where('site', '=', site)
    .where('id_hash', '=', idHash)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now);
}
