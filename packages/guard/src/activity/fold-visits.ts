import { type Address, parseAddress, toAddress } from '../lib/address.js';
import { AddressCounter, type VisitKey } from './packed-visits.js';

/**
 * In a flood of refused requests a row costs more than the request itself. Above a few hundred new rows per second, all
 * similar refused visits of a second share one row. Similar visits have the same rule, status, kind of target and number
 * of failed logins, and the same address; with many addresses, the same network; with many networks, any address. The row shows the first
 * visit and counts the others; hits of each address are counted as well. See docs/developer/activity-log.md.
 */

/** New rows per second above which refused visits are folded: of one site, and of all sites together. */
const ROWS_A_SECOND = 200;
const ALL_ROWS_A_SECOND = 1000;
/** Rows per second and site for single addresses; after them, rows for single networks. */
const ROWS_BY_ADDRESS = 32;
const ROWS_BY_NETWORK = 32;

/** Prefix lengths of networks: an IPv6 customer has a /64, of which anonymising keeps 48 bits. */
const IPV4_BITS = 24;
const IPV6_BITS = 64;
const ANONYMIZED_IPV6_BITS = 48;
/** Prefix length for any address. */
const NO_BITS = 0;

/** Bytes of a queued visit, to convert the size of address counts to visits. */
const VISIT_BYTES = 200;

/**
 * Reports whether to fold a refused visit that would be a new row of its site.
 * @param started new rows of the site in this second
 * @param startedByAll new rows of all sites in this second
 */
export function isFlood(started: number, startedByAll: number): boolean {
  return started >= ROWS_A_SECOND || (started > 0 && startedByAll >= ALL_ROWS_A_SECOND);
}

/** The kind of a target, by the first match in its path. */
const TARGET_KINDS =
  /\/(?:(xmlrpc\.php)|(wp-login\.php)|(wp-json)|(wp-admin)|(wp-content|wp-includes)|(\.[^/]+))(?=$|[/;])|(\.ph(?:p\d?|tml))(?=$|[/;])/i;
const REST_API = 3;
const PAGE = 0;
const UNREADABLE = 8;
const PATH_CHARACTERS = 200;

/**
 * Returns the number of a target's kind: XML-RPC, login, REST, admin area, files of WordPress, hidden files, other PHP
 * files, pages, or unreadable. The set is small and closed, so that clients cannot create more kinds.
 */
export function toTargetKind(target: string): number {
  if (target === '-') return UNREADABLE;
  const query = target.indexOf('?');
  if (query !== -1 && target.includes('rest_route=', query)) return REST_API;
  const path = target.slice(0, Math.min(query === -1 ? target.length : query, PATH_CHARACTERS));
  const found = TARGET_KINDS.exec(path);
  return found === null ? PAGE : found.findIndex((text, group) => group > 0 && text !== undefined);
}

/** The folded visits of a row, besides its own. */
export interface Folded {
  /** Number of folded visits. */
  readonly more: number;
  /** Prefix length of their network, 0 for any address; null if they have the row's address. */
  readonly moreBits: number | null;
}

/**
 * Returns the origin of folded visits, as address lists accept it: the row's address, or its network; null for any
 * address.
 */
export function toFoldedNetwork(address: string, { moreBits }: Pick<Folded, 'moreBits'>): string | null {
  if (moreBits === null) return address;
  const read = moreBits === NO_BITS ? null : parseAddress(address);
  return read === null ? null : `${toAddress(toNetworkWords(read, moreBits)).text}/${moreBits}`;
}

function toNetworkWords({ words, family }: Address, bits: number): Address['words'] {
  if (family === 4) return [words[0], words[1], words[2], (words[3] & 0xffffff00) >>> 0];
  return [words[0], bits === ANONYMIZED_IPV6_BITS ? (words[1] & 0xffff0000) >>> 0 : words[1], 0, 0];
}

