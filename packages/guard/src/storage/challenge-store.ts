import type { SiteId } from '../site.js';
import { changesOne } from './changes-one.js';
import type { Database } from './database.js';

/** A visitor between password and session, or an administrator who sets up the own factor. */
export interface StoredChallenge {
  readonly site: SiteId;
  /** SHA-256 of the cookie, hexadecimal; the cookie itself is never stored. */
  readonly idHash: string;
  readonly userId: number;
  readonly login: string;
  /** Only `login` may ever end in a session. */
  readonly purpose: 'login' | 'setup';
  readonly browserHash: string;
  readonly remember: boolean;
  readonly redirect: string;
  readonly interim: boolean;
  /** What WordPress said of the user's password and role when it began; empty when it said nothing. */
  readonly stamp: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Whether the first code of a new factor was right and the back-up codes wait for the tick. */
  readonly confirmed: boolean;
  readonly ended: boolean;
}

/** Every method may throw StorageError; takeTry and end are one statement each. */
export interface ChallengeStore {
  /** Also clears away what is a day old, and the user's oldest beyond `keep`. */
  create(challenge: Omit<StoredChallenge, 'confirmed' | 'ended'>, keep: number): Promise<void>;
  read(site: SiteId, idHash: string): Promise<StoredChallenge | null>;
  /** Counts one code before it is checked. @returns false when the challenge is over or `max` codes were tried */
  takeTry(site: SiteId, idHash: string, max: number, now: number): Promise<boolean>;
  /** Codes tried so far. */
  tries(site: SiteId, idHash: string): Promise<number>;
  /** Uses the challenge up. @returns false when it was over already: only one of many callers gets true */
  end(site: SiteId, idHash: string, now: number): Promise<boolean>;
}

const DAY_MS = 24 * 3600 * 1000;

export function sqlChallengeStore(db: Database): ChallengeStore {
  return {
    async create(challenge, keep) {
      const { site, userId, createdAt } = challenge;
      await db.transaction().execute(async (transaction) => {
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
            browser_hash: challenge.browserHash,
            remember: challenge.remember ? 1 : 0,
            redirect: challenge.redirect,
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
        browserHash: row.browser_hash,
        remember: row.remember === 1,
        redirect: row.redirect,
        interim: row.interim === 1,
        stamp: row.stamp,
        createdAt: Number(row.created_at),
        expiresAt: Number(row.expires_at),
        confirmed: row.confirmed_at !== null,
        ended: row.ended_at !== null,
      };
    },

    async takeTry(site, idHash, max, now) {
      const change = updateOpenChallenge(db, { site, idHash }, now)
        .set((expression) => ({ tries: expression('tries', '+', 1) }))
        .where('tries', '<', max);
      return changesOne(change);
    },

    async tries(site, idHash) {
      const row = await db
        .selectFrom('second_factor_challenges')
        .select('tries')
        .where('site', '=', site)
        .where('id_hash', '=', idHash)
        .executeTakeFirst();
      return row?.tries ?? 0;
    },

    end: (site, idHash, now) => changesOne(updateOpenChallenge(db, { site, idHash }, now).set({ ended_at: now })),
  };
}

/** An update of a challenge that has not ended; the caller says what changes, and under which conditions beside. */
export function updateOpenChallenge(
  db: Database,
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
