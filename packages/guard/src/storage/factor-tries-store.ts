import type { Database } from './database.js';
import type { FactorOwner } from './second-factor-store.js';

/** Codes tried since the last right one, over all challenges of a user. */
export interface FactorTries {
  readonly tries: number;
  /** No code is checked before this time, milliseconds since the Unix epoch; 0 for no pause. */
  readonly pausedUntil: number;
}

/** Every method may throw StorageError. */
export interface FactorTriesStore {
  read(owner: FactorOwner): Promise<FactorTries>;
  /** Atomic: stores `after` if what is stored is still `before`. @returns whether it was */
  swap(owner: FactorOwner, before: FactorTries, after: FactorTries): Promise<boolean>;
  clear(owner: FactorOwner): Promise<void>;
}

export function sqlFactorTriesStore(db: Database): FactorTriesStore {
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
