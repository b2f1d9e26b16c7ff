import type { IncomingMessage } from 'node:http';

/**
 * Whether a request asks for another protocol than the WebSocket and has a body. `Upgrade` is a wish that a server may
 * leave unheard (RFC 9110 section 7.8); programs that would rather speak HTTP/2 voice it with everything they post
 * (`h2c`). Node stops reading at the wish, so the body must be read without it.
 */
export function isPlainWish({ method, headers }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) return false;
  return !(method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket');
}

/** Headers that voice the wish (RFC 9110 section 7.8, RFC 7540 section 3.2.1). */
const OF_THE_WISH: ReadonlySet<string> = new Set(['upgrade', 'http2-settings']);

/**
 * The head of a request as it came, without its wish for another protocol. Ends with the empty line; one character
 * for each byte.
 */
export function headWithoutWish({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const value = rawHeaders[i + 1] as string;
    const lower = name.toLowerCase();
    if (OF_THE_WISH.has(lower)) continue;
    head += `${name}: ${lower === 'connection' ? otherOptions(value) : value}\r\n`;
  }
  return `${head}\r\n`;
}

function otherOptions(connection: string): string {
  const options = connection.split(',').map((option) => option.trim());
  return options.filter((option) => !OF_THE_WISH.has(option.toLowerCase())).join(', ');
}
