import type { IncomingMessage } from 'node:http';

export type Target =
  | { readonly ok: true; readonly target: string; readonly host: string }
  | {
      readonly ok: false;
      readonly page: 'bad-request' | 'bad-method' | 'expectation' | 'too-long';
      readonly reason: string;
    };

/** Methods that only make sense between a client and a forward proxy, or that echo the request. */
const REFUSED_METHODS = new Set(['CONNECT', 'TRACE', 'TRACK']);
/** RFC 3986 section 3.2.2, and underscores, which exist in the wild. */
const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Reads request target and host (RFC 9112 sections 3.2 and 3.3). Exactly one host; absolute-form is accepted when its
 * authority is that host; `*` and authority-form are not for a web site.
 */
export function requestTarget(request: IncomingMessage, maxBytes: number): Target {
  const url = request.url as string;
  if (url.length > maxBytes) return { ok: false, page: 'too-long', reason: 'target-too-long' };
  if (REFUSED_METHODS.has(request.method as string)) return { ok: false, page: 'bad-method', reason: 'method' };
  if (!isFramedPlainly(request)) return { ok: false, page: 'bad-request', reason: 'framing' };
  if (!isExpectationKnown(request)) return { ok: false, page: 'expectation', reason: 'expectation' };
  const host = hostOf(request);
  if (host === null) return { ok: false, page: 'bad-request', reason: 'host' };
  if (url.startsWith('/')) return { ok: true, target: url, host };
  const absolute = /^https?:\/\/([^/?#]+)(.*)$/i.exec(url);
  if (absolute === null) return { ok: false, page: 'bad-request', reason: 'target-form' };
  const [, authority, rest] = absolute as unknown as [string, string, string];
  if (authority.toLowerCase() !== host.toLowerCase()) return { ok: false, page: 'bad-request', reason: 'two-hosts' };
  return { ok: true, target: rest.startsWith('/') ? rest : `/${rest}`, host };
}

/**
 * Whether every reader finds the end of the body in the same place (RFC 9112 section 6). Node's parser refuses most of
 * what is unclear; left over are codings below `chunked`, `chunked` in HTTP/1.0, other versions of HTTP, and WebSocket
 * handshakes with a body.
 */
function isFramedPlainly(request: IncomingMessage): boolean {
  const { headers, httpVersion } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return false;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) return false;
  const hasBody = coding !== undefined || Number(headers['content-length'] ?? 0) !== 0;
  return !(hasBody && request.method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket');
}

/** Only one expectation is defined, and only HTTP/1.1 has it (RFC 9110 section 10.1.1). */
function isExpectationKnown({ headers, httpVersion }: IncomingMessage): boolean {
  const { expect } = headers;
  return expect === undefined || httpVersion === '1.0' || expect.toLowerCase() === '100-continue';
}

function hostOf(request: IncomingMessage): string | null {
  const raw = request.rawHeaders;
  let host: string | null = null;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    if (host !== null) return null;
    host = raw[i + 1] as string;
  }
  if (host === null) return request.httpVersion === '1.0' ? '' : null;
  return HOST.test(host) ? host : null;
}
