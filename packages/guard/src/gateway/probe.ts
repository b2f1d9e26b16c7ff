import type { ProbeResponse } from '../hooks.js';
import { toClientKey } from '../lib/address.js';
import { toClientResponseHead, toUpstreamRequestHead } from '../upstream/message-head.js';
import type { UpstreamConnection } from '../upstream/upstream-client.js';
import type { Allowed } from './evaluate.js';
import { toForwardedClient } from './forwarded-client.js';

/** Timeout of a probe's response, milliseconds. */
const WAIT_MS = 3000;
/** Headers that have no meaning without a body. */
const BODY_HEADERS: ReadonlySet<string> = new Set(['content-length', 'content-type', 'content-encoding']);

export interface ProbeContext {
  readonly createRequestId: () => string;
  readonly clock: () => number;
}

/**
 * Sends a request without its body and with other headers, and reads the head of the response. Method, target and
 * address stay the same, because the checks of the web server may depend on them. If the probe reaches WordPress, the
 * connector ends it at once (note `probe`). Rejects when no response arrives in time.
 */
export function probeWebServer(
  context: ProbeContext,
  allowed: Allowed,
  rawHeaders: readonly string[],
): Promise<ProbeResponse> {
  const { pool } = allowed.site;
  const client = toForwardedClient(allowed, context.createRequestId(), context.clock(), null, {
    decoy: false,
    probe: true,
  });
  const head = toUpstreamRequestHead({
    method: allowed.facts.method,
    target: allowed.target,
    rawHeaders,
    visitor: client,
    body: 'none',
    stripped: BODY_HEADERS,
    upgrade: null,
  });
  return new Promise((resolve, reject) => {
    let connection: UpstreamConnection | null = null;
    let hasResponse = false;
    const end = (settle: () => void): void => {
      clearTimeout(timeout);
      pool.cancel(waiter);
      // The rest of the response is not needed. A response that has not begun still occupies WordPress.
      if (hasResponse) connection?.destroy();
      else if (connection !== null) pool.abandon(connection);
      settle();
    };
    const waiter = {
      from: toClientKey(allowed.address),
      reuse: 'fresh' as const,
      use(free: UpstreamConnection): void {
        connection = free;
        free.send(
          head,
          {
            onInformation: () => {},
            onHead(probed) {
              const { headers, signal } = toClientResponseHead(probed);
              hasResponse = true;
              end(() => resolve({ status: probed.status, headers, isSigned: signal !== undefined }));
            },
            onBody: () => {},
            onComplete: () => {
              connection = null;
            },
            onFailure: (_kind, cause) => end(() => reject(cause)),
            onDrain: () => {},
          },
          { headRequest: allowed.facts.method === 'HEAD', expectsBody: false, timeoutMs: WAIT_MS },
        );
      },
      fail: (_kind: string, cause: unknown) => end(() => reject(cause)),
    };
    const timeout = setTimeout(() => end(() => reject(new Error('no answer in time'))), WAIT_MS);
    pool.acquire(waiter);
  });
}
