/** How long a visitor may keep an answer waiting, all in all, before it counts as taken slowly, milliseconds. */
const SLOW_MS = 1000;

/** Adds up the time in which a visitor takes nothing of an answer, so that many short rests count like a long one. */
export class LagWatch {
  #left = SLOW_MS;
  #since = 0;
  #slow = false;
  #timer: NodeJS.Timeout | null = null;

  /** @param onSlow called once, when the time is up */
  constructor(private readonly onSlow: () => void) {}

  begin(): void {
    if (this.#slow) return;
    this.#since = performance.now();
    this.#timer = setTimeout(() => {
      this.#slow = true;
      this.onSlow();
    }, this.#left).unref();
  }

  /** The visitor takes more, or it is over. */
  end(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#left = Math.max(0, this.#left - (performance.now() - this.#since));
  }
}
