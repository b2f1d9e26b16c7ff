/**
 * Parses HTTP/1.1 responses of WordPress's web server (RFC 9112). Strict: anything unknown is an error. A
 * general-purpose parser would take more time on the hot path than everything else together; see
 * docs/decisions/0002-own-upstream-client.md.
 */

export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  /** Alternating names and values, as received. */
  readonly headers: string[];
}

export interface ResponseSink {
  /** An interim response (1xx except 101). */
  onInformation(head: ResponseHead): void;
  /** @param complete true when no body follows */
  onHead(head: ResponseHead, complete: boolean): void;
  /** @param last true when this chunk ends the body */
  onBody(chunk: Buffer, last: boolean): void;
  /** The complete response has arrived. `rest` contains the bytes after a 101 head. */
  onComplete(reusable: boolean, rest: Buffer | null): void;
}

class ResponseSyntaxError extends Error {
  override readonly name = 'ResponseSyntaxError';
}

/** Longest head of a response, bytes. */
const MAX_HEAD = 256 * 1024;
/** Maximum of interim responses (1xx) before a final one. */
const MAX_INTERIM = 32;
/** Longest chunk-size line, bytes. */
const MAX_CHUNK_LINE = 1024;

type State = 'head' | 'length' | 'chunk-size' | 'chunk-data' | 'chunk-end' | 'trailers' | 'until-close' | 'done';

export class ResponseParser {
  #state: State = 'done';
  #buffer: Buffer | null = null;
  #remaining = 0;
  #keepAlive = false;
  #keepAliveSeconds: number | null = null;
  #headRequest = false;
  #interim = 0;
  #sink: ResponseSink | null = null;

  /** Prepares for the response to one request. */
  expect(sink: ResponseSink, headRequest: boolean): void {
    this.#sink = sink;
    this.#headRequest = headRequest;
    this.#state = 'head';
    this.#buffer = null;
    this.#interim = 0;
  }

  /**
   * How long the web server keeps an idle connection open, seconds, according to its latest response; null if it did
   * not say.
   */
  get keepAliveSeconds(): number | null {
    return this.#keepAliveSeconds;
  }

  /** Whether a head has arrived in part. */
  get isInsideHead(): boolean {
    return this.#state === 'head' && this.#buffer !== null;
  }

