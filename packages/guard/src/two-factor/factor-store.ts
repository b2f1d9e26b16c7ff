import type { Kysely } from 'kysely';
import { type Actor, addAuditRows } from '../settings/audit-store.js';
import type { SiteId } from '../site.js';
import { nextSiteVersion } from '../storage/change-feed.js';
import { affectsOneRow, type Database, inTransaction, withTables } from '../storage/database.js';
import { updateOpenChallenge } from './challenges.js';
import type { TwoFactorTables } from './tables.js';

/** A user of a site. */
export interface FactorOwner {
  readonly site: SiteId;
  readonly userId: number;
}

export interface StoredFactor {
  /** Encrypted by `encryptSecret`. */
  readonly secret: string;
  readonly keyId: string;
  /** Step of the last code that was used. */
  readonly lastStep: number;
  /** Hash of the challenge that sets up the factor, or null once it is enabled. */
  readonly setupChallenge: string | null;
  readonly enabled: boolean;
}

/**
 * Factors and their back-up codes. Methods marked as atomic run one statement.
 * @throws StorageError from every method
 */
export interface FactorStore {
  read(owner: FactorOwner): Promise<StoredFactor | null>;
  /** Whether any factor of any site is enabled, and whether any enabled one was encrypted with another key. */
  findKeysInUse(keyId: string | null): Promise<{ readonly any: boolean; readonly other: boolean }>;
  /**
   * Stores the secret of a pending factor, replacing an unfinished one of another browser. Does nothing when the factor
   * is enabled, or when this challenge has stored a secret under the same key: the first of two concurrent requests
   * wins.
   */
  startSetup(
    owner: FactorOwner,
    setup: { login: string; secret: string; keyId: string; challenge: string; at: number },
  ): Promise<void>;
  /** Assigns an unfinished setup to the same browser's next challenge. */
  adoptSetup(owner: FactorOwner, change: { from: string; to: string }): Promise<boolean>;
  /**
   * Atomic: marks a step as used.
   * @returns false when this or a later step was used before, or the factor is not enabled
   */
  consumeStep(owner: FactorOwner, step: number): Promise<boolean>;
  /**
   * Confirms the setup after a correct first code: marks its step as used, stores the back-up codes and updates the
   * challenge, all or nothing.
   */
  confirmSetup(
    owner: FactorOwner,
    change: { challenge: string; step: number; codes: readonly string[]; at: number },
  ): Promise<boolean>;
  /** Replaces the back-up codes of an unfinished setup. */
  replaceSetupCodes(owner: FactorOwner, change: { challenge: string; codes: readonly string[] }): Promise<boolean>;
  /** Enables a confirmed factor and ends the challenge that set it up, all or nothing. */
  enable(owner: FactorOwner, change: { challenge: string; at: number }): Promise<boolean>;
  /**
   * Atomic: consumes a back-up code.
   * @returns false when it is unknown or used
   */
  consumeBackupCode(owner: FactorOwner, hash: string, at: number): Promise<boolean>;
  /** Users whose factor is enabled, sorted by login. */
  listEnabled(site: SiteId): Promise<readonly { readonly userId: number; readonly login: string }[]>;
  /** Updates the login name that lists show, after a user was renamed. */
  rename(owner: FactorOwner, login: string): Promise<void>;
  /**
   * Deletes all data of a user's factor, with an audit row, and notifies other processes by the site's version.
   * @returns the user's login and the site's new version, or null when there was no factor
   */
  remove(owner: FactorOwner, by: { actor: Actor; at: number }): Promise<{ login: string; version: number } | null>;
}

/** Thrown in a transaction whose precondition failed, to roll it back. */
class Undo extends Error {}

