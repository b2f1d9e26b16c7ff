/** How long a site may take to answer, milliseconds. */
export const RESPONSE_TIMEOUT_MS = 10_000;
/** How long it may take once many sites before it at the same web server have not answered, milliseconds. */
export const SHORT_TIMEOUT_MS = 1000;
/** How many sites that is. */
const SILENT_MAX = 32;

/**
 * How long `status` waits for a site. A web server that hangs for all its sites would otherwise keep it for the timeout
 * of each of them. The first site that answers ends this.
 */
export class Patience {
  /** Sites in a row that have not answered, by web server. */
  readonly #silent = new Map<string, number>();

  /** @param upstream `SiteConfig.upstream` */
  getTimeoutMs(upstream: string): number {
    return (this.#silent.get(upstream) ?? 0) < SILENT_MAX ? RESPONSE_TIMEOUT_MS : SHORT_TIMEOUT_MS;
  }

  record(upstream: string, hasAnswered: boolean): void {
    if (hasAnswered) this.#silent.delete(upstream);
    else this.#silent.set(upstream, (this.#silent.get(upstream) ?? 0) + 1);
  }
}