  /** @throws ResponseSyntaxError */
  execute(input: Buffer): void {
    let data = this.#buffer === null ? input : Buffer.concat([this.#buffer, input]);
    this.#buffer = null;
    while (data.length > 0) {
      const rest = this.#step(data);
      if (rest === null) return;
      if (rest === data && this.#state === 'done') throw new ResponseSyntaxError('bytes behind the end of the answer');
      data = rest;
    }
  }

  /** The connection has ended. @throws ResponseSyntaxError when the response is incomplete */
  finish(): void {
    if (this.#state === 'done') return;
    if (this.#state !== 'until-close') throw new ResponseSyntaxError('connection closed inside the answer');
    this.#sink?.onBody(EMPTY, true);
    this.#complete(false, null);
  }

  /** Parses as much as possible. Returns the remaining bytes, or null when more are needed. */
  #step(data: Buffer): Buffer | null {
    switch (this.#state) {
      case 'head':
        return this.#head(data);
      case 'length': {
        if (data.length < this.#remaining) {
          this.#remaining -= data.length;
          this.#sink?.onBody(data, false);
          return null;
        }
        const chunk = data.length === this.#remaining ? data : data.subarray(0, this.#remaining);
        const rest = data.subarray(chunk.length);
        this.#sink?.onBody(chunk, true);
        this.#complete(this.#keepAlive && rest.length === 0, null);
        return rest;
      }
      case 'until-close':
        this.#sink?.onBody(data, false);
        return null;
      case 'chunk-size':
        return this.#chunkSize(data);
      case 'chunk-data': {
        const chunk = data.length <= this.#remaining ? data : data.subarray(0, this.#remaining);
        this.#remaining -= chunk.length;
        if (this.#remaining === 0) this.#state = 'chunk-end';
        this.#sink?.onBody(chunk, false);
        return data.subarray(chunk.length);
      }
      case 'chunk-end': {
        if (data.length < 2) return this.#retain(data);
        if (data[0] !== 13 || data[1] !== 10) throw new ResponseSyntaxError('chunk without end');
        this.#state = 'chunk-size';
        return data.subarray(2);
      }
      case 'trailers':
        return this.#trailers(data);
      case 'done':
        return data;
    }
  }

  #retain(data: Buffer): null {
    this.#buffer = data;
    return null;
  }

  #head(data: Buffer): Buffer | null {
    const end = data.indexOf('\r\n\r\n');
    if (end === -1) {
      if (data.length > MAX_HEAD) throw new ResponseSyntaxError('head too long');
      // Fails early: another protocol, or garbage, may not contain the end of a head for minutes.
      const seen = data.toString('latin1', 0, START.length);
      if (!START.startsWith(seen)) throw new ResponseSyntaxError('not an answer of HTTP/1');
      return this.#retain(data);
    }
    const head = parseHead(data.toString('latin1', 0, end));
    const rest = data.subarray(end + 4);
    if (head.status < 200 && head.status !== 101) {
      this.#interim += 1;
      if (this.#interim > MAX_INTERIM) throw new ResponseSyntaxError('too many interim answers');
      this.#sink?.onInformation(head);
      return rest;
    }
    const framing = readFraming(head, this.#headRequest);
    this.#keepAlive = framing.keepAlive;
    this.#keepAliveSeconds = framing.keepAliveSeconds;
    if (head.status === 101 || framing.length === 0) {
      this.#sink?.onHead(head, true);
      if (head.status === 101) {
        this.#complete(false, rest);
        return null;
      }
      this.#complete(framing.keepAlive && rest.length === 0, null);
      return rest;
    }
    this.#sink?.onHead(head, false);
    this.#remaining = framing.length;
    this.#state = framing.kind;
    return rest;
  }

  #chunkSize(data: Buffer): Buffer | null {
    const end = data.indexOf('\r\n');
    if (end === -1) {
      if (data.length > MAX_CHUNK_LINE) throw new ResponseSyntaxError('chunk line too long');
      return this.#retain(data);
    }
    const line = data.toString('latin1', 0, end);
    const size = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i.exec(line)?.[1];
    if (size === undefined) throw new ResponseSyntaxError('bad chunk size');
    this.#remaining = Number.parseInt(size, 16);
    this.#state = this.#remaining === 0 ? 'trailers' : 'chunk-data';
    return data.subarray(end + 2);
  }

  /** Skips trailers. WordPress sends none, and no rule uses them. */
  #trailers(data: Buffer): Buffer | null {
    const end = data.indexOf('\r\n');
    if (end === -1) {
      if (data.length > MAX_HEAD) throw new ResponseSyntaxError('trailers too long');
      return this.#retain(data);
    }
    const rest = data.subarray(end + 2);
    if (end > 0) return rest;
    this.#sink?.onBody(EMPTY, true);
    this.#complete(this.#keepAlive && rest.length === 0, null);
    return rest;
  }

  #complete(reusable: boolean, rest: Buffer | null): void {
    const sink = this.#sink;
    this.#state = 'done';
    this.#sink = null;
    sink?.onComplete(reusable, rest);
  }
}

const EMPTY = Buffer.alloc(0);
/** The start of every response. */
const START = 'HTTP/1.';
const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: (.*))?$/;
/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** A bare CR or LF, or a NUL: another parser could see more headers. */
const LONE_LINE_END = /\0|\r(?!\n)|(?<!\r)\n/;

function parseHead(text: string): ResponseHead & { readonly minor: string } {
  if (LONE_LINE_END.test(text)) throw new ResponseSyntaxError('bad line end in the head');
  const lines = text.split('\r\n');
  const status = STATUS_LINE.exec(lines[0] as string);
  if (status === null) throw new ResponseSyntaxError('bad status line');
  const headers: string[] = [];
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i] as string;
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    if (colon < 1 || !TOKEN.test(name)) throw new ResponseSyntaxError('bad header line');
    headers.push(name, withoutBlanks(line, colon + 1));
  }
  return { status: Number(status[2]), reason: status[3] ?? '', headers, minor: status[1] as string };
}

