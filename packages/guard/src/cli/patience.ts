/** How long a site may take to answer, milliseconds. */
export const RESPONSE_TIMEOUT_MS = 10_000;
/** How long it may take once many sites before it at the same web server have not answered, milliseconds. */
export const SHORT_TIMEOUT_MS = 1000;
/** How many sites that is. */
const SILENT_MAX = 32;
/** After so many silent sites in a row only samples are asked, so that a server under pressure isn't asked by all. */
const SILENT_SURE = 128;
/** One site in this many is a sample. */
const SAMPLE = 64;

/**
 * How long `status` waits for a site. A web server that hangs for all its sites would otherwise keep it for the timeout
 * of each of them. The first site that answers ends this.
 */
export class Patience {
  /** Sites in a row that have not answered, by web server. */
  readonly #silent = new Map<string, number>();
  /** Sites that were not asked, by web server. */
  readonly #skipped = new Map<string, number>();

  /**
   * @param upstream `SiteConfig.upstream`
   * @returns null when the site need not be asked, because its web server answers for no site
   */
  getTimeoutMs(upstream: string): number | null {
    if (!this.isSilent(upstream)) {
      return (this.#silent.get(upstream) ?? 0) < SILENT_MAX ? RESPONSE_TIMEOUT_MS : SHORT_TIMEOUT_MS;
    }
    const skipped = (this.#skipped.get(upstream) ?? 0) + 1;
    this.#skipped.set(upstream, skipped);
    return skipped % SAMPLE === 0 ? SHORT_TIMEOUT_MS : null;
  }

  /** Whether a web server answers for no site, as far as is known. */
  isSilent(upstream: string): boolean {
    return (this.#silent.get(upstream) ?? 0) >= SILENT_SURE;
  }

  record(upstream: string, hasAnswered: boolean): void {
    if (hasAnswered) this.#silent.delete(upstream);
    else this.#silent.set(upstream, (this.#silent.get(upstream) ?? 0) + 1);
  }
}
