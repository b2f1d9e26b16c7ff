import type { SiteId } from '../site.js';
import type { Database } from './database.js';

/** A browser in which a user need not confirm a log-in. */
export interface StoredDevice {
  /** SHA-256 of the cookie's token, hexadecimal. */
  readonly tokenHash: string;
  readonly userId: number;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** Every method may throw StorageError. */
export interface TrustedDeviceStore {
  /** Devices of a site that are valid at `now`. */
  read(site: SiteId, now: number): Promise<readonly StoredDevice[]>;
  /** Also clears away devices that are no longer valid, and the user's oldest beyond `keep`. */
  add(site: SiteId, device: StoredDevice, at: { now: number; keep: number }): Promise<void>;
}

export function sqlTrustedDeviceStore(db: Database): TrustedDeviceStore {
  return {
    async read(site, now) {
      const rows = await db
        .selectFrom('second_factor_devices')
        .select(['token_hash', 'user_id', 'expires_at'])
        .where('site', '=', site)
        .where('expires_at', '>', now)
        .execute();
      return rows.map((row) => ({
        tokenHash: row.token_hash,
        userId: Number(row.user_id),
        expiresAt: Number(row.expires_at),
      }));
    },

    async add(site, { tokenHash, userId, expiresAt }, { now, keep }) {
      await db.transaction().execute(async (transaction) => {
        await transaction
          .deleteFrom('second_factor_devices')
          .where('site', '=', site)
          .where('expires_at', '<=', now)
          .execute();
        await transaction
          .insertInto('second_factor_devices')
          .values({ site, token_hash: tokenHash, user_id: userId, created_at: now, expires_at: expiresAt })
          .execute();
        const surplus = await transaction
          .selectFrom('second_factor_devices')
          .select('token_hash')
          .where('site', '=', site)
          .where('user_id', '=', userId)
          .where('token_hash', '!=', tokenHash)
          .orderBy('created_at', 'desc')
          .limit(1000)
          .offset(keep - 1)
          .execute();
        for (const row of surplus) {
          await transaction
            .deleteFrom('second_factor_devices')
            .where('site', '=', site)
            .where('token_hash', '=', row.token_hash)
            .execute();
        }
      });
    },
  };
}
