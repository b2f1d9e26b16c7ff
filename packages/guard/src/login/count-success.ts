import type { Address } from '../lib/address.js';
import type { SiteId } from '../site.js';
import { addressKey } from './address-key.js';
import type { LoginAttempts } from './attempts.js';
import { deviceKey, type KnownDevice } from './device-cookie.js';

/** Someone has logged in: address and device are forgiven the failures at that account, each unless it is locked. */
export function countSuccess(
  attempts: Pick<LoginAttempts, 'succeeded'>,
  who: { readonly site: SiteId; readonly address: Address; readonly device: KnownDevice | null; readonly user: number },
  now: number,
): void {
  attempts.succeeded(who.site, addressKey(who.address), who.user, now);
  if (who.device !== null) attempts.succeeded(who.site, deviceKey(who.device), who.user, now);
}
