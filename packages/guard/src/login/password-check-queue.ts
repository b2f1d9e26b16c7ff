import { Limiter } from '../lib/limiter.js';

/**
 * Outcome of a request that held a permit for a check. `right`: passwords were checked, and all were correct. `none`:
 * the connector confirms that none was checked. `wrong`: one was wrong, or the outcome is unknown.
 */
export type CheckOutcome = 'right' | 'wrong' | 'none';

/** A permit for one password check of an anonymous client. */
export interface CheckPermit {
  /** Ends the check; a second call does nothing. Unless the password was wrong, the permit is free at once. */
  release(outcome: CheckOutcome, now: number): void;
}

/** Waits for a permit. Exactly one of the two is called, once. */
export interface CheckWaiter {
  granted(permit: CheckPermit): void;
  /** The deadline has passed, or too many clients with fewer failures wait. */
  refused(): void;
}

export interface PasswordCheckLimits {
  /** From this number of recent wrong checks of anonymous clients, the site counts as being guessed at. */
  readonly guessThreshold: number;
  /** One wrong check is forgotten after this time, milliseconds. */
  readonly forgetMs: number;
  /** Checks at the same time while no one guesses: many users may log in at the same moment. */
  readonly maxConcurrent: number;
  /** Checks at the same time while someone guesses. */
  readonly maxConcurrentWhileGuessed: number;
  /** While someone guesses, the permit of a wrong check stays unused for this many times the duration of the check. */
  readonly pauseFactor: number;
  /** Longest such pause, milliseconds. */
  readonly maxPauseMs: number;
  /** A check that takes longer is hung: other clients no longer wait for it. Milliseconds. */
  readonly hungAfterMs: number;
  /**
   * Limit of waiting clients of each site. It is high, since a waiting client sends nothing, while a refused one
   * retries at once.
   */
  readonly maxWaiting: number;
}

/**
 * While someone guesses (60 failures at once, or more than one each second), there are two permits that are paused for
 * three quarters of the time: guessing uses at most half of one of the site's processors.
 */
const defaultLimits: PasswordCheckLimits = {
  guessThreshold: 60,
  forgetMs: 1000,
  maxConcurrent: 8,
  maxConcurrentWhileGuessed: 2,
  pauseFactor: 3,
  maxPauseMs: 1000,
  hungAfterMs: 5000,
  maxWaiting: 1000,
};

/** Limit of remembered guesses beyond the threshold, so that the state ends a minute after the last guess. */
const REMEMBERED = 60;

/** The number of wrong checks that have not expired at a time (milliseconds). One expires each `forgetMs`. */
export interface FailureRate {
  readonly count: number;
  readonly at: number;
}

/** The number of wrong checks that have not expired now. A clock that was set back lets none expire. */
export function toCurrentGuesses({ count, at }: FailureRate, forgetMs: number, now: number): number {
  return Math.max(0, count - Math.max(0, now - at) / forgetMs);
}

interface SiteChecks {
  readonly site: string;
  /** One for each permit: the time until which the check, or the pause after it, holds it. */
  readonly leases: Set<{ until: number }>;
  guesses: FailureRate;
  timer: NodeJS.Timeout | undefined;
}

/**
 * The queue of anonymous clients for a password check, for each site. However many addresses guess, only a few checks
 * run at once, so that WordPress has time for other requests. While no one guesses, no client waits. Addresses with
 * fewer failures are served first, so that the owner soon overtakes every address that guesses.
 */
export class PasswordCheckQueue {
  readonly #sites = new Map<string, SiteChecks>();
  readonly #clock: () => number;
  readonly #limits: PasswordCheckLimits;
  readonly #limiter = new Limiter<CheckWaiter>({
    grant: (waiter, site, now) => waiter.granted(this.#createPermit(site, now)),
    refuse: (waiter) => waiter.refused(),
  });

  constructor(clock: () => number = Date.now, limits: Partial<PasswordCheckLimits> = {}) {
    this.#clock = clock;
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** Sites with checks under way, waiting clients, or failures that have not expired. */
  get size(): number {
    return this.#sites.size;
  }

  /** Waiting clients of all sites. */
  get waiting(): number {
    return this.#limiter.waiting;
  }

  /**
   * Grants a permit at once when one is free and no client with fewer failures waits; otherwise waits until `deadline`.
   *
   * @param failures of the address; clients with fewer are served first
   * @returns a function that stops waiting; it does nothing once the waiter was called
   */
  enqueue(site: string, failures: number, waiter: CheckWaiter, deadline: number): () => void {
    let checks = this.#sites.get(site);
    if (checks === undefined) {
      checks = { site, leases: new Set(), guesses: { count: 0, at: 0 }, timer: undefined };
      this.#sites.set(site, checks);
    }
    this.#limiter.enqueue(site, waiter, failures, deadline);
    this.#serve(checks, this.#clock());
    this.#limiter.trim(site, this.#limits.maxWaiting);
    return () => void this.#limiter.cancel(site, waiter);
  }

  /** Refuses all clients whose deadline has passed. Call it several times a second. */
  expire(now: number): void {
    this.#limiter.expire(now);
  }

  #serve(checks: SiteChecks, now: number): void {
    const { site, leases } = checks;
    for (const lease of leases) if (lease.until <= now) this.#endLease(checks, lease);
    while (this.#limiter.serve(site, this.#countPermits(checks, now), now));
    clearTimeout(checks.timer);
    const remembered = toCurrentGuesses(checks.guesses, this.#limits.forgetMs, now);
    if (leases.size === 0 && remembered === 0) {
      if (this.#sites.get(site) === checks) this.#sites.delete(site);
      return;
    }
    const forgotten = now + remembered * this.#limits.forgetMs;
    const next = leases.size === 0 ? forgotten : Math.min(...[...leases].map(({ until }) => until));
    checks.timer = setTimeout(() => this.#serve(checks, this.#clock()), Math.max(1, next - now)).unref();
  }

  #endLease({ site, leases }: SiteChecks, lease: { until: number }): void {
    leases.delete(lease);
    this.#limiter.release(site);
  }

  #isGuessedAt({ guesses }: SiteChecks, now: number): boolean {
    return toCurrentGuesses(guesses, this.#limits.forgetMs, now) >= this.#limits.guessThreshold;
  }

  #countPermits(checks: SiteChecks, now: number): number {
    return this.#isGuessedAt(checks, now) ? this.#limits.maxConcurrentWhileGuessed : this.#limits.maxConcurrent;
  }

  #createPermit(site: string, began: number): CheckPermit {
    const { guessThreshold, forgetMs, hungAfterMs, pauseFactor, maxPauseMs } = this.#limits;
    const checks = this.#sites.get(site) as SiteChecks;
    const lease = { until: began + hungAfterMs };
    checks.leases.add(lease);
    let isHeld = true;
    return {
      release: (outcome, now) => {
        if (!isHeld) return;
        isHeld = false;
        if (outcome === 'wrong') {
          const count = toCurrentGuesses(checks.guesses, forgetMs, now) + 1;
          checks.guesses = { count: Math.min(count, guessThreshold + REMEMBERED), at: now };
        }
        if (!checks.leases.has(lease)) return;
        const rests = outcome === 'wrong' && this.#isGuessedAt(checks, now);
        lease.until = rests ? now + Math.min(pauseFactor * (now - began), maxPauseMs) : now;
        this.#serve(checks, now);
      },
    };
  }
}
