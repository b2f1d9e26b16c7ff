import type { IncomingMessage } from 'node:http';
import type { UpstreamConnection } from './upstream/upstream-connection.js';

/** How a request's body is framed: by `Content-Length`, or in chunks of unknown number; `none` without one. */
export type BodyFraming = 'none' | 'length' | 'chunked';

/** Node's parser has already refused a request that has both, or either one twice (RFC 9112 section 6.3). */
export function framingOf(request: IncomingMessage): BodyFraming {
  if (request.headers['transfer-encoding'] !== undefined) return 'chunked';
  const length = request.headers['content-length'];
  return length === undefined || length === '0' ? 'none' : 'length';
}

/**
 * Passes the visitor's body on as it comes, and takes no more of it while WordPress's web server takes none; whoever
 * hears of its drain resumes the request. Sends nothing on a connection that is destroyed.
 *
 * @param then told when the whole body is sent, or that it can't be: the connection is of no use then
 */
export function sendBody(
  request: IncomingMessage,
  connection: UpstreamConnection,
  framing: 'length' | 'chunked',
  then: { onSent(): void; onTooShort(cause: Error): void },
): void {
  const length = framing === 'length' ? Number(request.headers['content-length']) : -1;
  let sent = 0;
  request.on('data', (piece: Buffer) => {
    if (connection.destroyed) return;
    sent += piece.length;
    const more = framing === 'length' ? connection.sendBody(piece) : sendChunk(connection, piece);
    if (!more) request.pause();
  });
  request.on('end', () => {
    if (connection.destroyed) return;
    // Fewer bytes than announced: WordPress's web server would take the next request for the rest of this one.
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

function sendChunk(connection: UpstreamConnection, piece: Buffer): boolean {
  connection.socket.cork();
  connection.sendBody(Buffer.from(`${piece.length.toString(16)}\r\n`, 'latin1'));
  connection.sendBody(piece);
  const more = connection.sendBody(LINE_END);
  connection.socket.uncork();
  return more;
}
