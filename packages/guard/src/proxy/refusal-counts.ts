import type { Logger } from '../lib/logger.js';
import type { GateObserver } from './gate-observer.js';

/** Counts refusals by rule and logs the sums once a minute: under attack one line each would be the heavier attack. */
export class RefusalCounts {
  readonly #counts = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly logger: Logger,
    private readonly observer: Pick<GateObserver, 'refused'>,
  ) {
    this.#timer = setInterval(() => this.flush(), 60_000);
    this.#timer.unref();
  }

  add(rule: string): void {
    this.#counts.set(rule, (this.#counts.get(rule) ?? 0) + 1);
    this.observer.refused(rule);
  }

  flush(): void {
    if (this.#counts.size === 0) return;
    this.logger.info({ event: 'requests-refused', rules: Object.fromEntries(this.#counts) }, 'requests refused');
    this.#counts.clear();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.flush();
  }
}
