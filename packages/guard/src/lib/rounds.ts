/** Runs a task again and again, with a pause after each round. No two rounds overlap. */
export class Rounds {
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;

  /**
   * @param task must not reject; ends early when `isStopped` becomes true
   * @param pauseMs pause before each round, milliseconds
   */
  constructor(
    private readonly task: () => Promise<void>,
    private readonly pauseMs: number,
  ) {}

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Begins with a pause. */
  start(): void {
    this.#timer = setTimeout(() => {
      void this.round().finally(() => {
        if (!this.#isStopped) this.start();
      });
    }, this.pauseMs).unref();
  }

  /** Runs a round at once, or after the one under way. */
  round(): Promise<void> {
    this.#running = this.#running.then(this.task);
    return this.#running;
  }

  /** Resolves when no round is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }
}
