/** How soon a host name is wanted: the owner looks at it, a visitor claims to be a search engine, or just so. */
export type Urgency = 'shown' | 'claimed' | 'seen';

/** Most lookups that wait, by urgency. What does not fit is left out, and comes back when it is wanted again. */
const WAITING_MAX: Readonly<Record<Urgency, number>> = { shown: 500, claimed: 2000, seen: 1000 };
const URGENCIES: readonly Urgency[] = ['shown', 'claimed', 'seen'];

/** Lookups in line, the most urgent first, each only once. */
export class LookupQueue<Task> {
  readonly #waiting: Readonly<Record<Urgency, Map<string, Task>>> = {
    shown: new Map(),
    claimed: new Map(),
    seen: new Map(),
  };

  get size(): number {
    return URGENCIES.reduce((sum, urgency) => sum + this.#waiting[urgency].size, 0);
  }

  /** Whether a task of this key waits already, at least as urgent. */
  has(key: string, urgency: Urgency): boolean {
    return URGENCIES.slice(0, URGENCIES.indexOf(urgency) + 1).some((line) => this.#waiting[line].has(key));
  }

  /** Whether a task of this urgency would be left out. */
  isFull(urgency: Urgency): boolean {
    return this.#waiting[urgency].size >= WAITING_MAX[urgency];
  }

  /** Puts a task in line, in place of an older one of the same key that is not more urgent. */
  add(key: string, task: Task, urgency: Urgency): void {
    const before = URGENCIES.find((other) => this.#waiting[other].has(key));
    if (before !== undefined && URGENCIES.indexOf(before) < URGENCIES.indexOf(urgency)) return;
    // A full line leaves a task where it is: late is better than never.
    if (this.isFull(urgency) && before !== urgency) return;
    if (before !== undefined) this.#waiting[before].delete(key);
    this.#waiting[urgency].set(key, task);
  }

  next(): Task | null {
    for (const urgency of URGENCIES) {
      for (const [key, task] of this.#waiting[urgency]) {
        this.#waiting[urgency].delete(key);
        return task;
      }
    }
    return null;
  }

  clear(): void {
    for (const urgency of URGENCIES) this.#waiting[urgency].clear();
  }
}
