import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Node's error for bytes that its parser rejected. */
export interface RefusedBytes {
  readonly code?: string | undefined;
  /** The chunk of the connection that contains the fault. */
  readonly rawPacket?: Buffer | undefined;
  /** Offset of the fault in the chunk. */
  readonly bytesParsed?: number | undefined;
}

/** A request whose target contains raw bytes, as it was received. */
export interface RawRequest {
  /** The bytes from the start of the request line to the end of the chunk. */
  readonly chunk: Buffer;
  /** Offset of the first raw byte. */
  readonly firstRaw: number;
}

/**
 * The bytes before the first raw byte: a method, one space, and the start of a target that is a path, or a URL whose
 * authority is complete (RFC 9112 section 3.2). An authority with raw bytes is not a host name. No method in the list
 * is a suffix of another method, so the rest of a line is not mistaken for a whole one. The exception is PATCH, a
 * suffix of PROPPATCH, which WordPress does not support.
 */
const START = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) (?:\/|https?:\/\/[^/?#]+[/?#])[\x21-\x7e]*$/i;
const LINE_FEED = 0x0a;
const SPACE = 0x20;
/** Smallest byte that is not ASCII. */
const FIRST_HIGH = 0x80;

/**
 * Whether a request was refused only for a byte of its target that is not ASCII, and can be read again from its start.
 *
 * @returns null for every other fault, and for a request line that began in an earlier chunk, which Node has already
 *   released
 */
export function findRawRequest({ code, rawPacket, bytesParsed }: RefusedBytes): RawRequest | null {
  if (code !== 'HPE_INVALID_URL' || rawPacket === undefined || bytesParsed === undefined) return null;
  if ((rawPacket[bytesParsed] ?? 0) < FIRST_HIGH) return null;
  // Requests before it, which may be in the same chunk, end with a line or with a body.
  const start = rawPacket.subarray(0, bytesParsed).lastIndexOf(LINE_FEED) + 1;
  if (!START.test(rawPacket.toString('latin1', start, bytesParsed))) return null;
  return { chunk: rawPacket.subarray(start), firstRaw: bytesParsed - start };
}

/**
 * A connection that begins with a request whose target has raw bytes. They are percent-encoded, which names the same
 * resource (RFC 3986 section 2.5, RFC 3987 section 3.1); all other bytes pass unchanged in both directions. Node's HTTP
 * server reads from this stream instead of the socket, because its parser fails at such a byte.
 *
 * End, errors, timeouts and back-pressure of the socket are passed on. The stream has the members of a socket that
 * Node's HTTP server and guard use, so it can replace one.
 */
export class RawTargetStream extends Duplex {
  /** The target is not complete. */
  #inTarget = true;
  #isReleased = false;

  /** @param request the first bytes of the stream; data from the socket follow them */
  constructor(
    readonly raw: Socket,
    { chunk, firstRaw }: RawRequest,
  ) {
    super({ allowHalfOpen: true });
    // Node's parser would reject every further chunk. A listener for `data` takes the socket from the parser, so it is
    // added before Node's own listeners are removed. Node's listener for `close` stays: it frees the parser.
    raw.on('data', this.#onData);
    for (const event of ['data', 'end', 'timeout', 'drain']) {
      for (const listener of raw.listeners(event)) {
        if (listener !== this.#onData) raw.off(event, listener as () => void);
      }
    }
    raw.on('end', this.#onEnd);
    raw.on('timeout', this.#onTimeout);
    raw.on('close', this.#onClose);
    this.push(chunk.subarray(0, firstRaw));
    this.#onData(chunk.subarray(firstRaw));
    // The socket has ended in the same turn of the event loop.
    if (raw.readableEnded) this.#onEnd();
  }

  get bytesRead(): number {
    return this.raw.bytesRead;
  }

  get remoteAddress(): string | undefined {
    return this.raw.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.raw.remotePort;
  }

  /** @param ms as for `Socket.setTimeout`, milliseconds; 0 for none */
  setTimeout(ms: number, onTimeout?: () => void): this {
    this.raw.setTimeout(ms);
    if (onTimeout !== undefined) this.once('timeout', onTimeout);
    return this;
  }

  setKeepAlive(isOn?: boolean, ms?: number): this {
    this.raw.setKeepAlive(isOn, ms);
    return this;
  }

  setNoDelay(isOn?: boolean): this {
    this.raw.setNoDelay(isOn);
    return this;
  }

  /** Destroys the connection once everything was written, like `Socket.destroySoon`. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  /**
   * Releases the socket, so that another stream can read from it, and closes this stream without closing the socket.
   *
   * @returns the bytes that were already read from the socket
   */
  release(): Buffer {
    this.#isReleased = true;
    const { raw } = this;
    raw.pause();
    raw.off('data', this.#onData).off('end', this.#onEnd).off('timeout', this.#onTimeout).off('close', this.#onClose);
    // Node's parser of this stream has failed.
    for (const event of ['data', 'end']) this.removeAllListeners(event);
    const chunks: Buffer[] = [];
    for (let chunk = this.read(); chunk !== null; chunk = this.read()) chunks.push(chunk as Buffer);
    this.destroy();
    return Buffer.concat(chunks);
  }

  override _read(): void {
    if (!this.#isReleased) this.raw.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (cause?: Error | null) => void): void {
    this.raw.write(chunk, callback);
  }

  override _writev(writes: { readonly chunk: Buffer }[], callback: (cause?: Error | null) => void): void {
    this.raw.write(
      writes.length === 1 ? (writes[0]?.chunk ?? '') : Buffer.concat(writes.map(({ chunk }) => chunk)),
      callback,
    );
  }

  override _final(callback: () => void): void {
    this.raw.end(() => callback());
  }

  override _destroy(cause: Error | null, callback: (cause: Error | null) => void): void {
    if (!this.#isReleased) this.raw.destroy();
    callback(cause);
  }

  readonly #onData = (chunk: Buffer): void => {
    const end = this.#inTarget ? chunk.findIndex((byte) => byte <= SPACE) : 0;
    if (end !== -1) this.#inTarget = false;
    const hasRoom = this.push(end === 0 ? chunk : encodeRawBytes(chunk, end === -1 ? chunk.length : end));
    if (!hasRoom) this.raw.pause();
  };

  readonly #onEnd = (): void => void this.push(null);
  readonly #onTimeout = (): void => void this.emit('timeout');
  readonly #onClose = (): void => void this.destroy();
}

/** @param end number of bytes of the chunk that belong to the target */
function encodeRawBytes(chunk: Buffer, end: number): Buffer {
  const target = chunk.toString('latin1', 0, end);
  const encoded = target.replace(/[\x80-\xff]/g, (raw) => `%${raw.charCodeAt(0).toString(16).toUpperCase()}`);
  return Buffer.concat([Buffer.from(encoded, 'latin1'), chunk.subarray(end)]);
}
