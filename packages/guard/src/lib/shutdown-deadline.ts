import type { Logger } from './logger.js';

export interface ShutdownDeadlineOptions {
  /** How long the shutdown may take, milliseconds. */
  readonly ms: number;
  readonly logger: Pick<Logger, 'error' | 'flush'>;
  /** Fields of the log line that describe what is still open. */
  describe(): object;
  /** Ends the process. */
  exit(code: number): void;
}

/** Exit code of a guard whose shutdown has timed out. */
export const SHUTDOWN_TIMED_OUT = 1;

/**
 * Ends the process when its shutdown takes too long. Each part of a shutdown has its own limit; this one applies when
 * such a limit fails, so that a supervisor never has to kill guard without a log line.
 */
export class ShutdownDeadline {
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: ShutdownDeadlineOptions) {}

  start(): void {
    this.#timer = setTimeout(() => this.#expire(), this.options.ms);
  }

  /**
   * Called when everything is released. The process now ends by itself, unless something keeps it alive until the
   * deadline.
   */
  release(): void {
    this.#timer?.unref();
  }

  #expire(): void {
    const { ms, logger, describe, exit } = this.options;
    const resources = countByName(process.getActiveResourcesInfo());
    logger.error(
      { event: 'shutdown-timed-out', seconds: ms / 1000, ...describe(), resources },
      'The shutdown took too long; guard ends without the rest of it.',
    );
    logger.flush();
    exit(SHUTDOWN_TIMED_OUT);
  }
}

/** Number of timers, sockets, threads and so on that keep the process alive, by type. */
function countByName(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
