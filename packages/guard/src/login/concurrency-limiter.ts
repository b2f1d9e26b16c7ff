import { Limiter } from '../lib/limiter.js';

/**
 * How likely a request holds a password. `certain`: it does. `possible`: it changes something or holds credentials.
 * `view`: a plain GET; only a few plugins read passwords from one.
 */
export type PasswordLikelihood = 'certain' | 'possible' | 'view';

/** A permit for one check. */
export interface ConcurrencyPermit {
  readonly key: string;
  readonly likelihood: PasswordLikelihood;
  /** Time of the grant, milliseconds; 0 after a wait, since a certain check never counts as hung. */
  readonly since: number;
}

/** Waits for a permit. Exactly one of the two is called, once. */
export interface PermitWaiter {
  granted(permit: ConcurrencyPermit): void;
  /** The deadline has passed, or the key was locked. */
  refused(): void;
}

/** A request that may hold a password and takes longer than this is hung: a chat, a stream, an upload. Milliseconds. */
export const HUNG_AFTER_MS = 2000;
/** Limit of waiting requests of one address. */
const MAX_WAITING_PER_KEY = 64;
/** Limit of waiting requests in total. */
const MAX_WAITING = 2000;

/**
 * Bounds the password checks under way for each key (an address or a browser). The limit of a key changes with its
 * failures, so each call passes it. Keys without a check use no memory. Time is an argument, milliseconds.
 *
 * Many requests hang on purpose. To keep them from blocking a login, the last permit is reserved for a certain
 * password: a view never gets it (and only one view at a time gets any permit), a possible one does not get it while
 * another of its kind is hung.
 */
export class ConcurrencyLimiter {
  /** Each key holds only a few. */
  readonly #permits = new Map<string, ConcurrencyPermit[]>();
  readonly #limiter = new Limiter<PermitWaiter>({
    waiting: MAX_WAITING,
    waitingPerKey: MAX_WAITING_PER_KEY,
    grant: (waiter, key) => waiter.granted(this.#add({ key, likelihood: 'certain', since: 0 })),
    refuse: (waiter) => waiter.refused(),
  });

  /** Keys with checks under way or waiting. */
  get size(): number {
    return this.#limiter.size;
  }

  /** Checks that wait for a permit. */
  get waiting(): number {
    return this.#limiter.waiting;
  }

  countHeld(key: string): number {
    return this.#limiter.held(key);
  }

  /** Acquires a permit when the key holds fewer than `limit`, no request waits, and the likelihood is high enough. */
  tryAcquire(key: string, limit: number, likelihood: PasswordLikelihood, now: number): ConcurrencyPermit | null {
    const reserved = countReserved(this.#permits.get(key), likelihood, now);
    return this.#limiter.tryAcquire(key, limit - reserved) ? this.#add({ key, likelihood, since: now }) : null;
  }

  /**
   * Waits until `deadline`.
   * @returns a function that stops waiting, or null when too many requests are already waiting
   */
  enqueue(key: string, waiter: PermitWaiter, deadline: number): (() => void) | null {
    if (!this.#limiter.enqueue(key, waiter, 0, deadline)) return null;
    return () => void this.#limiter.cancel(key, waiter);
  }

  /**
   * Releases a permit.
   * @returns whether other requests wait: the caller must then call `serve`
   */
  release(permit: ConcurrencyPermit): boolean {
    const { key } = permit;
    const permits = this.#permits.get(key);
    const at = permits?.indexOf(permit) ?? -1;
    if (permits !== undefined && at !== -1) {
      permits.splice(at, 1);
      if (permits.length === 0) this.#permits.delete(key);
      this.#limiter.release(key);
    }
    return this.#limiter.waitingFor(key) > 0;
  }

  /** Grants permits to waiting requests, oldest first, while the key holds fewer than `limit`. */
  serve(key: string, limit: number): void {
    while (this.#limiter.serve(key, limit));
  }

  /** Refuses all requests that wait for a permit of this key. */
  refuseAll(key: string): void {
    this.#limiter.refuseAll(key);
  }

  /** Refuses all requests whose deadline has passed. */
  expire(now: number): void {
    this.#limiter.expire(now);
  }

  #add(permit: ConcurrencyPermit): ConcurrencyPermit {
    const permits = this.#permits.get(permit.key);
    if (permits === undefined) this.#permits.set(permit.key, [permit]);
    else permits.push(permit);
    return permit;
  }
}

/** Number of permits that a request of this likelihood must leave free. */
function countReserved(
  permits: readonly ConcurrencyPermit[] | undefined,
  likelihood: PasswordLikelihood,
  now: number,
): number {
  if (likelihood === 'certain') return 0;
  if (likelihood === 'view') {
    return permits?.some((permit) => permit.likelihood === 'view') === true ? Number.POSITIVE_INFINITY : 1;
  }
  const isHung = (permit: ConcurrencyPermit): boolean =>
    permit.likelihood !== 'certain' && now - permit.since >= HUNG_AFTER_MS;
  return permits?.some(isHung) === true ? 1 : 0;
}
