import { setTimeout as pause } from 'node:timers/promises';

/** Repeats a check until its result is neither false nor null nor undefined, and returns the result. */
export async function until<T>(
  what: string,
  check: () => T | Promise<T>,
  seconds = 45,
): Promise<Exclude<Awaited<T>, false | null | undefined>> {
  const end = Date.now() + seconds * 1000;
  let fault: unknown;
  while (Date.now() < end) {
    try {
      const result = await check();
      if (result !== false && result !== null && result !== undefined) {
        return result as Exclude<Awaited<T>, false | null | undefined>;
      }
      fault = undefined;
    } catch (error) {
      fault = error;
    }
    await pause(50);
  }
  throw new Error(`Waited ${seconds} s in vain until ${what}.`, { cause: fault });
}
