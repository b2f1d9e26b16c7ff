import { Shares } from './shares.js';

export interface LimiterOptions<Waiter> {
  /** Permits in use at the same time, for all keys together. */
  readonly permits?: number;
  /** How many of the permits are reserved for keys without permits. */
  readonly reserve?: number;
  /** Waiters at the same time, for all keys together. */
  readonly waiting?: number;
  /** Waiters of one key at the same time. */
  readonly waitingPerKey?: number;
  /**
   * The group of a key. With it, a full queue accepts a waiter of a key with few waiters: the last waiter of the
   * largest share is refused instead; see `Shares`.
   */
  toGroup?(key: string): string;
  /** The waiter holds a permit of that key from now on. @param now argument of the call that served it */
  grant(waiter: Waiter, key: string, now: number): void;
  /** The waiter gets no permit: its deadline has passed, or the queue has no room. */
  refuse(waiter: Waiter): void;
}

interface Entry<Waiter> {
  readonly waiter: Waiter;
  readonly priority: number;
  readonly deadline: number;
  readonly order: number;
}

interface KeyState<Waiter> {
  readonly key: string;
  held: number;
  /** Lowest priority value first; of equal values the oldest first. */
  readonly queue: Entry<Waiter>[];
}

/**
 * Permits, limited for each key and in total, and a bounded priority queue of waiters. Each waiter is answered exactly
 * once, by `grant` or `refuse`, unless it is cancelled first; both may call the limiter. A permit is a count: its
 * holder releases it exactly once. The limit of permits of a key is an argument, since it may differ between calls; so
 * is the time, in milliseconds.
 */
export class Limiter<Waiter> {
  readonly #keys = new Map<string, KeyState<Waiter>>();
  readonly #permits: number;
  readonly #reserve: number;
  readonly #shares: Shares | null;
  readonly #maxWaiting: number;
  readonly #maxWaitingPerKey: number;
  readonly #options: LimiterOptions<Waiter>;
  #held = 0;
  #waiting = 0;
  #order = 0;
  /** The state that became unused last. It is kept, so that a key that is used repeatedly needs no allocation. */
  #unused: KeyState<Waiter> | null = null;

  constructor(options: LimiterOptions<Waiter>) {
    const { permits, reserve, waiting, waitingPerKey, toGroup } = options;
    this.#options = options;
    this.#permits = permits ?? Number.POSITIVE_INFINITY;
    this.#reserve = reserve ?? 0;
    this.#shares = toGroup === undefined ? null : new Shares(toGroup);
    this.#maxWaiting = waiting ?? Number.POSITIVE_INFINITY;
    this.#maxWaitingPerKey = waitingPerKey ?? Number.POSITIVE_INFINITY;
  }

  /** Keys with permits or waiters. */
  get size(): number {
    return this.#keys.size - (this.#unused === null ? 0 : 1);
  }

  /** Waiters of all keys. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Number of permits that a key holds. */
  held(key: string): number {
    return this.#keys.get(key)?.held ?? 0;
  }

  /** Waiters of a key. */
  waitingFor(key: string): number {
    return this.#keys.get(key)?.queue.length ?? 0;
  }

