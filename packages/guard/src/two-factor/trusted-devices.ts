import { createHash } from 'node:crypto';
import { readCookie } from '../http/headers.js';
import { KeyedMutex } from '../lib/mutex.js';
import type { SiteId } from '../site.js';
import { type Database, inTransaction, withTables } from '../storage/database.js';
import { hashToken } from './challenges.js';
import type { TwoFactorTables } from './tables.js';

export const TRUSTED_SECONDS = 30 * 24 * 3600;
/** Limit of trusted devices per user; the oldest is dropped first. */
const DEVICES_PER_USER = 20;
/** Limit of users of one browser whose tokens fit in its cookie. */
const TOKENS_PER_COOKIE = 5;
const TOKEN_PATTERN = /^[A-Za-z0-9_-]{43}$/;

/**
 * Browsers in which users chose "don't ask again". All of them are in memory, so that a login is handled without
 * storage. A browser that is not in memory is not trusted.
 */
export class TrustedDevices {
  readonly #sites = new Map<SiteId, Map<string, StoredDevice>>();
  readonly #mutex = new KeyedMutex();

  constructor(private readonly store: TrustedDeviceStore) {}

  /** Reloads a site's devices. If that fails, no device is trusted, and the error is thrown. */
  load(site: SiteId, now: number): Promise<void> {
    return this.#mutex.run(site, async () => {
      try {
        this.#sites.set(site, await this.#stored(site, now));
      } catch (error) {
        this.#sites.delete(site);
        throw error;
      }
    });
  }

  /** Users for whom the cookies hold a valid token. */
  listUsers(site: SiteId, cookieHeader: string | undefined, now: number): number[] {
    const devices = this.#sites.get(site);
    if (devices === undefined || devices.size === 0) return [];
    const users = readTokens(site, cookieHeader).flatMap((token) => {
      const device = devices.get(hashToken(token));
      return device !== undefined && device.expiresAt > now ? [device.userId] : [];
    });
    return [...new Set(users)];
  }

  /**
   * Trusts the browser for a user.
   * @param token 43 characters of base64url, unique
   * @returns the new value of the site's device cookie: this token and those of the browser's other users
   * @throws StorageError
   */
  trust(
    site: SiteId,
    userId: number,
    browser: { readonly token: string; readonly cookieHeader: string | undefined; readonly now: number },
  ): Promise<string> {
    const { token, cookieHeader, now } = browser;
    return this.#mutex.run(site, async () => {
      const device = { tokenHash: hashToken(token), userId, expiresAt: now + TRUSTED_SECONDS * 1000 };
      await this.store.add(site, device, { now, keep: DEVICES_PER_USER });
      // Reloaded, since the store has deleted the user's oldest devices and expired ones.
      const devices = await this.#stored(site, now);
      this.#sites.set(site, devices);
      const others = readTokens(site, cookieHeader).filter((other) => {
        const known = devices.get(hashToken(other));
        return known !== undefined && known.userId !== userId;
      });
      return [token, ...others].slice(0, TOKENS_PER_COOKIE).join('.');
    });
  }

  async #stored(site: SiteId, now: number): Promise<Map<string, StoredDevice>> {
    const devices = await this.store.read(site, now);
    return new Map(devices.map((device) => [device.tokenHash, device]));
  }

  /** Stops trusting all browsers for this user. */
  forget(site: SiteId, userId: number): void {
    const devices = this.#sites.get(site);
    for (const [hash, device] of devices ?? []) if (device.userId === userId) devices?.delete(hash);
  }
}

/**
 * Name of the cookie with the trusted-device tokens of a site. Sites in subdirectories of one host have different
 * names.
 */
export function toDeviceCookieName(site: string): string {
  return `sf_device_${createHash('sha256').update(site).digest('hex').slice(0, 8)}`;
}

function readTokens(site: SiteId, cookieHeader: string | undefined): string[] {
  const value = readCookie(cookieHeader, toDeviceCookieName(site));
  const tokens = value === null ? [] : value.slice(0, 44 * TOKENS_PER_COOKIE).split('.');
  return tokens.filter((token) => TOKEN_PATTERN.test(token));
}

/** A browser in which a user need not enter a second factor. */
export interface StoredDevice {
  /** SHA-256 of the cookie's token, hexadecimal. */
  readonly tokenHash: string;
  readonly userId: number;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/**
 * Stores trusted devices.
 * @throws StorageError from every method
 */
export interface TrustedDeviceStore {
  /** Devices of a site that are valid at `now`. */
  read(site: SiteId, now: number): Promise<readonly StoredDevice[]>;
  /** Adds a device. Deletes expired devices, and the user's oldest beyond `keep`. */
  add(site: SiteId, device: StoredDevice, at: { now: number; keep: number }): Promise<void>;
}

export function createTrustedDeviceStore(database: Database): TrustedDeviceStore {
  const db = withTables<TwoFactorTables>(database);
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
      await inTransaction(db, site, async (transaction) => {
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
