import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { flushWrites } from '../upstream/batched-writes.js';
import type { Peer } from './peer.js';
import { type RawRequest, RawTargetStream } from './raw-target.js';

/** Maximum of pipelined requests that wait on one connection (RFC 9112 section 9.3.2), and of bytes in their heads. */
const MAX_PIPELINED = 100;
const MAX_PIPELINED_BYTES = 64 * 1024;
/**
 * Maximum of bytes that a client may send after the last request that gets a response. They are read and ignored, since
 * closing a connection with unread bytes resets it, and the client would lose the response.
 */
const MAX_IGNORED_BYTES = 1024 * 1024;
/** How long a client may take to read the last bytes after guard has ended the connection, milliseconds. */
const LINGER_MS = 2000;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Starts handling. Resources of the request are acquired only from then on. */
  readonly start: () => void;
  /** Bytes of its head; 0 unless it is queued. */
  readonly bytes: number;
}

/**
 * One connection of a client, from accept to close. It handles one request at a time. The resources of a request (an
 * upstream connection, a permit, a timer) are released when its response closes; when the socket closes, Node closes
 * only the response of the request under way.
 */
export class ClientConnection {
  #current: Exchange | null = null;
  #waiting: Exchange[] = [];
  #waitingBytes = 0;
  #ignoredBytes = 0;
  /** No later request on this connection gets a response (RFC 9112 section 9.6). */
  #isLast = false;
  #isEnding = false;
  #isTunnel = false;
  /** The next response is the last one of the connection. */
  #endIsAnnounced = false;
  #bodyTimeout: NodeJS.Timeout | undefined;
  #socket: Socket;

  constructor(
    socket: Socket,
    /** The other end. Its trust may change while the connection is open. */
    public peer: Peer,
    private readonly idleMs: number,
    /** Called when the connection becomes busy and when it becomes idle. */
    private readonly onBusy: (connection: ClientConnection, busy: boolean) => void,
    /** Whether another process of guard sends the requests, each of a client of its own. */
    readonly isRelay = false,
  ) {
    this.#socket = this.#endGently(socket);
    // Node removes its own listener from upgraded sockets, and an error without a listener would end the process.
    socket.on('error', () => socket.destroy());
  }

