import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
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
  /** Further certificate authorities that the provider trusts, PEM. */
  readonly authorities?: readonly string[];
  /** Returns the machine's own addresses and networks; by default those of its interfaces, read for each check. */
  readonly ownNetworks?: () => readonly string[];
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

/** The shortest prefixes of networks. A shorter one (0.0.0.0/0 of a tunnel) would be a large part of the internet. */
const SHORTEST = { IPv4: 8, IPv6: 32 } as const;

/**
 * Returns the machine's own addresses and the networks of its interfaces, in the format of `parseRange`. They may be
 * public, but their services often trust the machine, or listen for its network only.
 */
export function toOwnNetworks(interfaces: ReturnType<typeof networkInterfaces>): string[] {
  return Object.values(interfaces).flatMap((own) =>
    (own ?? []).flatMap(({ address, family, cidr }) => {
      const plain = address.replace(/%.*$/, '');
      const prefix = Number(cidr?.split('/')[1] ?? Number.NaN);
      // The address itself, too: an unusual mask has no prefix.
      return prefix >= SHORTEST[family] ? [plain, `${plain}/${prefix}`] : [plain];
    }),
  );
}

const listOwnNetworks = () => toOwnNetworks(networkInterfaces());

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
  const isNameless = plain.replaceAll('.', '') === '';
  const found = isIP(plain) !== 0 ? [plain] : isNameless ? [] : await resolveInTime(plain, resolve);
  const addresses = found.map(parseAddress).filter((address) => address !== null);
  if (addresses.length === 0) throw new TargetRefused(serverMessage('alert_host_unknown', { host: plain }));
  const allowed = AddressSet.from(policy.privateTargets);
  const own = AddressSet.from((policy.ownNetworks ?? listOwnNetworks)());
  if (addresses.some((address) => isPrivate(address, own) && !allowed.has(address))) {
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
 * Whether an address is not public, or is in one of the machine's own networks. An IPv4 address inside IPv6 (mapped, by
 * NAT64 or by ISATAP) is treated as the IPv4 address.
 */
function isPrivate(address: Address, own: AddressSet): boolean {
  const { words } = address;
  const ipv4 = toAddress([0, 0, 0xffff, words[3]]);
  const isInside = (one: Address) => NOT_PUBLIC.has(one) || own.has(one);
  if (isNat64(words)) return own.has(address) || isInside(ipv4);
  return isInside(address) || (isIsatap(words) && isInside(ipv4));
}

/** Whether the last word of an address is an IPv4 address that a tunnel of the machine may use (RFC 5214 section 6.1). */
function isIsatap(words: Address['words']): boolean {
  // With or without the bit for addresses that are unique worldwide.
  return words[2] === 0x00005efe || words[2] === 0x02005efe;
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
  if (url.port === '0') throw new TargetRefused('Use a port from 1 to 65535.');
  if (url.username !== '' || url.password !== '') {
    throw new TargetRefused('Leave the user name and the password out of the address.');
  }
  url.hash = '';
  return url;
}