/** Strips only spaces and tabs (RFC 9110 section 5.5). `trim` would remove the last byte of a UTF-8 `à`. */
function withoutBlanks(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && (line[start] === ' ' || line[start] === '\t')) start++;
  while (end > start && (line[end - 1] === ' ' || line[end - 1] === '\t')) end--;
  return line.slice(start, end);
}

interface Framing {
  readonly kind: 'length' | 'chunk-size' | 'until-close';
  /** Length of the body in bytes; 0 without a body; -1 when the body extends to an end that is not known in advance. */
  readonly length: number;
  readonly keepAlive: boolean;
  /** From `Keep-Alive: timeout`; null without one. */
  readonly keepAliveSeconds: number | null;
}

/**
 * Determines the body's framing (RFC 9112 section 6.3). Removes `Content-Length` headers that must not be forwarded: a
 * repeated one, and any together with `chunked`.
 */
function readFraming(head: ResponseHead & { readonly minor: string }, headRequest: boolean): Framing {
  let length = -1;
  let chunked = false;
  let keepAlive = head.minor === '1';
  let keepAliveSeconds: number | null = null;
  let lengths = 0;
  for (let i = 0; i < head.headers.length; i += 2) {
    const name = head.headers[i] as string;
    if (name.length !== 14 && name.length !== 17 && name.length !== 10) continue;
    const lower = name.toLowerCase();
    const value = head.headers[i + 1] as string;
    if (lower === 'content-length') {
      const size = /^\d{1,15}$/.test(value) ? Number(value) : -1;
      if (size === -1 || (length !== -1 && length !== size)) throw new ResponseSyntaxError('bad content-length');
      length = size;
      lengths++;
    } else if (lower === 'transfer-encoding') {
      if (value.toLowerCase() !== 'chunked' || chunked) throw new ResponseSyntaxError('unknown transfer-encoding');
      chunked = true;
    } else if (lower === 'connection') {
      const tokens = value.toLowerCase();
      if (tokens.includes('close')) keepAlive = false;
      else if (head.minor === '0' && tokens.includes('keep-alive')) keepAlive = true;
    } else if (lower === 'keep-alive') {
      const seconds = readKeepAliveSeconds(value);
      if (seconds !== null) keepAliveSeconds = Math.min(seconds, keepAliveSeconds ?? seconds);
    }
  }
  if (lengths > 1 || (lengths === 1 && chunked)) dropLengths(head.headers, chunked ? 0 : 1);
  if (headRequest || head.status === 204 || head.status === 304)
    return { kind: 'length', length: 0, keepAlive, keepAliveSeconds };
  // Both headers together may be response smuggling: the length is ignored, and the connection is not reused.
  if (chunked) return { kind: 'chunk-size', length: -1, keepAlive: keepAlive && length === -1, keepAliveSeconds };
  if (length !== -1) return { kind: 'length', length, keepAlive, keepAliveSeconds };
  return { kind: 'until-close', length: -1, keepAlive: false, keepAliveSeconds };
}

/**
 * How long an idle connection is kept, from `Keep-Alive: timeout=5, max=100` (RFC 2068 section 19.7.1.1). `max=0`
 * allows no further request.
 *
 * @returns seconds, or null when the header has no readable value
 */
function readKeepAliveSeconds(value: string): number | null {
  if (/(?:^|[,;\s])max\s*=\s*"?0+(?!\d)/i.test(value)) return 0;
  const seconds = /(?:^|[,;\s])timeout\s*=\s*"?(\d{1,9})/i.exec(value)?.[1];
  return seconds === undefined ? null : Number(seconds);
}

function dropLengths(headers: string[], keep: number): void {
  let seen = 0;
  for (let i = 0; i < headers.length; i += 2) {
    if ((headers[i] as string).toLowerCase() !== 'content-length' || ++seen <= keep) continue;
    headers.splice(i, 2);
    i -= 2;
  }
}
