/** Leave for one password check of a stranger. Given up exactly once; a second time does nothing. */
export interface Place {
  /**
   * The check is over.
   * @param right whether passwords were checked and every one was right
   */
  leave(right: boolean, now: number): void;
}

/** Someone who waits for a place. Exactly one of the two is called, once. */
export interface LineWaiter {
  granted(place: Place): void;
  /** There will be none: the time is over, or others with fewer failures took all the room. */
  expired(): void;
}

export interface LineLimits {
  /** Checks of strangers that were not right, among the last ones, from which on a site is being guessed at. */
  readonly guesses: number;
  /** One of them is forgotten after this time, milliseconds. */
  readonly forgetMs: number;
  /** Checks of strangers at the same time while nobody guesses: members may all log in at the same moment. */
  readonly calmAtOnce: number;
  /** The same while somebody guesses. */
  readonly atOnce: number;
  /** While somebody guesses, a place in which a password was wrong stays empty for so many times as its check took, */
  readonly rest: number;
  /** but no longer than this, milliseconds. */
  readonly longestRestMs: number;
  /** A check that takes longer hangs, and others no longer wait for it, milliseconds. */
  readonly hangsAfterMs: number;
  /**
   * Strangers in line at the same time, for each site. Many, since whoever waits does not ask: thousands of answers a
   * second would keep guard itself from everybody else.
   */
  readonly waiting: number;
}

/**
 * While somebody guesses (60 failures at once, or more than one each second), two places that are empty for three
 * quarters of the time: all that guessing gets of the site's processors is half of one.
 */
const lineLimits: LineLimits = {
  guesses: 60,
  forgetMs: 1000,
  calmAtOnce: 8,
  atOnce: 2,
  rest: 3,
  longestRestMs: 1000,
  hangsAfterMs: 5000,
  waiting: 1000,
};

/** Beyond those that make a site one that is guessed at, so many are remembered: it ends a minute after the last ones. */
const REMEMBERED = 60;

/** Failures of strangers that are not forgotten yet: so many at that time, milliseconds; one less each `forgetMs`. */
export interface Guesses {
  readonly count: number;
  readonly at: number;
}

/** How many failures are not forgotten now. A clock that was set back forgets nothing. */
export function guessesNow({ count, at }: Guesses, forgetMs: number, now: number): number {
  return Math.max(0, count - Math.max(0, now - at) / forgetMs);
}

interface Waiting {
  readonly waiter: LineWaiter;
  readonly failures: number;
  readonly until: number;
}

interface SiteLine {
  /** Until when each taken place is kept: by the check in it, or empty. */
  readonly taken: Set<{ until: number }>;
  /** Fewest failures first; among as many, first come first. */
  readonly waiting: Waiting[];
  guesses: Guesses;
  timer: NodeJS.Timeout | undefined;
}

/**
 * The line in which strangers stand for a password check, for each site. However many addresses guess, only a few
 * checks are made at once, and they leave WordPress time for everybody else. While nobody guesses there is no line. Who
 * has failed less often goes first, so that every address that guesses goes behind the owner's sooner or later.
 */
export class CheckLine {
  readonly #sites = new Map<string, SiteLine>();
  readonly #clock: () => number;
  readonly #limits: LineLimits;

  constructor(clock: () => number = Date.now, limits: Partial<LineLimits> = {}) {
    this.#clock = clock;
    this.#limits = { ...lineLimits, ...limits };
  }

  /** Sites with checks under way, strangers in line, or failures that are not forgotten. */
  get size(): number {
    return this.#sites.size;
  }

  /**
   * Takes a place, at once when one is free and nobody with fewer failures waits; else stands in line until `until`.
   *
   * @param failures of the address; those with fewer go first
   * @returns a way out of the line; does nothing once the waiter was called
   */
  wait(site: string, failures: number, waiter: LineWaiter, until: number): () => void {
    const line = this.#sites.get(site) ?? newLine();
    this.#sites.set(site, line);
    const place = { waiter, failures, until };
    const behind = line.waiting.findIndex((other) => other.failures > failures);
    line.waiting.splice(behind === -1 ? line.waiting.length : behind, 0, place);
    this.#serve(site, line, this.#clock());
    if (line.waiting.length > this.#limits.waiting) line.waiting.pop()?.waiter.expired();
    return () => {
      const at = line.waiting.indexOf(place);
      if (at !== -1) line.waiting.splice(at, 1);
    };
  }

  /** Sends away everyone whose time is over. To be called several times a second. */
  expire(now: number): void {
    for (const { waiting } of this.#sites.values()) {
      const over = waiting.filter(({ until }) => until <= now);
      for (const place of over) {
        const at = waiting.indexOf(place);
        // Sending one away may have sent away another.
        if (at === -1) continue;
        waiting.splice(at, 1);
        place.waiter.expired();
      }
    }
  }

  #serve(site: string, line: SiteLine, now: number): void {
    for (const taken of line.taken) if (taken.until <= now) line.taken.delete(taken);
    while (line.taken.size < this.#places(line, now) && line.waiting.length > 0) {
      const { waiter } = line.waiting.shift() as Waiting;
      waiter.granted(this.#take(site, line, now));
    }
    clearTimeout(line.timer);
    const remembered = guessesNow(line.guesses, this.#limits.forgetMs, now);
    if (line.taken.size === 0 && remembered === 0) {
      if (this.#sites.get(site) === line) this.#sites.delete(site);
      return;
    }
    const forgotten = now + remembered * this.#limits.forgetMs;
    const next = line.taken.size === 0 ? forgotten : Math.min(...[...line.taken].map(({ until }) => until));
    line.timer = setTimeout(() => this.#serve(site, line, this.#clock()), Math.max(1, next - now)).unref();
  }

  #isGuessedAt(line: SiteLine, now: number): boolean {
    return guessesNow(line.guesses, this.#limits.forgetMs, now) >= this.#limits.guesses;
  }

  #places(line: SiteLine, now: number): number {
    return this.#isGuessedAt(line, now) ? this.#limits.atOnce : this.#limits.calmAtOnce;
  }

  #take(site: string, line: SiteLine, began: number): Place {
    const { guesses, forgetMs, hangsAfterMs, rest, longestRestMs } = this.#limits;
    const taken = { until: began + hangsAfterMs };
    line.taken.add(taken);
    let held = true;
    return {
      leave: (right, now) => {
        if (!held) return;
        held = false;
        if (!right) {
          const count = guessesNow(line.guesses, forgetMs, now) + 1;
          line.guesses = { count: Math.min(count, guesses + REMEMBERED), at: now };
        }
        if (!line.taken.has(taken)) return;
        const rests = !right && this.#isGuessedAt(line, now);
        taken.until = rests ? now + Math.min(rest * (now - began), longestRestMs) : now;
        this.#serve(site, line, now);
      },
    };
  }
}

function newLine(): SiteLine {
  return { taken: new Set(), waiting: [], guesses: { count: 0, at: 0 }, timer: undefined };
}
