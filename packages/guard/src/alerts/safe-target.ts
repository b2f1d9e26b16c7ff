import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { type Address, parseAddress, toAddress } from '../lib/address.js';
import { AddressSet } from '../lib/address-set.js';
import { isNat64 } from '../lib/carried-address.js';

/**
 * Which targets alerts may be sent to. Owners choose the address. Without these checks guard could be made to send
 * requests to services that only this machine or its network reaches: a cloud's metadata service, a database, another
 * site's WordPress.
 */
export interface TargetPolicy {
  /** Addresses and ranges that are not public but that the provider allows. */
  readonly privateTargets: readonly string[];
  /** Whether webhooks over plain HTTP are allowed. */
  readonly plainHttp: boolean;
}

/** A target that is not allowed or can't be resolved; `text` is for the owner. */
export class TargetRefused extends Error {
  constructor(readonly text: ServerText) {
    super('target-refused');
    this.name = 'TargetRefused';
  }
}

/** Special-purpose addresses of IANA's registries (RFC 6890 and successors). No server on the internet has one. */
const NOT_PUBLIC = AddressSet.from([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16'],
  ...['192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3'],
  // Only 2000::/3 of IPv6 is in use. These are the rest, except for IPv4 addresses in guard's form (::ffff:0:0/96):
  ...['::-::fffe:ffff:ffff', '::1:0:0:0-1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '4000::/2', '8000::/1'],
  // Within 2000::/3: Teredo and other protocols, documentation, 6to4, which embeds IPv4.
  ...['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '2620:4f:8000::/48'],
]);

/** Resolves a host name to all its addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export const resolveBySystem: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

const DNS_TIMEOUT_MS = 5000;

/**
 * Resolves a host and checks every address. The caller must connect to one of the returned addresses without resolving
 * again: a second DNS response could differ.
 * @throws TargetRefused
 */
export async function resolveTarget(host: string, policy: TargetPolicy, resolve: Resolve): Promise<readonly Address[]> {
  const plain = host.replace(/^\[|\]$/g, '');
  const found = isIP(plain) === 0 ? await resolveInTime(plain, resolve) : [plain];
  const addresses = found.map(parseAddress).filter((address) => address !== null);
  if (addresses.length === 0) throw new TargetRefused(serverMessage('alert_host_unknown', { host: plain }));
  const allowed = AddressSet.from(policy.privateTargets);
  if (addresses.some((address) => isPrivate(address) && !allowed.has(address))) {
    throw new TargetRefused('This address is inside a private network. Ask your hosting provider to allow it.');
  }
  return addresses;
}

async function resolveInTime(host: string, resolve: Resolve): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<readonly string[]>((done) => {
    timer = setTimeout(() => done([]), DNS_TIMEOUT_MS);
  });
  try {
    return await Promise.race([resolve(host).catch(() => []), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Whether an address is not public. An IPv4 address inside IPv6 (mapped, or by NAT64) is treated as the IPv4 address.
 */
function isPrivate(address: Address): boolean {
  const { words } = address;
  return NOT_PUBLIC.has(isNat64(words) ? toAddress([0, 0, 0xffff, words[3]]) : address);
}

/**
 * Parses the URL of a webhook.
 * @throws TargetRefused with a text for the owner
 */
export function parseWebhookUrl(text: string, { plainHttp }: TargetPolicy): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.hostname === '') {
    throw new TargetRefused('Enter a whole address, for example https://hooks.example.com/site.');
  }
  if (url.protocol === 'http:' && !plainHttp) throw new TargetRefused('Use an address that begins with https://.');
  if (url.username !== '' || url.password !== '') {
    throw new TargetRefused('Leave the user name and the password out of the address.');
  }
  url.hash = '';
  return url;
}
