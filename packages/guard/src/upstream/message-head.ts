import type { IncomingMessage } from 'node:http';
import { forwardedHeaders, isAddressHeader } from '../http/headers.js';
import { LOGIN_HEADER } from '../wordpress/login-headers.js';
import { HEADER_PREFIX, SIGNAL_HEADER } from '../wordpress/signature.js';
import type { ResponseHead } from './response-parser.js';

/** How a request's body is framed: by `Content-Length` or chunked; `none` without a body. */
export type BodyFraming = 'none' | 'length' | 'chunked';

/** Node's parser has already refused a request with both headers, or with one of them twice (RFC 9112 section 6.3). */
export function readBodyFraming(request: IncomingMessage): BodyFraming {
  if (request.headers['transfer-encoding'] !== undefined) return 'chunked';
  const length = request.headers['content-length'];
  return length === undefined || length === '0' ? 'none' : 'length';
}

/** Headers that claim a scheme, a host or another target. Guard writes its own headers for these. */
const FORWARDING_CLAIMS = [
  'x-original-url',
  'x-original-host',
  'x-rewrite-url',
  'x-host',
  'front-end-https',
  'cf-visitor',
  'x-scheme',
  'x-url-scheme',
] as const;

/**
 * Request headers that are not forwarded, besides address headers: connection-specific ones (RFC 9110 section 7.6.1),
 * those that claim another target, and `Proxy`, which PHP would expose as an environment variable (CVE-2016-5385).
 */
const STRIPPED_REQUEST_HEADERS: ReadonlySet<string> = new Set([
  ...FORWARDING_CLAIMS,
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'http2-settings',
  'via',
  'proxy',
]);

/** The client as described to WordPress. */
export interface ForwardedClient {
  readonly address: string;
  readonly scheme: 'http' | 'https';
  readonly host: string;
  /** Signed header for the connector, name and value. */
  readonly signed: readonly [string, string];
  /** Lower-case names of address headers that are forwarded because a trusted proxy sent them; null for none. */
  readonly trustedHeaders: ReadonlySet<string> | null;
  /** Signed header with the login context of this request, or null. */
  readonly context: readonly [string, string] | null;
}

export interface RequestHeadInput {
  readonly method: string;
  /** In origin-form, exactly as the client sent it. */
  readonly target: string;
  readonly rawHeaders: readonly string[];
  readonly visitor: ForwardedClient;
  /** How the body is framed on the way to WordPress. */
  readonly body: BodyFraming;
  /** Lower-case names of additional headers to omit, or null. */
  readonly stripped: ReadonlySet<string> | null;
  /** Name of the protocol to switch to, or null. */
  readonly upgrade: string | null;
}

/**
 * Returns the request line and headers for WordPress's web server, ending with the empty line. Names keep their
 * spelling and order. Headers whose names contain anything but letters, digits and hyphens are omitted, because PHP
 * can't distinguish `X_Forwarded_For` or `X.Forwarded.For` from `X-Forwarded-For`.
 */
export function toUpstreamRequestHead(input: RequestHeadInput): string {
  const { method, target, rawHeaders, visitor, body, stripped, upgrade } = input;
  const nominated = connectionOptions(rawHeaders);
  let head = `${method} ${target} HTTP/1.1\r\n`;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const lower = name.toLowerCase();
    if (isStrippedFromRequests(lower, nominated, visitor.trustedHeaders) || stripped?.has(lower)) continue;
    head += `${name}: ${rawHeaders[i + 1]}\r\n`;
  }
  if (body === 'chunked') head += 'Transfer-Encoding: chunked\r\n';
  const forwarded = forwardedHeaders(visitor);
  for (let i = 0; i < forwarded.length; i += 2) head += `${forwarded[i]}: ${forwarded[i + 1]}\r\n`;
  head += `${visitor.signed[0]}: ${visitor.signed[1]}\r\n`;
  if (visitor.context !== null) head += `${visitor.context[0]}: ${visitor.context[1]}\r\n`;
  head += upgrade === null ? 'Connection: keep-alive\r\n\r\n' : `Connection: Upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`;
  return head;
}

