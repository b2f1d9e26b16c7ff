import { createHash } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import type { IncomingHttpHeaders } from 'node:http';
import type { ApiEndpoint } from '@security-optimizer/contract/endpoints';
import { settingRequestName } from '@security-optimizer/contract/settings/catalogue';
import type { ApiRequest } from '../gateway/context.js';
import { parseAddress } from '../lib/address.js';
import { overlap, type Range } from '../lib/address-set.js';
import { ApiError } from '../lib/api-error.js';
import type { Clock } from '../lib/clock.js';
import { toRanges } from '../lib/own-addresses.js';
import { listOwnerSettings } from '../settings/simple-settings.js';
import type { CallNonces } from '../storage/call-nonces.js';
import { CALL_HEADER, equalText, readCallHeader } from '../wordpress/signature.js';

/**
 * The calls that WordPress's own PHP may sign with the site's key instead of using an administrator's session: those
 * that commands of WP-CLI need (docs/decisions/0030). Calls that need a person's session, such as mails to the caller
 * or the post-hack actions, are not included.
 */
const SIGNED_CALLS: ReadonlySet<ApiEndpoint['name']> = new Set<ApiEndpoint['name']>([
  // Simple settings, except those that only a person may change.
  ...listOwnerSettings().map(({ field }) => settingRequestName(field) as ApiEndpoint['name']),
  ...(['fetchOptions', 'fetchSimpleSettings', 'protectionFacts', 'update:login_url'] as const),
  ...(['resetUserTwoFactor', 'fetchAwayMode', 'update:away_mode'] as const),
  ...(['activityUnknown', 'registeredActivity', 'blockedUsers'] as const),
  ...(['blockAddresses', 'blockIp', 'blockUser', 'loginUnblock'] as const),
]);

/** Dependencies of the verification. */
export interface SignedCallChecks {
  readonly nonces: CallNonces;
  /** Loopback and the addresses of this machine. */
  readonly ownAddresses: () => readonly Range[];
  readonly clock: Clock;
}

/**
 * Whether an address belongs to this machine, or to the web server that runs the site's PHP. A leaked key can't be used
 * from elsewhere.
 *
 * @param upstream of the site's configuration
 */
export async function isAddressOfSite(
  address: string,
  upstream: string,
  ownAddresses: readonly Range[],
  resolve: (host: string) => Promise<readonly string[]> = resolveHost,
): Promise<boolean> {
  const parsed = parseAddress(address);
  if (parsed === null) return false;
  const caller: Range = { from: parsed.words, to: parsed.words };
  if (ownAddresses.some((range) => overlap(range, caller))) return true;
  if (!upstream.startsWith('http://')) return false;
  const host = new URL(upstream).hostname.replace(/^\[|\]$/g, '');
  return toRanges(await resolve(host)).some((range) => overlap(range, caller));
}

/** Returns the addresses of a host; none when its name can't be resolved. */
async function resolveHost(host: string): Promise<readonly string[]> {
  if (parseAddress(host) !== null) return [host];
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}

/**
 * Verifies a call that the site's PHP has signed.
 *
 * @returns the SHA-256 that its body must have, in hexadecimal; null when the call is not signed
 * @throws ApiError rest_forbidden
 * @throws StorageError
 */
export async function readSignedCall(
  { nonces, ownAddresses, clock }: SignedCallChecks,
  endpoint: ApiEndpoint['name'],
  request: { readonly method: string; readonly headers: IncomingHttpHeaders },
  call: Pick<ApiRequest, 'site' | 'namespace' | 'route' | 'query' | 'address'>,
): Promise<string | null> {
  const header = request.headers[CALL_HEADER.toLowerCase()];
  if (header === undefined) return null;
  const { site, namespace, route, query, address } = call;
  const now = clock();
  const signed = readCallHeader(site.secret, header, { method: request.method, route }, now);
  // The query is not signed, so it must be empty.
  const isAllowed = namespace === 'plugin' && query === '' && SIGNED_CALLS.has(endpoint);
  if (signed === null || !isAllowed) throw new ApiError('rest_forbidden');
  if (!(await isAddressOfSite(address, site.upstream, ownAddresses()))) throw new ApiError('rest_forbidden');
  if (!(await nonces.consume(site.id, signed.nonce, now))) throw new ApiError('rest_forbidden');
  return signed.bodyHash;
}

/**
 * Verifies the body of a signed call.
 * @throws ApiError rest_forbidden
 */
export function checkSignedBody(bodyHash: string | null, body: Uint8Array): void {
  if (bodyHash === null) return;
  const actual = createHash('sha256').update(body).digest('hex');
  if (!equalText(actual, bodyHash)) throw new ApiError('rest_forbidden');
}
