/**
 * Hosts that name a machine and no site. The upstream web server may have a `server` for them with pages that are for
 * the machine alone, so other clients can't reach it with them; see docs/decisions/0044-hosts-that-mean-a-machine.md.
 */
import { type Address, parseAddress } from '../lib/address.js';
import { AddressSet, overlap, privateNetworks, type Range } from '../lib/address-set.js';
import { setBounded } from '../lib/collections.js';

/** What a host names: the machine itself, an address of any machine, or a site. */
export type HostKind = 'machine' | Address | 'site';

/** A cheap check for every request: whether a host may be anything but the name of a site. */
const MAYBE_MACHINE = /^\[|local|loopback|(?:^|\.)\d[\da-fx]*\.*(?::\d*)?$/i;

/** Names of the machine itself: RFC 6761 section 6.3, and names that distributions write into `/etc/hosts`. */
const MACHINE_NAME =
  /(?:^|\.)localhost$|^localhost[46]?(?:\.localdomain[46]?)?$|^ip6-(?:localhost|loopback)$|^loopback$/;

/**
 * Loopback and unspecified addresses. `::/96` contains those of IPv6, and the IPv4 ones in their old form
 * (`::127.0.0.1`).
 */
const MACHINE_ADDRESSES = AddressSet.from(['127.0.0.0/8', '0.0.0.0/8', '::/96', '64:ff9b::7f00:0/104']);

/** Clients choose hosts, so the cache is bounded. */
const KNOWN = new Map<string, HostKind>();
const MAX_KNOWN = 1000;
const LONGEST = 300;

/**
 * @param host as the client sent it, with or without port, in any case
 */
export function readHostKind(host: string): HostKind {
  if (!MAYBE_MACHINE.test(host)) return 'site';
  const known = KNOWN.get(host);
  if (known !== undefined) return known;
  const kind = findHostKind(toHostName(host));
  if (host.length <= LONGEST) setBounded(KNOWN, host, kind, MAX_KNOWN);
  return kind;
}

/** Returns the host in lower case, without port and without trailing dots. @param host as the client sent it */
export function toHostName(host: string): string {
  return host.replace(/:\d*$/, '').replace(/\.+$/, '').toLowerCase();
}

function findHostKind(name: string): HostKind {
  if (MACHINE_NAME.test(name)) return 'machine';
  const address = readAddress(name);
  if (address === null) return 'site';
  return MACHINE_ADDRESSES.has(address) ? 'machine' : address;
}

/**
 * Reads an address in any spelling that programs accept: `127.1`, `0x7f000001`, `0177.0.0.1`, `2130706433`,
 * `[::ffff:7f00:1]`.
 */
function readAddress(name: string): Address | null {
  // The URL Standard reads numbers like inet_aton (section 3.5).
  if (!URL.canParse(`http://${name}`)) return null;
  return parseAddress(new URL(`http://${name}`).hostname.replace(/^\[|\]$/g, ''));
}

/** A request whose host neither the configuration nor WordPress names. */
export interface UnnamedRequest {
  readonly host: string;
  readonly client: Address;
  /** Whether a proxy marks the request as forwarded. */
  readonly isForwarded: boolean;
  /** Whether the client is a trusted proxy. */
  readonly isProxy: boolean;
  /** Hosts that WordPress names as its own, with their ports; empty while they are not known. */
  readonly siteHosts: readonly string[];
  /** Addresses of guard's machine. */
  readonly ownAddresses: () => readonly Range[];
}

/**
 * Whether a request may reach the upstream web server (`passes`), must not (`foreign`), or only after the site has
 * responded under that host (`unproved`). These pass: the site's own names; requests of the machine itself, which could
 * reach the server directly; and health checks, which use the machine's address from within its network. A site whose
 * own name is not a public one may be reached by any address of the machine.
 */
export function judgeHost(request: UnnamedRequest): 'passes' | 'foreign' | 'unproved' {
  const { host, client, isForwarded, isProxy, siteHosts, ownAddresses } = request;
  const name = toHostName(host);
  const own = siteHosts.map(toHostName);
  if (own.includes(name)) return 'passes';
  if (!isForwarded && (client.text === '127.0.0.1' || client.text === '::1')) return 'passes';
  const kind = readHostKind(host);
  if (kind === 'site') return 'unproved';
  // A subdomain of a machine's name belongs to the site that has that name.
  if (own.some((each) => name.endsWith(`.${each}`))) return 'passes';
  if (kind === 'machine') return 'foreign';
  if (!ownAddresses().some((range) => overlap(range, { from: kind.words, to: kind.words }))) return 'unproved';
  if (!isForwarded && (isProxy || privateNetworks.has(client))) return 'passes';
  return siteHosts.some((each) => readHostKind(each) === 'site') ? 'foreign' : 'passes';
}
