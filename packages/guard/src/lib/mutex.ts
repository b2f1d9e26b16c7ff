import { Mutex } from 'async-mutex';

/**
 * Runs tasks with the same key one after another, and tasks with different keys concurrently. A task that fails does
 * not stop the next one. An unused key takes no memory.
 */
export class KeyedMutex {
  readonly #mutexes = new Map<string, Mutex>();

  /** Keys in use. */
  get size(): number {
    return this.#mutexes.size;
  }

  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const mutex = this.#mutexes.get(key) ?? new Mutex();
    this.#mutexes.set(key, mutex);
    try {
      return await mutex.runExclusive(task);
    } finally {
      // A released mutex is locked again at once when another task waits for it.
      if (!mutex.isLocked()) this.#mutexes.delete(key);
    }
  }
}
