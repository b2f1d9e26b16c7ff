/** When a slow call makes room for others. */
export interface StepAside {
  /**
   * A call that takes longer than this, milliseconds, continues beside the others; so does one that takes several times
   * as long as the calls before it.
   */
  readonly afterMs: number;
  /**
   * How many calls may do so at a time. There are never more of them than calls that were not slow, so that a server
   * that is slow for everybody does not get more calls at a time.
   */
  readonly max: number;
}

/** A call is slow when it takes this many times as long as the others, but never before `SHORT_MS`. */
const SLOW_FACTOR = 4;
const SHORT_MS = 100;

/**
 * Maps items with a bounded number of calls at a time, so that slow items do not delay the others. The results have the
 * order of the items.
 *
 * @throws the first error of a call; no further calls are started then
 */
export function mapBounded<Item, Result>(
  items: readonly Item[],
  { atOnce, aside }: { readonly atOnce: number; readonly aside: StepAside },
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  return new Promise((resolve, reject) => {
    const results = new Array<Result>(items.length);
    let next = 0;
    let ended = 0;
    let inTime = 0;
    let inTimeMs = 0;
    let failed = false;
    /** Calls that are not slow yet, slow calls that hold up others, and slow calls beside them. */
    const [running, waiting, besides] = [new Set<number>(), new Set<number>(), new Set<number>()];

    const proceed = () => {
      for (const at of waiting) {
        if (besides.size >= Math.min(aside.max, inTime)) break;
        waiting.delete(at);
        besides.add(at);
      }
      while (!failed && next < items.length && running.size + waiting.size < atOnce) void start(next++);
      if (ended === items.length) resolve(results);
    };

    const start = async (at: number) => {
      running.add(at);
      const startedAt = performance.now();
      // The first calls say what is usual.
      const usualMs = inTime < atOnce ? Number.POSITIVE_INFINITY : inTimeMs / inTime;
      const patienceMs = Math.min(aside.afterMs, Math.max(SHORT_MS, SLOW_FACTOR * usualMs));
      const timer = setTimeout(() => {
        running.delete(at);
        waiting.add(at);
        proceed();
      }, patienceMs);
      try {
        results[at] = await map(items[at] as Item);
      } catch (error) {
        failed = true;
        reject(error);
      } finally {
        clearTimeout(timer);
        if (running.delete(at)) {
          inTime++;
          inTimeMs += performance.now() - startedAt;
        }
        waiting.delete(at);
        besides.delete(at);
        ended++;
      }
      proceed();
    };

    proceed();
  });
}
