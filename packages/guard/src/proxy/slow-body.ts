import type { IncomingMessage } from 'node:http';

/** How often the speed of a body is looked at, milliseconds. */
const LOOK_MS = 5000;
/** Time that any body has, milliseconds, and bytes of it that must come in each further second. */
const GRACE_MS = 60_000;
const BYTES_A_SECOND = 4096;

/**
 * Ends a connection whose body comes more slowly than the connector waits for one (docs/connector-protocol.md):
 * WordPress would refuse it in the end. Time in which WordPress takes nothing does not count.
 *
 * @param graceMs time that any body has; at most a minute
 * @returns stops looking
 */
export function cutSlowBody(request: Pick<IncomingMessage, 'isPaused' | 'socket'>, graceMs = GRACE_MS): () => void {
  const before = request.socket.bytesRead;
  let taken = 0;
  const timer = setInterval(() => {
    if (request.isPaused()) return;
    taken += LOOK_MS;
    const bytes = request.socket.bytesRead - before;
    if (taken > Math.min(GRACE_MS, graceMs) + (bytes / BYTES_A_SECOND) * 1000) request.socket.destroy();
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
