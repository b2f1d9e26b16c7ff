/** What the answer to a blocked visitor depends on. */
export interface BlockedRequest {
  /** Request line and headers, one character per byte, ending with the last line's end. */
  readonly head: string;
  /** The answer is a page. */
  readonly html: boolean;
  /** The answer has no body. */
  readonly bare: boolean;
  /** The connection ends with the answer. */
  readonly close: boolean;
  /** As the visitor named it, or ''. */
  readonly host: string;
}

/** Reads the head of a request that is refused whatever it asks. */
export function readBlockedRequest(head: string): BlockedRequest {
  return {
    head,
    html: /\r\naccept:[^\r\n]*text\/html/i.test(head),
    bare: head.startsWith('HEAD '),
    close: HAS_BODY.test(head) || CLOSES.test(head) || !head.includes(' HTTP/1.1\r\n'),
    host: /\r\nhost:[ \t]*([a-z0-9._:[\]-]+)[ \t]*\r\n/i.exec(head)?.[1] ?? '',
  };
}

// A blank behind the zero counts as a body: harmless, and no run of blanks is ever looked at twice.
const HAS_BODY = /\r\n(?:content-length:(?![ \t]*0*\r\n)|transfer-encoding:|upgrade:|expect:)/i;
const CLOSES = /\r\nconnection:[^\r\n]*close/i;

/** Bytes of a request that are kept for as long as its connection is open. */
const KEPT_BYTES = 1024;

/**
 * Reads the requests of one connection. Who hammers sends the same bytes again and again: those of the first request
 * are known when they come once more, and not read a second time.
 */
export class BlockedRequests {
  #first: { readonly bytes: Buffer; readonly request: BlockedRequest } | null = null;

  /**
   * @param bytes whole requests or the beginning of one
   * @returns the first one, and how many bytes it takes; null when its end has not come yet
   */
  read(bytes: Buffer): { readonly request: BlockedRequest; readonly length: number } | null {
    const first = this.#first;
    if (first !== null && bytes.length === first.bytes.length && bytes.equals(first.bytes)) {
      return { request: first.request, length: bytes.length };
    }
    const end = bytes.indexOf('\r\n\r\n');
    if (end === -1) return null;
    const request = readBlockedRequest(bytes.toString('latin1', 0, end + 2));
    const length = end + 4;
    if (first === null && length <= KEPT_BYTES)
      this.#first = { bytes: Buffer.from(bytes.subarray(0, length)), request };
    return { request, length };
  }
}
