/**
 * Milliseconds since the Unix epoch. Passed as an argument wherever a rule depends on time, so that tests can change
 * it.
 */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Resolves when the promise settles, or after `ms` milliseconds. */
export function resolveWithin(promise: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timeout = setTimeout(resolve, ms);
    void promise.finally(() => {
      clearTimeout(timeout);
      resolve();
    });
  });
}
