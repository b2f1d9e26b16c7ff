import type { SiteId } from '../site.js';
import type { VisitKey, VisitPack } from './packed-visits.js';

/** Places of each table; no more than half of them are taken, so that a search is short. */
const PLACES = 32_768;
const FULL = PLACES / 2;
/** Places that are looked at for one visit: whoever knew many visits with one hash would gain nothing. */
const NEAR = 8;

/**
 * Knows where the visits of the last second or two were written down, so that repeats are counted instead of written
 * again. Two tables of numbers: the older one is cleared at each turn, and what was met again meanwhile stands in the
 * newer one. A hash finds a visit, its bytes decide. What finds no place is forgotten: that costs a row, never a visit.
 */
export class RecentVisits {
  #newer = new Table();
  #older = new Table();

  /**
   * Looks for a visit like this one.
   * @param hash from `visitHash`
   * @returns its place, good until the next call; -1 when there is none
   */
  find(hash: number, site: SiteId, key: VisitKey): number {
    const place = this.#newer.find(hash, site, key);
    if (place !== -1) return place;
    const before = this.#older.find(hash, site, key);
    return before === -1 ? -1 : this.put(hash, this.#older.packAt(before), this.#older.offsetAt(before));
  }

  packAt(place: number): VisitPack {
    return this.#newer.packAt(place);
  }

  offsetAt(place: number): number {
    return this.#newer.offsetAt(place);
  }

  /** Remembers where a visit was written down. Returns its place. */
  put(hash: number, pack: VisitPack, offset: number): number {
    if (this.#newer.size >= FULL) this.turn();
    return this.#newer.put(hash, pack, offset);
  }

  /** The visit at this place was written down anew. */
  move(place: number, pack: VisitPack, offset: number): void {
    this.#newer.set(place, pack, offset);
  }

  /** Forgets what was not met since the last turn. */
  turn(): void {
    const emptied = this.#older;
    emptied.clear();
    this.#older = this.#newer;
    this.#newer = emptied;
  }
}

class Table {
  readonly #hashes = new Uint32Array(PLACES);
  readonly #offsets = new Uint32Array(PLACES);
  /** Number of the pack, from 1 on; 0 where nothing stands. */
  readonly #numbers = new Uint32Array(PLACES);
  readonly #packs: VisitPack[] = [];
  readonly #numberOf = new Map<VisitPack, number>();
  size = 0;

  find(hash: number, site: SiteId, key: VisitKey): number {
    for (let step = 0; step < NEAR; step++) {
      const place = (hash + step) % PLACES;
      if (this.#numbers[place] === 0) return -1;
      if (this.#hashes[place] !== hash) continue;
      const pack = this.packAt(place);
      if (pack.site === site && pack.isAt(this.offsetAt(place), key)) return place;
    }
    return -1;
  }

  packAt(place: number): VisitPack {
    return this.#packs[(this.#numbers[place] as number) - 1] as VisitPack;
  }

  offsetAt(place: number): number {
    return this.#offsets[place] as number;
  }

  put(hash: number, pack: VisitPack, offset: number): number {
    let place = hash % PLACES;
    for (let step = 1; step < NEAR && this.#numbers[place] !== 0; step++) place = (hash + step) % PLACES;
    if (this.#numbers[place] === 0) this.size++;
    this.#hashes[place] = hash;
    this.set(place, pack, offset);
    return place;
  }

  set(place: number, pack: VisitPack, offset: number): void {
    let number = this.#numberOf.get(pack);
    if (number === undefined) {
      number = this.#packs.push(pack);
      this.#numberOf.set(pack, number);
    }
    this.#numbers[place] = number;
    this.#offsets[place] = offset;
  }

  clear(): void {
    if (this.size === 0) return;
    this.#numbers.fill(0);
    this.#packs.length = 0;
    this.#numberOf.clear();
    this.size = 0;
  }
}

/**
 * Where a visit is looked for: 32 bits, FNV-1a over all of its key. Two visits may have the same.
 * @param seed 32 bits that visitors don't know
 */
export function visitHash({ address, status, rule, target }: VisitKey, seed: number): number {
  let hash = hashText(address, seed ^ status);
  if (rule !== null) hash = hashText(rule, hash);
  hash = hashText(target, hash);
  // The lowest bits of FNV know only the lowest bits of the characters.
  return (hash ^ (hash >>> 15)) >>> 0;
}

function hashText(text: string, start: number): number {
  let hash = start;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
