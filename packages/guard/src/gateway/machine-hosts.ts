/**
 * Hosts that mean a machine and no site. The web server behind may have a `server` for them with pages that are for the
 * machine alone, so nobody else reaches it by them; see docs/decisions/0044-hosts-that-mean-a-machine.md.
 */
import { type Address, parseAddress } from '../lib/address.js';
import { AddressSet, overlap, privateNetworks, type Range } from '../lib/address-set.js';
import { setBounded } from '../lib/collections.js';

/** What a host means: the machine itself, an address of any machine, or a site. */
export type HostMeaning = 'machine' | Address | 'site';

/** Cheap, since it is asked of every request: whether a host may be anything but the name of a site. */
const MAYBE_MACHINE = /^$|^\[|local|loopback|(?:^|\.)\d[\da-fx]*\.*(?::\d*)?$/i;

/** Names of the machine itself: RFC 6761 section 6.3, and those that distributions write into `/etc/hosts`. */
const MACHINE_NAME =
  /(?:^|\.)localhost$|^localhost[46]?(?:\.localdomain[46]?)?$|^ip6-(?:localhost|loopback)$|^loopback$/;

/** Loopback and unspecified addresses. `::/96` holds them in IPv6, and the IPv4 ones in their old form (`::127.0.0.1`). */
const MACHINE_ADDRESSES = AddressSet.from(['127.0.0.0/8', '0.0.0.0/8', '::/96', '64:ff9b::7f00:0/104']);

/** Clients choose hosts, so what is remembered is bounded. */
const KNOWN = new Map<string, HostMeaning>();
const MOST_KNOWN = 1000;
const LONGEST = 300;

/**
 * @param host as the client sent it, with or without port, in any case; '' for none, in whose place the web server behind
 *   would get its own address
 */
export function readHostMeaning(host: string): HostMeaning {
  if (!MAYBE_MACHINE.test(host)) return 'site';
  const known = KNOWN.get(host);
  if (known !== undefined) return known;
  const meaning = findMeaning(toHostName(host));
  if (host.length <= LONGEST) setBounded(KNOWN, host, meaning, MOST_KNOWN);
  return meaning;
}

/** Lower-case, without port and without dots at the end. @param host as the client sent it */
export function toHostName(host: string): string {
  return host.replace(/:\d*$/, '').replace(/\.+$/, '').toLowerCase();
}

function findMeaning(name: string): HostMeaning {
  if (name === '' || MACHINE_NAME.test(name)) return 'machine';
  const address = readAddress(name);
  if (address === null) return 'site';
  return MACHINE_ADDRESSES.has(address) ? 'machine' : address;
}

/** An address in any spelling that programs read: `127.1`, `0x7f000001`, `0177.0.0.1`, `2130706433`, `[::ffff:7f00:1]`. */
function readAddress(name: string): Address | null {
  // The URL Standard reads numbers as inet_aton does (section 3.5).
  if (!URL.canParse(`http://${name}`)) return null;
  return parseAddress(new URL(`http://${name}`).hostname.replace(/^\[|\]$/g, ''));
}

/** What is known of a request by a host that neither the configuration nor WordPress names. */
export interface UnnamedRequest {
  readonly host: string;
  readonly client: Address;
  /** Whether a proxy says that it is another's request. */
  readonly isForwarded: boolean;
  /** Whether the client is a trusted proxy. */
  readonly isProxy: boolean;
  /** Hosts that WordPress has as its own, with their ports; empty while they are not known. */
  readonly siteHosts: readonly string[];
  /** Addresses of guard's machine. */
  readonly ownAddresses: () => readonly Range[];
}

/**
 * Whether a request may reach the web server behind (`passes`), must not (`foreign`), or only when the site answers to the
 * host (`unproved`). Passed on are the site's own names; what the machine itself asks, which it could ask for straight; and
 * health checks, which name the machine's address from within its network. Where the site's own name is none of the
 * Internet, it may be reached by any address of the machine.
 */
export function judgeHost(request: UnnamedRequest): 'passes' | 'foreign' | 'unproved' {
  const { host, client, isForwarded, isProxy, siteHosts, ownAddresses } = request;
  const name = toHostName(host);
  const own = siteHosts.map(toHostName);
  if (own.includes(name)) return 'passes';
  if (!isForwarded && (client.text === '127.0.0.1' || client.text === '::1')) return 'passes';
  const meaning = readHostMeaning(host);
  if (meaning === 'site') return 'unproved';
  // What is below a name of the machine is as much the site's as the name.
  if (own.some((each) => name.endsWith(`.${each}`))) return 'passes';
  if (meaning === 'machine') return 'foreign';
  if (!ownAddresses().some((range) => overlap(range, { from: meaning.words, to: meaning.words }))) return 'unproved';
  if (!isForwarded && (isProxy || privateNetworks.has(client))) return 'passes';
  return siteHosts.some((each) => readHostMeaning(each) === 'site') ? 'foreign' : 'passes';
}
