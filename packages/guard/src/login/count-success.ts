import type { SiteId } from '../site.js';
import type { LoginAttempts } from './attempts.js';
import { deviceKey, type KnownDevice } from './device-cookie.js';

/**
 * Someone has logged in: address and device are forgiven the failures at that account, each unless it is locked.
 *
 * @param who `key`: what the failures of the request are kept under, beside the device's
 */
export function countSuccess(
  attempts: Pick<LoginAttempts, 'succeeded'>,
  who: { readonly site: SiteId; readonly key: string; readonly device: KnownDevice | null; readonly user: number },
  now: number,
): void {
  attempts.succeeded(who.site, who.key, who.user, now);
  if (who.device !== null) attempts.succeeded(who.site, deviceKey(who.device), who.user, now);
}
