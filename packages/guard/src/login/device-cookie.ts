import { signedCookie, signedCookies } from './signed-cookie.js';

/** A browser that logged in before. */
export interface KnownDevice {
  /** 16 hexadecimal digits. */
  readonly id: string;
  /** Accounts it logged in to, latest first. */
  readonly users: readonly number[];
}

/** How long a device is known after its last log-in, seconds. */
const KNOWN_SECONDS = 365 * 24 * 3600;
/** Accounts that one cookie remembers. */
const USERS_MAX = 8;

const VALUE = /^([0-9a-f]{16})-(\d{1,12})-(\d{1,15}(?:_\d{1,15})*)$/;

/**
 * Reads the cookie that marks a device which logged in before. Strangers can't make one, so the failures of a known
 * device are not counted against its accounts, and it is let through while they are slow.
 *
 * @param now milliseconds since the Unix epoch
 */
export function knownDevice(secret: string, cookieHeader: string | undefined, now: number): KnownDevice | null {
  for (const value of signedCookies(secret, 'device', cookieHeader)) {
    const [, id, time, users] = VALUE.exec(value) ?? [];
    if (id === undefined || users === undefined || now / 1000 - Number(time) > KNOWN_SECONDS) continue;
    return { id, users: users.split('_').map(Number) };
  }
  return null;
}

/** What the failures of a device are kept under, beside those of addresses. */
export function deviceKey(device: KnownDevice): string {
  return `device:${device.id}`;
}

/**
 * `Set-Cookie` text for a device that has just logged in.
 *
 * @param device what it was known as before, or null
 * @param freshId 16 random hexadecimal digits, used when it was not known
 */
export function deviceCookie(
  secret: string,
  login: {
    readonly device: KnownDevice | null;
    readonly user: number;
    readonly freshId: string;
    readonly now: number;
    readonly home: string;
    readonly scheme: 'http' | 'https';
  },
): string {
  const { device, user, freshId, now, home, scheme } = login;
  const users = [user, ...(device?.users ?? []).filter((known) => known !== user)].slice(0, USERS_MAX);
  const value = `${device?.id ?? freshId}-${Math.floor(now / 1000)}-${users.join('_')}`;
  return signedCookie(secret, 'device', value, { home, scheme, seconds: KNOWN_SECONDS });
}
