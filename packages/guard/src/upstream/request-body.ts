import type { IncomingMessage } from 'node:http';
import type { UploadLimiter, UploadWaiter } from './upload-limiter.js';
import type { UpstreamConnection } from './upstream-client.js';

/**
 * Streams the client's body to WordPress's web server. Pauses the request while the server reads nothing; the caller
 * resumes it on drain. Sends nothing on a destroyed connection.
 *
 * @param then called when the whole body was sent, or when it is too short: then the connection can't be reused
 */
export function sendBody(
  request: IncomingMessage,
  connection: UpstreamConnection,
  framing: 'length' | 'chunked',
  then: { onSent(): void; onTooShort(cause: Error): void },
): void {
  const length = framing === 'length' ? Number(request.headers['content-length']) : -1;
  let sent = 0;
  request.on('data', (chunk: Buffer) => {
    if (connection.destroyed) return;
    sent += chunk.length;
    const more = framing === 'length' ? connection.sendBody(chunk) : sendChunk(connection, chunk);
    if (!more) request.pause();
  });
  request.on('end', () => {
    if (connection.destroyed) return;
    // There were fewer bytes than announced: the web server would read the next request as a part of this body.
    if (length !== -1 && sent !== length) {
      then.onTooShort(new Error('the body is shorter than announced'));
      return;
    }
    if (framing === 'chunked') connection.sendBody(LAST_CHUNK);
    then.onSent();
    connection.endBody();
  });
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const LINE_END = Buffer.from('\r\n');

function sendChunk(connection: UpstreamConnection, chunk: Buffer): boolean {
  connection.socket.cork();
  connection.sendBody(Buffer.from(`${chunk.length.toString(16)}\r\n`, 'latin1'));
  connection.sendBody(chunk);
  const more = connection.sendBody(LINE_END);
  connection.socket.uncork();
  return more;
}

/** Longest interval between two checks whether a body has arrived, milliseconds; the first interval is 1. */
const MAX_POLL_MS = 20;

/**
 * Waits until a request has been received completely, or until the buffer is full and no more arrives before it is
 * read. A body that arrives slowly must not hold resources that other requests wait for. Reads nothing.
 *
 * @param then called with whether the request is complete
 * @param maxMs longest wait, milliseconds
 * @returns a function that stops waiting
 */
export function whenReceived(
  request: IncomingMessage,
  then: (isComplete: boolean) => void,
  maxMs = Infinity,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let waited = 0;
  let pause = 0.5;
  const check = (): void => {
    // A client that waits for `100 Continue` sends no body before that.
    const isBlocked = request.readableLength >= request.readableHighWaterMark || request.headers.expect !== undefined;
    if (request.complete) then(true);
    else if (isBlocked || waited >= maxMs) then(false);
    else {
      pause = Math.min(MAX_POLL_MS, pause * 2);
      waited += pause;
      timer = setTimeout(check, pause);
    }
  };
  // Node parses a body that arrived together with the head after the current call.
  const first = setImmediate(check);
  return () => {
    clearImmediate(first);
    clearTimeout(timer);
  };
}

/** Interval between two checks of a body's transfer rate, milliseconds. */
const SPEED_CHECK_MS = 5000;
/** Time that any body may take, milliseconds, and bytes that must arrive in each additional second. */
const GRACE_MS = 60_000;
const BYTES_A_SECOND = 4096;

/**
 * Closes a connection whose body arrives more slowly than the connector accepts (docs/developer/connector-protocol.md),
 * since WordPress would refuse the request in the end. Time in which WordPress reads nothing does not count.
 *
 * @param graceMs time that any body may take, milliseconds; at most a minute
 * @returns a function that stops the checks
 */
export function endSlowUpload(request: Pick<IncomingMessage, 'isPaused' | 'socket'>, graceMs = GRACE_MS): () => void {
  const before = request.socket.bytesRead;
  let elapsed = 0;
  const timer = setInterval(() => {
    if (request.isPaused()) return;
    elapsed += SPEED_CHECK_MS;
    const bytes = request.socket.bytesRead - before;
    if (elapsed > Math.min(GRACE_MS, graceMs) + (bytes / BYTES_A_SECOND) * 1000) request.socket.destroy();
  }, SPEED_CHECK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** A body that takes longer than this to arrive counts as a slow upload, milliseconds. */
const BODY_MS = 1000;

/**
 * Waits until a request with a body may acquire a connection to WordPress: at once when the body has arrived, else when
 * the upload limiter grants a permit. Reads nothing.
 *
 * @param from key of the client's address
 * @param idleMs longest time without data from a client
 * @returns a function that stops waiting and releases the permit; call it when the body is sent or the request is over
 */
export function awaitUpload(
  request: IncomingMessage,
  limiter: UploadLimiter,
  from: string,
  idleMs: number,
  then: { ready(): void; refused(): void },
): () => void {
  let isUpload = false;
  const upload: UploadWaiter = {
    from,
    granted() {
      stop = endSlowUpload(request, idleMs);
      then.ready();
    },
    refused: then.refused,
    received: () => (request.readableFlowing === true ? request.socket.bytesRead : null),
  };
  let stop = whenReceived(
    request,
    (isComplete) => {
      isUpload = !isComplete;
      if (isComplete) then.ready();
      else limiter.acquire(upload);
    },
    BODY_MS,
  );
  return () => {
    stop();
    if (isUpload) limiter.release(upload);
  };
}