export function createFactorStore(database: Database): FactorStore {
  const db = withTables<TwoFactorTables>(database);
  const allOrNothing = async (
    { site }: FactorOwner,
    task: (transaction: Kysely<TwoFactorTables>) => Promise<void>,
  ): Promise<boolean> => {
    try {
      await inTransaction(db, site, task);
      return true;
    } catch (error) {
      if (error instanceof Undo) return false;
      throw error;
    }
  };

  return {
    async read({ site, userId }) {
      const row = await db
        .selectFrom('second_factors')
        .selectAll()
        .where('site', '=', site)
        .where('user_id', '=', userId)
        .executeTakeFirst();
      if (!row) return null;
      return {
        secret: row.secret,
        keyId: row.key_id,
        lastStep: Number(row.last_step),
        setupChallenge: row.setup_challenge,
        enabled: row.enabled_at !== null,
      };
    },

    async findKeysInUse(keyId) {
      const rows = await db
        .selectFrom('second_factors')
        .select('key_id')
        .distinct()
        .where('enabled_at', 'is not', null)
        .limit(2)
        .execute();
      return { any: rows.length > 0, other: rows.some((row) => row.key_id !== keyId) };
    },

    async startSetup({ site, userId }, { login, secret, keyId, challenge, at }) {
      const setup = { login, secret, key_id: keyId, last_step: 0, setup_challenge: challenge, created_at: at };
      await inTransaction(db, site, async (transaction) => {
        const result = await transaction
          .insertInto('second_factors')
          .values({ site, user_id: userId, ...setup, enabled_at: null })
          .onConflict((conflict) =>
            conflict
              .columns(['site', 'user_id'])
              .doUpdateSet(setup)
              .where('second_factors.enabled_at', 'is', null)
              .where((where) =>
                where.or([
                  where('second_factors.setup_challenge', '!=', challenge),
                  where('second_factors.key_id', '!=', keyId),
                ]),
              ),
          )
          .executeTakeFirst();
        if (result.numInsertedOrUpdatedRows === 1n) await deleteCodes(transaction, { site, userId });
      });
    },

    adoptSetup: (owner, { from, to }) => affectsOneRow(updateSetup(db, owner, from).set({ setup_challenge: to })),

    consumeStep: (owner, step) =>
      affectsOneRow(
        updateFactor(db, owner)
          .set({ last_step: step })
          .where('last_step', '<', step)
          .where('enabled_at', 'is not', null),
      ),

    confirmSetup(owner, { challenge, step, codes, at }) {
      return allOrNothing(owner, async (transaction) => {
        const used = updateSetup(transaction, owner, challenge).set({ last_step: step }).where('last_step', '<', step);
        if (!(await affectsOneRow(used))) throw new Undo();
        const noted = updateOwnChallenge(transaction, owner, challenge, at).set({ confirmed_at: at });
        if (!(await affectsOneRow(noted))) throw new Undo();
        await writeCodes(transaction, owner, codes);
      });
    },

    replaceSetupCodes(owner, { challenge, codes }) {
      return allOrNothing(owner, async (transaction) => {
        const pending = await transaction
          .selectFrom('second_factors')
          .select('user_id')
          .where('site', '=', owner.site)
          .where('user_id', '=', owner.userId)
          .where('setup_challenge', '=', challenge)
          .where('enabled_at', 'is', null)
          .executeTakeFirst();
        if (!pending) throw new Undo();
        await writeCodes(transaction, owner, codes);
      });
    },

    enable(owner, { challenge, at }) {
      return allOrNothing(owner, async (transaction) => {
        const ended = updateOwnChallenge(transaction, owner, challenge, at)
          .set({ ended_at: at })
          .where('confirmed_at', 'is not', null);
        if (!(await affectsOneRow(ended))) throw new Undo();
        const enabled = updateSetup(transaction, owner, challenge).set({ enabled_at: at, setup_challenge: null });
        if (!(await affectsOneRow(enabled))) throw new Undo();
      });
    },

    consumeBackupCode: ({ site, userId }, hash, at) =>
      affectsOneRow(
        db
          .updateTable('second_factor_codes')
          .set({ used_at: at })
          .where('site', '=', site)
          .where('user_id', '=', userId)
          .where('hash', '=', hash)
          .where('used_at', 'is', null),
      ),

    async listEnabled(site) {
      const rows = await db
        .selectFrom('second_factors')
        .select(['user_id', 'login'])
        .where('site', '=', site)
        .where('enabled_at', 'is not', null)
        .orderBy('login')
        .execute();
      return rows.map((row) => ({ userId: Number(row.user_id), login: row.login }));
    },

    async rename(owner, login) {
      await updateFactor(db, owner).set({ login }).where('login', '!=', login).execute();
    },

    remove(owner, { actor, at }) {
      return inTransaction(db, owner.site, (transaction) => removeFactor(transaction, owner, actor, at));
    },
  };
}

function updateFactor(db: Kysely<TwoFactorTables>, { site, userId }: FactorOwner) {
  return db.updateTable('second_factors').where('site', '=', site).where('user_id', '=', userId);
}

/** An update of a factor while this challenge is setting it up. */
function updateSetup(db: Kysely<TwoFactorTables>, owner: FactorOwner, challenge: string) {
  return updateFactor(db, owner).where('setup_challenge', '=', challenge).where('enabled_at', 'is', null);
}

function updateOwnChallenge(db: Kysely<TwoFactorTables>, { site, userId }: FactorOwner, idHash: string, now: number) {
  return updateOpenChallenge(db, { site, idHash }, now).where('user_id', '=', userId);
}

async function writeCodes(db: Kysely<TwoFactorTables>, owner: FactorOwner, hashes: readonly string[]): Promise<void> {
  await deleteCodes(db, owner);
  await db
    .insertInto('second_factor_codes')
    .values(hashes.map((hash) => ({ site: owner.site, user_id: owner.userId, hash, used_at: null })))
    .execute();
}

async function deleteCodes(db: Kysely<TwoFactorTables>, { site, userId }: FactorOwner): Promise<void> {
  await db.deleteFrom('second_factor_codes').where('site', '=', site).where('user_id', '=', userId).execute();
}

async function removeFactor(db: Kysely<TwoFactorTables>, { site, userId }: FactorOwner, actor: Actor, at: number) {
  const row = await db
    .deleteFrom('second_factors')
    .where('site', '=', site)
    .where('user_id', '=', userId)
    .returning(['login', 'enabled_at'])
    .executeTakeFirst();
  for (const table of [
    'second_factor_codes',
    'second_factor_challenges',
    'second_factor_devices',
    'second_factor_tries',
  ] as const) {
    await db.deleteFrom(table).where('site', '=', site).where('user_id', '=', userId).execute();
  }
  if (!row) return null;
  const before = { user: userId, login: row.login, on: row.enabled_at !== null };
  await addAuditRows(db, site, { actor, at }, [{ name: 'reset_2fa', before, after: null }]);
  return { login: row.login, version: await nextSiteVersion(db, site) };
}

/**
 * Deletes every trusted browser, and every login that waits for a second factor.
 * @returns the site's new version for the change feed
 * @throws StorageError
 */
export function deleteBrowsers(db: Database, site: SiteId): Promise<number> {
  return inTransaction(withTables<TwoFactorTables>(db), site, async (transaction) => {
    await transaction.deleteFrom('second_factor_devices').where('site', '=', site).execute();
    await transaction.deleteFrom('second_factor_challenges').where('site', '=', site).execute();
    return nextSiteVersion(transaction, site);
  });
}