/** The first visit of a row, and the counts of the visits that join it. */
export interface Fold {
  readonly key: VisitKey;
  readonly texts: VisitTexts;
  readonly at: number;
  /** Reference of the first visit, and of the last one; 0 for none. */
  readonly reference: number;
  lastReference: number;
  readonly moreBits: number | null;
  more: number;
  /** Hits of the other visits by address; null if all have the address of the first. */
  readonly others: AddressCounter | null;
}

/** Texts of a visit that are stored with its row. */
export interface VisitTexts {
  readonly agent: string | null;
  readonly referer: string;
  readonly origin: string;
}

/** A visit that may be folded. `key.address` is the stored text; `address` determines the network. */
export interface FoldableVisit {
  readonly key: VisitKey;
  readonly address: Address;
  readonly anonymized: boolean;
  /** Its reference as a number. */
  readonly reference?: number;
}

/** Rows with the same rule, status, kind of target and number of failed logins. */
interface SimilarRows {
  readonly byAddress: Map<string, Fold>;
  readonly byNetwork: Map<string, Fold>;
  anywhere: Fold | undefined;
}

/** Folds the visits of one site in one second. */
export class FoldBuffer {
  readonly #similar = new Map<string, SimilarRows>();
  readonly #folds: Fold[] = [];
  #byAddress = 0;
  #byNetwork = 0;
  #tallied = 0;

  /** Its size in memory, in visits. */
  get weight(): number {
    return this.#folds.length + Math.floor(this.#tallied / VISIT_BYTES);
  }

  /** The rows, in the order of their first visits. */
  get folds(): readonly Fold[] {
    return this.#folds;
  }

  /** Adds a visit to the row of similar visits. @returns false if there is none yet: then call `begin` */
  join(visit: FoldableVisit): boolean {
    const similar = this.#similar.get(toGroup(visit.key));
    const fold = similar && this.#findIn(similar, visit);
    if (fold === undefined) return false;
    fold.more++;
    if (visit.reference !== undefined && visit.reference !== 0) fold.lastReference = visit.reference;
    if (fold.others !== null) {
      const before = fold.others.used;
      fold.others.add(visit.key.address);
      this.#tallied += fold.others.used - before;
    }
    return true;
  }

  #findIn(similar: SimilarRows, visit: FoldableVisit): Fold | undefined {
    const fold = similar.byAddress.get(visit.key.address);
    if (fold !== undefined || this.#byAddress < ROWS_BY_ADDRESS) return fold;
    return (
      similar.byNetwork.get(toNetwork(visit)) ?? (this.#byNetwork < ROWS_BY_NETWORK ? undefined : similar.anywhere)
    );
  }

  /** Begins a row with its first visit. @param at milliseconds since the Unix epoch */
  begin(visit: FoldableVisit, texts: VisitTexts, at: number): void {
    const group = toGroup(visit.key);
    let similar = this.#similar.get(group);
    if (similar === undefined) {
      similar = { byAddress: new Map(), byNetwork: new Map(), anywhere: undefined };
      this.#similar.set(group, similar);
    }
    const fold = (moreBits: number | null): Fold => {
      const others = moreBits === null ? null : new AddressCounter();
      const { key, reference = 0 } = visit;
      const row = { key, texts, at, moreBits, more: 0, others, reference, lastReference: reference };
      this.#folds.push(row);
      return row;
    };
    if (this.#byAddress < ROWS_BY_ADDRESS) {
      this.#byAddress++;
      similar.byAddress.set(visit.key.address, fold(null));
    } else if (this.#byNetwork < ROWS_BY_NETWORK) {
      this.#byNetwork++;
      similar.byNetwork.set(toNetwork(visit), fold(toBits(visit)));
    } else similar.anywhere = fold(NO_BITS);
  }
}

function toGroup({ rule, status, target, failedLogins = 0 }: VisitKey): string {
  return `${rule} ${status} ${toTargetKind(target)} ${failedLogins}`;
}

function toBits({ address, anonymized }: FoldableVisit): number {
  if (address.family === 4) return IPV4_BITS;
  return anonymized ? ANONYMIZED_IPV6_BITS : IPV6_BITS;
}

function toNetwork(visit: FoldableVisit): string {
  return toNetworkWords(visit.address, toBits(visit)).join();
}