  /**
   * Takes a permit now, unless the key holds `limit` already, another waiter of the same key is queued, or no permit is
   * free for it. Calls neither `grant` nor `refuse`.
   */
  tryAcquire(key: string, limit: number): boolean {
    const state = this.#keys.get(key);
    const held = state?.held ?? 0;
    if (held >= limit || !this.#hasPermit(held)) return false;
    if (state !== undefined && state.queue.length > 0) return false;
    this.#add(state ?? this.#create(key));
    return true;
  }

  /**
   * Adds a waiter to the queue of its key. Serves no waiter: call `serve` or `serveAll` when permits may be free.
   *
   * @param priority waiters with a lower value are served first
   * @param deadline time at which `expire` refuses it
   * @returns false when the queue is full and the waiter was not added; then it is not called
   */
  enqueue(key: string, waiter: Waiter, priority = 0, deadline = Number.POSITIVE_INFINITY): boolean {
    if (this.waitingFor(key) >= this.#maxWaitingPerKey || !this.#makeRoom(key)) return false;
    const state = this.#keys.get(key) ?? this.#create(key);
    if (state === this.#unused) this.#unused = null;
    const { queue } = state;
    let at = queue.length;
    while (at > 0 && (queue[at - 1] as Entry<Waiter>).priority > priority) at--;
    queue.splice(at, 0, { waiter, priority, deadline, order: this.#order++ });
    this.#waiting++;
    this.#shares?.add(key);
    return true;
  }

  /** Refuses waiters of a key, starting with the last, until at most `max` are left. */
  trim(key: string, max: number): void {
    const state = this.#keys.get(key);
    while (state !== undefined && state.queue.length > max) {
      this.#refuse(state, state.queue[state.queue.length - 1] as Entry<Waiter>);
    }
  }

  /** Removes a waiter from the queue of its key. @returns whether it was queued */
  cancel(key: string, waiter: Waiter): boolean {
    const state = this.#keys.get(key);
    const at = state === undefined ? -1 : state.queue.findIndex((entry) => entry.waiter === waiter);
    if (state === undefined || at === -1) return false;
    this.#remove(state, at);
    return true;
  }

  /** Releases a permit. Serves no waiter: call `serve` or `serveAll`. */
  release(key: string): void {
    const state = this.#keys.get(key);
    if (state === undefined || state.held === 0) return;
    state.held--;
    this.#held--;
    this.#tidy(state);
  }

  /**
   * Grants one permit to the next waiter of a key if the key holds fewer than `limit`.
   *
   * @returns whether a permit was granted; if so, call it again
   */
  serve(key: string, limit: number, now = 0): boolean {
    const state = this.#keys.get(key);
    if (state === undefined || state.queue.length === 0) return false;
    if (state.held >= limit || !this.#hasPermit(state.held)) return false;
    this.#grant(state, now);
    return true;
  }

  /**
   * Grants permits to waiters of all keys, skipping keys that hold `limit` permits each: by priority; for equal values
   * the key with the fewest permits first, then the oldest waiter.
   */
  serveAll(limit: number, now = 0): void {
    while (this.#waiting > 0 && this.#held < this.#permits) {
      let next: KeyState<Waiter> | null = null;
      for (const state of this.#keys.values()) {
        const mayHave = state.queue.length > 0 && state.held < limit && this.#hasPermit(state.held);
        if (mayHave && (next === null || isBefore(state, next))) next = state;
      }
      if (next === null) return;
      this.#grant(next, now);
    }
  }

  /** Refuses all waiters of a key. */
  refuseAll(key: string): void {
    const state = this.#keys.get(key);
    if (state === undefined) return;
    for (const entry of [...state.queue]) this.#refuse(state, entry);
  }

  /** Refuses all waiters whose deadline has passed. Must be called several times a second. */
  expire(now: number): void {
    if (this.#waiting === 0) return;
    for (const state of [...this.#keys.values()]) {
      for (const entry of state.queue.filter(({ deadline }) => deadline <= now)) this.#refuse(state, entry);
    }
  }

  /** Number of keys with waiters and without permits. */
  get withoutPermit(): number {
    let count = 0;
    if (this.#waiting === 0) return count;
    for (const { held, queue } of this.#keys.values()) if (held === 0 && queue.length > 0) count++;
    return count;
  }

  /** Whether a permit is free for a key that holds this number of permits. */
  #hasPermit(held: number): boolean {
    return this.#held < this.#permits - (held > 0 ? this.#reserve : 0);
  }

  /** @returns whether another waiter of this key may be added */
  #makeRoom(key: string): boolean {
    if (this.#waiting < this.#maxWaiting) return true;
    const largest = this.#shares?.largest(key) ?? null;
    const state = largest === null ? undefined : this.#keys.get(largest);
    const last = state?.queue.at(-1);
    if (state === undefined || last === undefined) return false;
    this.#refuse(state, last);
    return this.#waiting < this.#maxWaiting;
  }

  #create(key: string): KeyState<Waiter> {
    const state: KeyState<Waiter> = { key, held: 0, queue: [] };
    this.#keys.set(key, state);
    return state;
  }

  #add(state: KeyState<Waiter>): void {
    if (state === this.#unused) this.#unused = null;
    state.held++;
    this.#held++;
  }

  #grant(state: KeyState<Waiter>, now: number): void {
    const { waiter } = state.queue.shift() as Entry<Waiter>;
    this.#waiting--;
    this.#shares?.delete(state.key);
    this.#add(state);
    this.#options.grant(waiter, state.key, now);
  }

  /** Answering one waiter may have answered another, which is then no longer queued. */
  #refuse(state: KeyState<Waiter>, entry: Entry<Waiter>): void {
    const at = state.queue.indexOf(entry);
    if (at === -1) return;
    this.#remove(state, at);
    this.#options.refuse(entry.waiter);
  }

  #remove(state: KeyState<Waiter>, at: number): void {
    state.queue.splice(at, 1);
    this.#waiting--;
    this.#shares?.delete(state.key);
    this.#tidy(state);
  }

  #tidy(state: KeyState<Waiter>): void {
    if (state.held > 0 || state.queue.length > 0 || state === this.#unused) return;
    if (this.#unused !== null) this.#keys.delete(this.#unused.key);
    this.#unused = state;
  }
}

function isBefore<Waiter>(one: KeyState<Waiter>, other: KeyState<Waiter>): boolean {
  const a = one.queue[0] as Entry<Waiter>;
  const b = other.queue[0] as Entry<Waiter>;
  if (a.priority !== b.priority) return a.priority < b.priority;
  return one.held === other.held ? a.order < b.order : one.held < other.held;
}
