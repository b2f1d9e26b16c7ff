import { type Address, addressOf, parseAddress } from '../lib/address.js';
import { AddressTally } from './address-tally.js';
import type { VisitKey } from './packed-visits.js';

/**
 * In a flood of refused requests each row costs more than the request itself. Beyond some hundred new rows a second, one
 * row holds all refused visits of that second that are alike: same rule, status, kind of target, and the same address;
 * or, when many addresses take part, the same network; or, when many networks do, from anywhere. The first of them is
 * shown, the others are counted, and so is each address. See docs/activity-log.md.
 */

/** New rows in a second of one site after which refused visits are folded, and of all sites together. */
const ROWS_A_SECOND = 200;
const ALL_ROWS_A_SECOND = 1000;
/** Rows in a second of one site that are about one address each; then as many about one network each. */
const ROWS_BY_ADDRESS = 32;
const ROWS_BY_NETWORK = 32;

/** Bits that the addresses of a network share: one customer of IPv6 has a /64, of which anonymising keeps 48 bits. */
const IPV4_BITS = 24;
const IPV6_BITS = 64;
const ANONYMIZED_IPV6_BITS = 48;
/** From anywhere. */
const NO_BITS = 0;

/** Bytes of a waiting visit, to weigh the addresses that are counted in another form. */
const VISIT_BYTES = 200;

/**
 * Whether a refused visit that would be a new row of its site is folded.
 * @param begun new rows of the site in this second
 * @param ofAll new rows of all sites in this second
 */
export function isFlood(begun: number, ofAll: number): boolean {
  return begun >= ROWS_A_SECOND || (begun > 0 && ofAll >= ALL_ROWS_A_SECOND);
}

/** What tells one kind of target from another, in its path; the first that stands there counts. */
const KINDS =
  /\/(?:(xmlrpc\.php)|(wp-login\.php)|(wp-json)|(wp-admin)|(wp-content|wp-includes)|(\.[^/]+))(?=$|[/;])|(\.ph(?:p\d?|tml))(?=$|[/;])/i;
const REST = 3;
const PAGE = 0;
const UNREADABLE = 8;
const PATH_CHARACTERS = 200;

/**
 * Number of the kind that a target is of: XML-RPC, login, REST, admin area, files of WordPress, hidden files, other PHP
 * files, pages, or unreadable. A small closed set, so that strangers cannot make more of them.
 */
export function kindOfTarget(target: string): number {
  if (target === '-') return UNREADABLE;
  const query = target.indexOf('?');
  if (query !== -1 && target.includes('rest_route=', query)) return REST;
  const path = target.slice(0, Math.min(query === -1 ? target.length : query, PATH_CHARACTERS));
  const found = KINDS.exec(path);
  return found === null ? PAGE : found.findIndex((text, group) => group > 0 && text !== undefined);
}

/** What a row of folded visits says of those beside its own. */
export interface Folded {
  /** How many there are. */
  readonly more: number;
  /** Bits of the network that they came from, 0 for anywhere; null when they are of the row's own address. */
  readonly moreBits: number | null;
}

/**
 * Where folded visits came from, in words that every list of addresses understands: the row's own address, or its
 * network; null for anywhere.
 */
export function moreFrom(address: string, { moreBits }: Pick<Folded, 'moreBits'>): string | null {
  if (moreBits === null) return address;
  const read = moreBits === NO_BITS ? null : parseAddress(address);
  return read === null ? null : `${addressOf(networkWords(read, moreBits)).text}/${moreBits}`;
}

function networkWords({ words, family }: Address, bits: number): Address['words'] {
  if (family === 4) return [words[0], words[1], words[2], (words[3] & 0xffffff00) >>> 0];
  return [words[0], bits === ANONYMIZED_IPV6_BITS ? (words[1] & 0xffff0000) >>> 0 : words[1], 0, 0];
}

/** The first visit of a row, and what is counted for those that join it. */
export interface Fold {
  readonly key: VisitKey;
  readonly agent: string | null;
  readonly at: number;
  readonly moreBits: number | null;
  more: number;
  /** Hits of the others by their addresses; null where they are the first one's own. */
  readonly others: AddressTally | null;
}

/** A visit that may be folded. `key.address` is the text that is stored; `address` tells the network. */
export interface FoldableVisit {
  readonly key: VisitKey;
  readonly address: Address;
  readonly anonymized: boolean;
}

/** Rows of one rule, status and kind of target. */
interface Alike {
  readonly byAddress: Map<string, Fold>;
  readonly byNetwork: Map<string, Fold>;
  anywhere: Fold | undefined;
}

/** Folds the visits of one site in one second. */
export class SecondFolds {
  readonly #alike = new Map<string, Alike>();
  readonly #folds: Fold[] = [];
  #byAddress = 0;
  #byNetwork = 0;
  #tallied = 0;

  /** What it takes in memory, in visits. */
  get weight(): number {
    return this.#folds.length + Math.floor(this.#tallied / VISIT_BYTES);
  }

  /** The rows, in the order of their first visits. */
  get folds(): readonly Fold[] {
    return this.#folds;
  }

  /** Adds a visit to the row of those that are like it. @returns false when there is none yet: then `begin` one */
  join(visit: FoldableVisit): boolean {
    const alike = this.#alike.get(groupOf(visit.key));
    const fold = alike && this.#findIn(alike, visit);
    if (fold === undefined) return false;
    fold.more++;
    if (fold.others !== null) {
      const before = fold.others.used;
      fold.others.add(visit.key.address);
      this.#tallied += fold.others.used - before;
    }
    return true;
  }

  #findIn(alike: Alike, visit: FoldableVisit): Fold | undefined {
    const fold = alike.byAddress.get(visit.key.address);
    if (fold !== undefined || this.#byAddress < ROWS_BY_ADDRESS) return fold;
    return alike.byNetwork.get(networkOf(visit)) ?? (this.#byNetwork < ROWS_BY_NETWORK ? undefined : alike.anywhere);
  }

  /** Begins the row of a visit that has none. @param at milliseconds since the Unix epoch */
  begin(visit: FoldableVisit, agent: string | null, at: number): void {
    const group = groupOf(visit.key);
    let alike = this.#alike.get(group);
    if (alike === undefined) {
      alike = { byAddress: new Map(), byNetwork: new Map(), anywhere: undefined };
      this.#alike.set(group, alike);
    }
    const fold = (moreBits: number | null): Fold => {
      const others = moreBits === null ? null : new AddressTally();
      const made = { key: visit.key, agent, at, moreBits, more: 0, others };
      this.#folds.push(made);
      return made;
    };
    if (this.#byAddress < ROWS_BY_ADDRESS) {
      this.#byAddress++;
      alike.byAddress.set(visit.key.address, fold(null));
    } else if (this.#byNetwork < ROWS_BY_NETWORK) {
      this.#byNetwork++;
      alike.byNetwork.set(networkOf(visit), fold(bitsOf(visit)));
    } else alike.anywhere = fold(NO_BITS);
  }
}

function groupOf({ rule, status, target }: VisitKey): string {
  return `${rule} ${status} ${kindOfTarget(target)}`;
}

function bitsOf({ address, anonymized }: FoldableVisit): number {
  if (address.family === 4) return IPV4_BITS;
  return anonymized ? ANONYMIZED_IPV6_BITS : IPV6_BITS;
}

function networkOf(visit: FoldableVisit): string {
  return networkWords(visit.address, bitsOf(visit)).join();
}
