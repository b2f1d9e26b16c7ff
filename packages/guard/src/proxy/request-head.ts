import { HEADER_PREFIX } from '../wordpress/signature.js';
import { isAddressHeader } from './address-headers.js';
import type { BodyFraming } from './send-body.js';

/** Headers that claim a scheme, a host or another target. Guard writes its own of that meaning. */
export const CLAIMS = [
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
 * Headers that end at guard, beside those that name an address: those of one connection (RFC 9110 section 7.6.1), those
 * that claim another target, and `Proxy`, which PHP would take for an environment setting (CVE-2016-5385).
 */
const STOPPED: ReadonlySet<string> = new Set([
  ...CLAIMS,
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

/** What guard tells WordPress about the visitor. */
export interface VisitorFacts {
  readonly address: string;
  readonly scheme: 'http' | 'https';
  readonly host: string;
  /** Signed header for the connector, name and value. */
  readonly signed: readonly [string, string];
  /** Lower-case names of address headers that pass as they came, because a trusted proxy sent them; null for none. */
  readonly trustedHeaders: ReadonlySet<string> | null;
  /** Signed header with what WordPress must know about log-ins in this request, when there is anything to say. */
  readonly context: readonly [string, string] | null;
}

export interface HeadInput {
  readonly method: string;
  /** Origin-form, exactly as the visitor sent it. */
  readonly target: string;
  readonly rawHeaders: readonly string[];
  readonly visitor: VisitorFacts;
  /** How the body is framed on the way to WordPress. */
  readonly body: BodyFraming;
  /** Lower-case names of further headers to leave out, or null. */
  readonly stopped: ReadonlySet<string> | null;
  /** Authority of WordPress's web server, for requests that name no host. */
  readonly upstreamHost: string;
  /** Name of the protocol to switch to, or null. */
  readonly upgrade: string | null;
}

/**
 * Request line and headers for WordPress's web server, ending with the empty line. Names keep their spelling and order.
 * Names with anything but letters, digits and hyphens are left out: PHP cannot tell `X_Forwarded_For` or
 * `X.Forwarded.For` from `X-Forwarded-For`. A request of HTTP/1.0 without a host gets WordPress's own address as one.
 */
export function requestHead(input: HeadInput): string {
  const { method, target, rawHeaders, visitor, body, stopped, upstreamHost, upgrade } = input;
  const nominated = connectionOptions(rawHeaders);
  let head = `${method} ${target} HTTP/1.1\r\n`;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const lower = name.toLowerCase();
    if (isStopped(lower, nominated, visitor.trustedHeaders) || stopped?.has(lower)) continue;
    head += `${name}: ${rawHeaders[i + 1]}\r\n`;
  }
  if (body === 'chunked') head += 'Transfer-Encoding: chunked\r\n';
  head += `X-Forwarded-For: ${visitor.address}\r\nX-Real-IP: ${visitor.address}\r\nX-Forwarded-Proto: ${visitor.scheme}\r\n`;
  head += visitor.host === '' ? `Host: ${upstreamHost}\r\n` : `X-Forwarded-Host: ${visitor.host}\r\n`;
  head += `${visitor.signed[0]}: ${visitor.signed[1]}\r\n`;
  if (visitor.context !== null) head += `${visitor.context[0]}: ${visitor.context[1]}\r\n`;
  head += upgrade === null ? 'Connection: keep-alive\r\n\r\n' : `Connection: Upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`;
  return head;
}

const ODD_NAME = /[^a-z0-9-]/;
const X = 'x'.charCodeAt(0);

function isStopped(name: string, nominated: ReadonlySet<string> | null, trusted: ReadonlySet<string> | null): boolean {
  if (STOPPED.has(name) || ODD_NAME.test(name)) return true;
  if (name.charCodeAt(0) === X && name.startsWith(HEADER_PREFIX)) return true;
  if (nominated?.has(name) === true) return true;
  return isAddressHeader(name) && trusted?.has(name) !== true;
}

/** Headers that `Connection` names end here too, but never those that frame the message or name the host. */
export function connectionOptions(rawHeaders: readonly string[]): ReadonlySet<string> | null {
  let options: Set<string> | null = null;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue;
    for (const option of (rawHeaders[i + 1] as string).toLowerCase().split(',')) {
      const token = option.trim();
      if (token === '' || token === 'keep-alive' || token === 'close' || KEPT.has(token)) continue;
      options ??= new Set();
      options.add(token);
    }
  }
  return options;
}

const KEPT = new Set([
  'host',
  'content-length',
  'content-type',
  'cookie',
  'set-cookie',
  'location',
  'authorization',
  'x-wp-nonce',
]);
