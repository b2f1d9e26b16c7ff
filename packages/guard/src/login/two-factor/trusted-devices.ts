import { KeyedMutex } from '../../lib/mutex.js';
import type { SiteId } from '../../site.js';
import type { StoredDevice, TrustedDeviceStore } from '../../storage/trusted-device-store.js';
import { hashOf } from './challenge.js';
import { deviceCookie, readCookie } from './cookies.js';

export const TRUSTED_SECONDS = 30 * 24 * 3600;
/** Devices that a user may trust; the oldest goes first. */
const DEVICES_PER_USER = 20;
/** Users of one browser whose tokens its cookie holds. */
const TOKENS_PER_COOKIE = 5;
const TOKEN_PATTERN = /^[A-Za-z0-9_-]{43}$/;

/**
 * Browsers in which users said "don't ask again". All of them in memory, so that the request of a log-in is answered
 * without storage; what is not in memory is not trusted.
 */
export class TrustedDevices {
  readonly #sites = new Map<SiteId, Map<string, StoredDevice>>();
  readonly #mutex = new KeyedMutex();

  constructor(private readonly store: TrustedDeviceStore) {}

  /** Reads a site's devices again. When that fails none is trusted, and the error is thrown. */
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
  users(site: SiteId, cookieHeader: string | undefined, now: number): number[] {
    const devices = this.#sites.get(site);
    if (devices === undefined || devices.size === 0) return [];
    const users = tokensOf(site, cookieHeader).flatMap((token) => {
      const device = devices.get(hashOf(token));
      return device !== undefined && device.expiresAt > now ? [device.userId] : [];
    });
    return [...new Set(users)];
  }

  /**
   * Trusts the browser for a user. Throws StorageError.
   * @param token 43 characters of base64url, never used before
   * @returns the new value of the site's device cookie: this token and those of the browser's other users
   */
  trust(
    site: SiteId,
    userId: number,
    browser: { readonly token: string; readonly cookieHeader: string | undefined; readonly now: number },
  ): Promise<string> {
    const { token, cookieHeader, now } = browser;
    return this.#mutex.run(site, async () => {
      const device = { tokenHash: hashOf(token), userId, expiresAt: now + TRUSTED_SECONDS * 1000 };
      await this.store.add(site, device, { now, keep: DEVICES_PER_USER });
      // Read again: the store has let go of the user's oldest, and of those whose time is over.
      const devices = await this.#stored(site, now);
      this.#sites.set(site, devices);
      const others = tokensOf(site, cookieHeader).filter((other) => {
        const known = devices.get(hashOf(other));
        return known !== undefined && known.userId !== userId;
      });
      return [token, ...others].slice(0, TOKENS_PER_COOKIE).join('.');
    });
  }

  async #stored(site: SiteId, now: number): Promise<Map<string, StoredDevice>> {
    const devices = await this.store.read(site, now);
    return new Map(devices.map((device) => [device.tokenHash, device]));
  }

  /** Trusts no browser for this user any more, from now on. */
  forget(site: SiteId, userId: number): void {
    const devices = this.#sites.get(site);
    for (const [hash, device] of devices ?? []) if (device.userId === userId) devices?.delete(hash);
  }
}

function tokensOf(site: SiteId, cookieHeader: string | undefined): string[] {
  const value = readCookie(cookieHeader, deviceCookie(site));
  const tokens = value === null ? [] : value.slice(0, 44 * TOKENS_PER_COOKIE).split('.');
  return tokens.filter((token) => TOKEN_PATTERN.test(token));
}