const UNUSUAL_NAME = /[^a-z0-9-]/;
const X = 'x'.charCodeAt(0);

function isStrippedFromRequests(
  name: string,
  nominated: ReadonlySet<string> | null,
  trusted: ReadonlySet<string> | null,
): boolean {
  if (STRIPPED_REQUEST_HEADERS.has(name) || UNUSUAL_NAME.test(name)) return true;
  if (name.charCodeAt(0) === X && name.startsWith(HEADER_PREFIX)) return true;
  if (nominated?.has(name) === true) return true;
  return isAddressHeader(name) && trusted?.has(name) !== true;
}

/** Headers that `Connection` names, except those that every message needs; null for none. */
function connectionOptions(rawHeaders: readonly string[]): ReadonlySet<string> | null {
  let options: Set<string> | null = null;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue;
    for (const option of (rawHeaders[i + 1] as string).toLowerCase().split(',')) {
      const token = option.trim();
      if (token === '' || token === 'keep-alive' || token === 'close' || NEVER_OPTIONS.has(token)) continue;
      options ??= new Set();
      options.add(token);
    }
  }
  return options;
}

const NEVER_OPTIONS = new Set([
  'host',
  'content-length',
  'content-type',
  'cookie',
  'set-cookie',
  'location',
  'authorization',
  'x-wp-nonce',
]);

const SIGNAL = SIGNAL_HEADER.toLowerCase();
const LOGIN = LOGIN_HEADER.toLowerCase();
/**
 * Response headers that are not forwarded, besides address headers:
 * - connection-specific ones, since guard's server writes its own;
 * - request headers that some servers echo (PHP's built-in server does so with `Host`), which would reveal guard's
 *   request;
 * - those that identify the machine of the upstream web server;
 * - those that make a web server send a file of its own, which the upstream web server has already done: a web server
 *   in front of guard would look for the file on another machine, or show its name to visitors if it does not support
 *   the header.
 * Headers about software or caches (`Server`, `Via`, `X-Cache`) are up to the site.
 */
const STRIPPED_RESPONSE_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'host',
  ...FORWARDING_CLAIMS,
  'server-addr',
  'x-server-addr',
  'x-upstream',
  'x-upstream-addr',
  'x-upstream-address',
  'x-upstream-host',
  'x-upstream-server',
  'x-backend',
  'x-backend-addr',
  'x-backend-host',
  'x-backend-server',
  'x-accel-redirect',
  'x-sendfile',
  'x-sendfile2',
  'x-lighttpd-send-file',
  'x-litespeed-location',
  'x-reproxy-url',
  'x-reproxy-file',
]);

export interface ClientResponseHead {
  readonly headers: string[];
  /** Value of the connector's signal, removed from the headers, or undefined. */
  readonly signal: string | undefined;
  /** Value of the connector's login report, removed from the headers, or undefined. */
  readonly login: string | undefined;
}

/**
 * Returns the headers that are forwarded to the client: without connection-specific ones, those that `Connection` names
 * (RFC 9110 section 7.6.1), those that echo the request or identify the upstream server, and all headers of guard and
 * connector. A signal or login report that occurs twice is a forgery and becomes unreadable.
 */
export function toClientResponseHead(head: ResponseHead): ClientResponseHead {
  const headers: string[] = [];
  const nominated = connectionOptions(head.headers);
  let signal: string | undefined;
  let login: string | undefined;
  for (let i = 0; i < head.headers.length; i += 2) {
    const name = head.headers[i] as string;
    const lower = name.toLowerCase();
    if (lower === SIGNAL) signal = signal === undefined ? head.headers[i + 1] : 'repeated';
    else if (lower === LOGIN) login = login === undefined ? head.headers[i + 1] : 'repeated';
    else if (!isStrippedFromResponses(lower) && nominated?.has(lower) !== true)
      headers.push(name, head.headers[i + 1] as string);
  }
  return { headers, signal, login };
}

function isStrippedFromResponses(name: string): boolean {
  return STRIPPED_RESPONSE_HEADERS.has(name) || name.startsWith(HEADER_PREFIX) || isAddressHeader(name);
}
