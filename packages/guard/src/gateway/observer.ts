import type { Logger } from '../lib/logger.js';
import type { PageName } from '../pages/visitor-pages.js';
import type { SiteConfig } from '../site.js';
import type { UpstreamFailure } from '../upstream/upstream-client.js';

/** Counts events of the gateway. Called while a client waits, so its methods must be fast and must not throw. */
export interface GatewayObserver {
  /** A request has arrived, whatever its outcome. */
  requested(): void;
  /** A rule has refused a request. @param rule its name as in the log; never data from a client */
  refused(rule: string): void;
  /** The head of WordPress's response was sent. @param ms time since the head of the request, milliseconds */
  forwarded(status: number, ms: number): void;
  /** WordPress gave no complete response. */
  upstreamFailed(kind: UpstreamFailure): void;
  /** A password was wrong, or refused unchecked. */
  loginFailed(): void;
}

const nothing = (): void => undefined;

export const noopObserver: GatewayObserver = {
  requested: nothing,
  refused: nothing,
  forwarded: nothing,
  upstreamFailed: nothing,
  loginFailed: nothing,
};

/** Counts refusals by rule and logs the counts once a minute. A log line for each refusal would amplify an attack. */
export class RefusalCounter {
  readonly #counts = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly logger: Logger,
    private readonly observer: Pick<GatewayObserver, 'refused'>,
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

/** Generic pages for clients; the log has the cause. */
export const FAILURE_PAGES = {
  connect: 'unreachable',
  closed: 'unreachable',
  syntax: 'unreachable',
  timeout: 'slow',
  busy: 'busy',
} as const satisfies Record<UpstreamFailure, PageName>;

/** Receivers of a report about a failed request. */
export interface FailureListeners {
  readonly logger: Logger;
  readonly observer: Pick<GatewayObserver, 'upstreamFailed'>;
  /** WordPress sent no complete response. Must not throw. */
  onNoUpstreamResponse(site: SiteConfig): void;
}

/** Reports and logs that a request to WordPress failed, with the site and the cause. */
export function reportUpstreamFailure(
  { logger, observer, onNoUpstreamResponse }: FailureListeners,
  site: SiteConfig,
  kind: UpstreamFailure,
  cause: unknown,
  requestId: string,
): void {
  const why = cause instanceof Error ? cause.message : String(cause);
  observer.upstreamFailed(kind);
  onNoUpstreamResponse(site);
  logger.warn({ event: 'upstream-failed', site: site.id, kind, cause: why, requestId }, 'no answer from WordPress');
}
