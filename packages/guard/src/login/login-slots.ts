/**
 * How likely a request holds a password. `certain`: it does. `possible`: it is one that changes something or holds
 * credentials. `view`: a plain GET; only odd plugins take passwords from one.
 */
export type Claim = 'certain' | 'possible' | 'view';

/** Leave for one check. */
export interface Slot {
  readonly key: string;
  readonly claim: Claim;
  /** When it was taken, milliseconds; 0 for one that was waited for, since what is certain never counts as hanging. */
  readonly since: number;
}

/** Someone who waits for a slot. Exactly one of the two is called, once. */
export interface SlotWaiter {
  /** The slot is taken for you now. */
  granted(slot: Slot): void;
  /** There will be none: the time is over. */
  expired(): void;
}

interface Lane {
  /** A handful at most. */
  readonly taken: Slot[];
  readonly waiting: { readonly waiter: SlotWaiter; readonly until: number }[];
}

/** A request that may hold a password and takes longer than this hangs: a chat, a stream, an upload. Milliseconds. */
export const HANGS_AFTER_MS = 2000;
/** Requests of one address that may wait at the same time. */
const WAITING_PER_KEY = 64;
/** Requests that may wait at the same time in all. */
const WAITING_IN_ALL = 2000;

/**
 * Password checks under way, by key. A check must hold a slot; whoever finds none may wait in line for a while. Holds
 * nothing for keys without a check under way. Time is handed in, milliseconds.
 *
 * Many requests hang on purpose. So that they can't keep a login waiting, the last slot is for what is certain: a view
 * never gets it (and only one view at a time gets any), something possible not while another of its kind hangs.
 */
export class LoginSlots {
  readonly #lanes = new Map<string, Lane>();
  #waiting = 0;

  /** Keys with checks under way or in line. */
  get size(): number {
    return this.#lanes.size;
  }

  taken(key: string): number {
    return this.#lanes.get(key)?.taken.length ?? 0;
  }

  /** Takes a slot when fewer than `free` are taken, nobody stands in line before, and the claim goes that far. */
  take(key: string, free: number, claim: Claim, now: number): Slot | null {
    const lane = this.#lanes.get(key) ?? newLane();
    if (lane.waiting.length > 0 || lane.taken.length >= free - reserved(lane, claim, now)) return null;
    this.#lanes.set(key, lane);
    return occupy(lane, { key, claim, since: now });
  }

  /** Stands in line until `until`. @returns a way out of the line, or null when the line is too long */
  wait(key: string, waiter: SlotWaiter, until: number): (() => void) | null {
    const lane = this.#lanes.get(key) ?? newLane();
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
  release(slot: Slot): boolean {
    const lane = this.#lanes.get(slot.key);
    if (lane === undefined) return false;
    const at = lane.taken.indexOf(slot);
    if (at !== -1) lane.taken.splice(at, 1);
    this.#tidy(slot.key, lane);
    return lane.waiting.length > 0;
  }

  /** Gives slots to those in line, first come first served, while fewer than `free` are taken. */
  serve(key: string, free: number): void {
    const lane = this.#lanes.get(key);
    if (lane === undefined) return;
    while (lane.taken.length < free && lane.waiting.length > 0) {
      const place = lane.waiting.shift() as Lane['waiting'][number];
      this.#waiting--;
      place.waiter.granted(occupy(lane, { key, claim: 'certain', since: 0 }));
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
    if (lane.taken.length > 0 || lane.waiting.length > 0) return;
    if (this.#lanes.get(key) === lane) this.#lanes.delete(key);
  }
}

function newLane(): Lane {
  return { taken: [], waiting: [] };
}

function occupy(lane: Lane, slot: Slot): Slot {
  lane.taken.push(slot);
  return slot;
}

/** Slots that this claim must leave free. */
function reserved({ taken }: Lane, claim: Claim, now: number): number {
  if (claim === 'certain') return 0;
  if (claim === 'view') return taken.some((slot) => slot.claim === 'view') ? Number.POSITIVE_INFINITY : 1;
  return taken.some((slot) => slot.claim !== 'certain' && now - slot.since >= HANGS_AFTER_MS) ? 1 : 0;
}
