import { Resolver } from 'node:dns/promises';
import type { Address } from '../lib/address.js';

/** Questions to the domain name system. An answer may be hostile: whoever owns an address writes its name. */
export interface Dns {
  /** Names of an address (PTR, RFC 1035 section 3.5); none when it has no name. Throws when nobody answers. */
  names(address: Address): Promise<readonly string[]>;
  /** Addresses of a name, of the family given. Throws when nobody answers. */
  addresses(name: string, family: 4 | 6): Promise<readonly string[]>;
}

/** Time for one question, milliseconds. */
const TIMEOUT_MS = 3000;

/** @param servers `192.0.2.1` or `192.0.2.1:5353`; the system's when empty */
export function systemDns(servers: readonly string[], timeoutMs = TIMEOUT_MS): Dns {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
  if (servers.length > 0) resolver.setServers(servers);
  return {
    names: (address) => orNone(resolver.resolvePtr(reverseName(address))),
    addresses: (name, family) => orNone(family === 4 ? resolver.resolve4(name) : resolver.resolve6(name)),
  };
}

async function orNone(answer: Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await answer;
  } catch (error) {
    if (NO_SUCH.has((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

/** The name does not exist, has no such record, or is one that no resolver accepts. */
const NO_SUCH: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EBADRESP']);

/** `7.2.0.192.in-addr.arpa` (RFC 1035 section 3.5), or 32 hexadecimal digits under `ip6.arpa` (RFC 3596 section 2.5). */
export function reverseName({ words, family }: Address): string {
  const hex = words.map((word) => word.toString(16).padStart(8, '0')).join('');
  if (family === 6) return `${[...hex].reverse().join('.')}.ip6.arpa`;
  const word = words[3];
  return `${word & 255}.${(word >>> 8) & 255}.${(word >>> 16) & 255}.${word >>> 24}.in-addr.arpa`;
}

/**
 * A name as it may be shown and stored: lower-case, without the dot at the end, letters, digits, hyphens and
 * underscores only (RFC 1123 section 2.1, and underscores, which exist in the wild). Null for anything else.
 */
export function hostName(name: string): string | null {
  const text = name.replace(/\.$/, '').toLowerCase();
  if (text.length === 0 || text.length > 253) return null;
  return text.split('.').every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label)) ? text : null;
}
