import { parseAddress } from '../lib/address.js';
import { ApiError } from '../lib/api-error.js';
import type { Clock } from '../lib/clock.js';
import { addressKey } from '../login/address-key.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import { english } from '../texts/language.js';

export interface UnblockLoginDeps {
  /** Forgets failures and locks, with an audit row; resolves when it is in force. Throws StorageError. */
  readonly removeLocks: (change: {
    readonly site: SiteId;
    readonly keys: readonly string[];
    readonly actor: Actor;
    readonly at: number;
  }) => Promise<void>;
  readonly clock: Clock;
}

/**
 * Ends the lock of an address by failed log-ins; its failures are forgotten too. IPv6 addresses are locked by their /64.
 *
 * @param ip an address, or a /64 as the list of the blocked shows it
 * @returns the text for the owner
 * @throws ApiError invalid_input naming `ip`; StorageError
 */
export async function unblockLogin(
  deps: UnblockLoginDeps,
  { site, actor, ip }: { readonly site: SiteConfig; readonly actor: Actor; readonly ip: string },
): Promise<string> {
  const address = parseAddress(ip.trim().replace(/\/64$/, ''));
  if (address === null) throw new ApiError('invalid_input', { fields: { ip: 'Use an IP address.' } });
  const key = addressKey(address);
  await deps.removeLocks({ site: site.id, keys: [key], actor, at: deps.clock() });
  return english.translate('{address} may log in again.', { address: key });
}