  /**
   * Node calls `destroySoon` after the last response. It closes the connection at once, which resets it while the
   * client is still sending, and a reset discards a response that the client has not read yet.
   */
  #endGently(socket: Socket): Socket {
    socket.destroySoon = () => this.end();
    return socket;
  }

  /** The stream that Node's HTTP server reads from: the accepted socket, or its replacement (`readAgain`). */
  get socket(): Socket {
    return this.#socket;
  }

  /**
   * Reads a request with raw bytes in its target again, percent-encoded. No request may be under way.
   *
   * @returns the stream that Node's HTTP server must read from now on, instead of `socket`
   */
  readAgain({ chunk, firstRaw }: RawRequest): Socket {
    const before: Socket | RawTargetStream = this.#socket;
    // One stream above the socket, however many such requests a connection sends.
    const isStream = before instanceof RawTargetStream;
    const all = isStream ? Buffer.concat([chunk, before.release()]) : chunk;
    const stream = new RawTargetStream(isStream ? before.raw : before, { chunk: all, firstRaw });
    stream.on('error', () => stream.destroy());
    // Node's documentation allows any Duplex. This one also has the members of a socket that guard uses.
    this.#socket = this.#endGently(stream as unknown as Socket);
    // The body for which the timeout was set has arrived.
    clearTimeout(this.#bodyTimeout);
    return this.#socket;
  }

  /** Whether a request is under way or the connection is a tunnel. */
  get isBusy(): boolean {
    return this.#current !== null || this.#isTunnel;
  }

  /** Whether the last bytes were written. The client may still read them, and send input that is ignored. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /**
   * Whether further requests get no response: too many are queued, or an earlier one is the last. The client sees the
   * connection end and may retry (RFC 9112 section 9.3.2).
   */
  get isFull(): boolean {
    if (this.#isLast || this.#isEnding) return true;
    return this.#waiting.length >= MAX_PIPELINED || this.#waitingBytes >= MAX_PIPELINED_BYTES;
  }

  /** Starts a request, or queues it until earlier ones have their responses. Drops it when the connection is full. */
  receive(request: IncomingMessage, response: ServerResponse, start: () => void): void {
    if (this.isFull) return;
    if (this.#current === null) {
      this.#begin({ request, response, start, bytes: 0 });
      return;
    }
    const bytes = headBytes(request);
    this.#waiting.push({ request, response, start, bytes });
    this.#waitingBytes += bytes;
  }

  /**
   * Reads no further requests. Input is ignored, but still read so that an end or a reset is noticed; too much input
   * ends the connection. Node's parser must have released the socket, as it does for an upgrade: this method replaces
   * its listeners.
   *
   * @param early bytes that were read already
   */
  ignoreInput(early: Buffer): void {
    const { socket } = this;
    if (socket.destroyed) return;
    this.becomeLast();
    socket.on('data', (chunk: Buffer) => this.ignore(chunk.length));
    socket.on('end', () => socket.end());
    socket.on('timeout', () => this.onTimeout());
    socket.on('drain', () => {
      const current = this.#current?.response;
      if (current?.writableNeedDrain === true) current.emit('drain');
    });
    this.ignore(early.length);
    // While the last bytes are being written, `end` keeps the socket paused and resumes it afterwards.
    if (this.#isEnding && !socket.writableFinished) socket.pause();
    else socket.resume();
  }

  /**
   * Only the requests that were already read get responses. The last response announces the end of the connection if it
   * still can.
   */
  becomeLast(): void {
    this.#isLast = true;
    const response = this.#current?.response;
    if (response !== undefined && !response.headersSent && this.#waiting.length === 0) response.shouldKeepAlive = false;
  }

  /** Counts bytes that belong to no request. */
  ignore(bytes: number): void {
    this.#ignoredBytes += bytes;
    if (this.#ignoredBytes > MAX_IGNORED_BYTES) this.abort();
  }

  /**
   * Whether guard has stopped reading, because a body has filled its buffer. Then the end or a reset of the connection
   * is noticed only by a write.
   */
  get isBlind(): boolean {
    const last = this.#waiting.at(-1) ?? this.#current;
    return last != null && isBlocked(last.request);
  }

  /** Writes an empty string. After a reset this fails, and the error ends the connection. */
  probe(): void {
    if (this.socket.writable && this.socket.writableLength === 0) this.socket.write('');
  }

  /** Hands the socket over to another protocol. From then on only its end is observed. */
  becomeTunnel(): void {
    this.#isTunnel = true;
    this.#isLast = true;
    this.onBusy(this, true);
    this.socket.setTimeout(0);
  }

  /**
   * Sends the last bytes and ends the connection once the client has read them and had time to end its side, or when it
   * reads nothing for the idle timeout (RFC 9112 section 9.6).
   */
  end(lastBytes: string | Buffer = ''): void {
    if (this.#isEnding || this.socket.destroyed) return;
    this.#isEnding = true;
    const { socket } = this;
    // While the client has bytes to read, only reading counts as progress.
    socket.pause();
    socket.once('timeout', () => socket.destroy());
    socket.setTimeout(this.idleMs);
    socket.end(lastBytes, () => {
      if (socket.destroyed) return;
      // Discards further input: closing a socket with unread bytes would reset it and lose the response.
      socket.resume();
      const timeout = setTimeout(() => socket.destroy(), LINGER_MS);
      socket.once('close', () => clearTimeout(timeout));
    });
  }

  /** Ends the connection at once. Scheduled writes are flushed first. */
  abort(): void {
    flushWrites();
    this.socket.destroy();
  }

  /**
   * Announces the end of the connection to the client with its next response. An idle connection stays open, since a
   * request may be on its way.
   */
  announceEnd(): void {
    this.#endIsAnnounced = true;
    const response = this.#current?.response;
    if (response === undefined || response.headersSent || this.#waiting.length > 0) return;
    response.shouldKeepAlive = false;
    this.#isLast = true;
  }

  /** Ends the connection once the request under way has its response. */
  drain(): void {
    if (this.#isEnding) return;
    this.#dropWaiting();
    if (this.#current === null) {
      this.socket.destroy();
      return;
    }
    this.announceEnd();
    this.#isLast = true;
  }

  /** Handles a timeout of the socket. */
  onTimeout(): void {
    if (this.#current === null || this.#isClientSilent(this.#current)) this.socket.destroy();
    else this.socket.setTimeout(this.idleMs);
  }

  onClose(): void {
    this.#dropWaiting();
    clearTimeout(this.#bodyTimeout);
  }

  /**
   * Whether the client causes the inactivity: it does not read what was sent, or does not send its body although there
   * is room. WordPress has a separate timeout.
   */
  #isClientSilent({ request }: Exchange): boolean {
    if (this.socket.writableLength > 0) return true;
    return !request.complete && !isBlocked(request);
  }

  #dropWaiting(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  #begin(exchange: Exchange): void {
    const { request, response, start } = exchange;
    this.#current = exchange;
    this.onBusy(this, true);
    this.socket.setTimeout(this.idleMs);
    response.on('error', () => this.socket.destroy());
    response.once('close', () => this.#finish(exchange));
    // The server ignores unwanted upgrades, but Node's parser stops reading after one.
    const isLast = (this.#isLast || this.#endIsAnnounced) && this.#waiting.length === 0;
    const ends = request.headers.upgrade !== undefined || isLast;
    if (ends) response.shouldKeepAlive = false;
    start();
    if (!response.shouldKeepAlive) {
      this.#isLast = true;
      this.#dropWaiting();
    }
  }

  #finish({ request }: Exchange): void {
    this.#current = null;
    const { socket } = this;
    if (socket.destroyed) return;
    // Node has ended the connection after this response.
    if (this.#isEnding) this.#dropWaiting();
    const next = this.#waiting.shift();
    if (next !== undefined) {
      this.#waitingBytes -= next.bytes;
      this.#begin(next);
      return;
    }
    this.onBusy(this, false);
    if (!request.complete) this.#discardBody(request);
    else if (this.#isLast) this.end();
  }

  /** Discards the rest of a body after an early response. It must arrive within a limited time. */
  #discardBody(request: IncomingMessage): void {
    this.#bodyTimeout = setTimeout(() => this.socket.destroy(), this.idleMs);
    request.once('end', () => {
      clearTimeout(this.#bodyTimeout);
      if (this.#isLast) this.end();
    });
    request.resume();
  }
}

/** Bytes that guard holds for the head of a request. */
function headBytes({ url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, url.length);
}

/** Whether the body of a request has filled its buffer, so that Node has stopped reading from the connection. */
function isBlocked(request: IncomingMessage): boolean {
  if (request.complete) return false;
  return request.readableFlowing === false || request.readableLength >= request.readableHighWaterMark;
}
