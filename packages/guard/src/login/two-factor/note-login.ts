import { randomBytes } from 'node:crypto';
import { parseAddress } from '../../lib/address.js';
import { addressKey } from '../address-key.js';
import type { LoginAttempts } from '../attempts.js';
import { countSuccess } from '../count-success.js';
import { deviceCookie, knownDevice } from '../device-cookie.js';
import type { DoorVisit } from './second-factor-door.js';

/**
 * A log-in has ended well, with the second factor: it forgives what every other log-in does, and the browser is
 * no stranger to the user any more.
 *
 * @param home URL path of the site's home
 * @returns the `Set-Cookie` text by which the browser is known from now on
 */
export function noteLogin(
  attempts: Pick<LoginAttempts, 'succeeded'>,
  home: string,
  { site, scheme, address }: DoorVisit,
  login: { readonly user: number; readonly cookieHeader: string | undefined; readonly now: number },
): string {
  const { user, cookieHeader, now } = login;
  const device = knownDevice(site.secret, cookieHeader, now);
  const from = parseAddress(address);
  if (from !== null) countSuccess(attempts, { site: site.id, key: addressKey(from), device, user }, now);
  return deviceCookie(site.secret, { home, scheme, now, device, user, freshId: randomBytes(8).toString('hex') });
}
