/** Someone who waits for a slot. Exactly one of the two is called, once. */
export interface SlotWaiter {
  /** The slot is taken for you now. */
  granted(): void;
  /** There will be none: the time is over. */
  expired(): void;
}

/**
 * How likely a request holds a password. `certain`: it does. `possible`: it is one that changes something or holds
 * credentials. `view`: a plain GET; only odd plugins take passwords from one.
 */
export type Claim = 'certain' | 'possible' | 'view';

interface Lane {
  taken: number;
  /** How many of those are views. */
  views: number;
  readonly waiting: { readonly waiter: SlotWaiter; readonly until: number }[];
}

/** Requests of one address that may wait at the same time. */
const WAITING_PER_KEY = 64;
/** Requests that may wait at the same time in all. */
const WAITING_IN_ALL = 2000;

/**
 * Password checks under way, by key. A check must hold a slot; whoever finds none may wait in line for a while. Holds
 * nothing for keys without a check under way. Time is handed in, milliseconds.
 *
 * Many requests hang on purpose (chats, event streams, uploads). So that they can't keep a login waiting, the last slot
 * is for what is certain: something possible gets it only when nothing else is under way, a view never, and of views
 * only one at a time holds any.
 */
export class LoginSlots {
  readonly #lanes = new Map<string, Lane>();
  #waiting = 0;

  /** Keys with checks under way or in line. */
  get size(): number {
    return this.#lanes.size;
  }

  taken(key: string): number {
    return this.#lanes.get(key)?.taken ?? 0;
  }

  /** Takes a slot when fewer than `free` are taken, nobody stands in line before, and the claim goes that far. */
  take(key: string, free: number, claim: Claim): boolean {
    const lane = this.#lanes.get(key) ?? { taken: 0, views: 0, waiting: [] };
    if (lane.waiting.length > 0) return false;
    const reserved = claim === 'certain' || (claim === 'possible' && lane.taken === 0) ? 0 : 1;
    if (lane.taken >= free - reserved || (claim === 'view' && lane.views > 0)) return false;
    lane.taken++;
    if (claim === 'view') lane.views++;
    this.#lanes.set(key, lane);
    return true;
  }

  /** Stands in line until `until`. @returns a way out of the line, or null when the line is too long */
  wait(key: string, waiter: SlotWaiter, until: number): (() => void) | null {
    const lane = this.#lanes.get(key) ?? { taken: 0, views: 0, waiting: [] };
    if (lane.waiting.length >= WAITING_PER_KEY || this.#waiting >= WAITING_IN_ALL) return null;
    this.#lanes.set(key, lane);
    const place = { waiter, until };
    lane.waiting.push(place);
    this.#waiting++;
    return () => {
      const at = lane.waiting.indexOf(place);
      if (at === -1) return;
      lane.waiting.splice(at, 1);
      this.#waiting--;
      this.#tidy(key, lane);
    };
  }

  /** Gives a slot back. @returns whether others stand in line: then call `serve` with the number of free ones */
  release(key: string, claim: Claim): boolean {
    const lane = this.#lanes.get(key);
    if (lane === undefined) return false;
    if (lane.taken > 0) lane.taken--;
    if (claim === 'view' && lane.views > 0) lane.views--;
    this.#tidy(key, lane);
    return lane.waiting.length > 0;
  }

  /** Gives slots to those in line, first come first served, while fewer than `free` are taken. */
  serve(key: string, free: number): void {
    const lane = this.#lanes.get(key);
    if (lane === undefined) return;
    while (lane.taken < free && lane.waiting.length > 0) {
      const place = lane.waiting.shift() as Lane['waiting'][number];
      this.#waiting--;
      lane.taken++;
      place.waiter.granted();
    }
    this.#tidy(key, lane);
  }

  /** Sends everyone in line of that key away: there will be no slot. */
  dismiss(key: string): void {
    const lane = this.#lanes.get(key);
    if (lane === undefined || lane.waiting.length === 0) return;
    const places = lane.waiting.splice(0);
    this.#waiting -= places.length;
    this.#tidy(key, lane);
    for (const { waiter } of places) waiter.expired();
  }

  /** Sends away everyone whose time is over. */
  expire(now: number): void {
    if (this.#waiting === 0) return;
    for (const [key, lane] of this.#lanes) {
      while (lane.waiting[0] !== undefined && lane.waiting[0].until <= now) {
        const place = lane.waiting.shift() as Lane['waiting'][number];
        this.#waiting--;
        place.waiter.expired();
      }
      this.#tidy(key, lane);
    }
  }

  #tidy(key: string, lane: Lane): void {
    if (lane.taken > 0 || lane.waiting.length > 0) return;
    if (this.#lanes.get(key) === lane) this.#lanes.delete(key);
  }
}
