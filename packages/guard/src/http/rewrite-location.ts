import type { RawHeaders } from './headers.js';

/** How the client addressed guard, and how guard addresses the upstream web server. */
export interface RewriteContext {
  /** Scheme that the client used. */
  readonly scheme: 'http' | 'https';
  /** Authority that the client requested. */
  readonly host: string;
  /** Authority of the upstream web server, with its port. */
  readonly upstream: string;
  /** Target of a request that may be repeated unchanged (GET or HEAD); null for others. */
  readonly target: string | null;
}

/**
 * Rewrites `Location`, `Content-Location` and `Refresh` in place when they name the upstream web server.
 *
 * @param getContext called only if there is such a header
 */
export function rewriteLocationHeaders(headers: RawHeaders, getContext: () => RewriteContext): void {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const rewrite =
      name.length === 8 || name.length === 7 || name.length === 16 ? REWRITES.get(name.toLowerCase()) : undefined;
    if (rewrite !== undefined) headers[i + 1] = rewrite(headers[i + 1] as string, getContext());
  }
}

type Rewrite = (value: string, context: RewriteContext) => string;

const REWRITES: ReadonlyMap<string, Rewrite> = new Map<string, Rewrite>([
  ['location', rewriteLocation],
  ['content-location', rewriteLocation],
  ['refresh', rewriteRefresh],
]);

/** Scheme, authority and rest. Excludes user information and backslashes, for which parsers disagree about the host. */
const ABSOLUTE = /^(?:(https?):)?\/\/([^\s/?#@\\]+)([/?#].*)?$/is;

/**
 * The URL as the client must see it. It is rewritten when its authority is that of the web server, or the client's host
 * with the web server's port (as nginx writes it), or the client's authority with `http` although the client used
 * `https`. Any other URL stays unchanged.
 */
export function rewriteLocation(url: string, { scheme, host, upstream, target }: RewriteContext): string {
  const [match, named, authority = '', rest = ''] = ABSOLUTE.exec(url) ?? [];
  if (match === undefined) return url;
  const location = splitAuthority(authority, named?.toLowerCase() === 'https' ? 'https' : 'http');
  const upstreamOrigin = splitAuthority(upstream, 'http');
  const client = splitAuthority(host, scheme);
  const visible = `${scheme}://${host}${rest}`;
  if (isSame(location, client) && (named === undefined || named.toLowerCase() === scheme)) return url;
  if (isSame(location, upstreamOrigin)) return visible;
  if (location.host !== client.host) return url;
  const downgraded =
    named?.toLowerCase() === 'http' && scheme === 'https' && (location.port === '80' || isSame(location, client));
  // A plugin redirects from https to http on purpose: a rewritten URL would redirect the client in a loop.
  if (downgraded && target !== null && (rest.startsWith('/') ? rest : `/${rest}`) === target) return url;
  return downgraded || location.port === upstreamOrigin.port ? visible : url;
}

/** The same for `Refresh`: seconds, then the URL, with or without `url=` and quotes (HTML, section 4.2.5.3). */
export function rewriteRefresh(value: string, context: RewriteContext): string {
  const at = value.search(/[;,]/) + 1;
  if (at === 0) return value;
  const [lead = ''] = /^\s*(?:url\s*=\s*)?["']?/i.exec(value.slice(at)) ?? [];
  const begin = at + lead.length;
  const quote = /["']$/.exec(lead)?.[0];
  const closing = quote === undefined ? -1 : value.indexOf(quote, begin);
  const end = closing === -1 ? Math.max(begin, value.trimEnd().length) : closing;
  return value.slice(0, begin) + rewriteLocation(value.slice(begin, end), context) + value.slice(end);
}

interface HostAndPort {
  readonly host: string;
  readonly port: string;
}

function splitAuthority(authority: string, scheme: 'http' | 'https'): HostAndPort {
  const [, host = '', port] = /^(.*?)(?::(\d*))?$/s.exec(authority.toLowerCase()) ?? [];
  return { host, port: port || (scheme === 'https' ? '443' : '80') };
}

function isSame(one: HostAndPort, other: HostAndPort): boolean {
  return one.host === other.host && one.port === other.port;
}
