import type { Logger } from '../lib/logger.js';
import type { PageName } from '../pages/visitor-pages.js';
import type { SiteConfig } from '../site.js';
import type { GateObserver } from './gate-observer.js';
import type { UpstreamFailure } from './upstream/upstream-connection.js';

/** What visitors see: a generic page. */
export const FAILURE_PAGES = {
  connect: 'unreachable',
  closed: 'unreachable',
  syntax: 'unreachable',
  timeout: 'slow',
  busy: 'busy',
} as const satisfies Record<UpstreamFailure, PageName>;

/** The log says which site failed and why. */
export function noteFailure(
  { logger, observer }: { readonly logger: Logger; readonly observer: Pick<GateObserver, 'upstreamFailed'> },
  site: SiteConfig,
  kind: UpstreamFailure,
  cause: unknown,
  requestId: string,
): void {
  const why = cause instanceof Error ? cause.message : String(cause);
  observer.upstreamFailed(kind);
  logger.warn({ event: 'upstream-failed', site: site.id, kind, cause: why, requestId }, 'no answer from WordPress');
}
