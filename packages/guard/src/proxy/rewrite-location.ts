import type { RawHeaders } from '../protections/protection.js';

/** The two ends of a request: how the client addressed guard, and how guard addresses the web server behind it. */
export interface RequestEnds {
  /** With which the client came. */
  readonly scheme: 'http' | 'https';
  /** Authority that the client asked for; empty when a request of HTTP/1.0 named none. */
  readonly host: string;
  /** Authority of the web server behind guard, with its port. */
  readonly upstream: string;
  /** Target of a request that may be repeated as it is (GET or HEAD); null for others. */
  readonly target: string | null;
}

/**
 * Rewrites `Location`, `Content-Location` and `Refresh` in place where they name the web server behind guard.
 * @param ends asked only when one of these headers is there
 */
export function rewriteLocations(headers: RawHeaders, ends: () => RequestEnds): void {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const rewrite =
      name.length === 8 || name.length === 7 || name.length === 16 ? REWRITES.get(name.toLowerCase()) : undefined;
    if (rewrite !== undefined) headers[i + 1] = rewrite(headers[i + 1] as string, ends());
  }
}

type Rewrite = (value: string, ends: RequestEnds) => string;

const REWRITES: ReadonlyMap<string, Rewrite> = new Map<string, Rewrite>([
  ['location', rewriteLocation],
  ['content-location', rewriteLocation],
  ['refresh', rewriteRefresh],
]);

/** Scheme, authority, and the rest. No user information and no backslash: readers disagree on the host of those. */
const ABSOLUTE = /^(?:(https?):)?\/\/([^\s/?#@\\]+)([/?#].*)?$/is;

/**
 * The URL as the client must see it. It is rewritten when its authority is that of the web server, or the client's host
 * with the web server's port (what nginx writes by itself), or the client's own with `http` where the client came by
 * `https`. Every other URL stays as it is.
 */
export function rewriteLocation(url: string, { scheme, host, upstream, target }: RequestEnds): string {
  const [whole, named, authority = '', rest = ''] = ABSOLUTE.exec(url) ?? [];
  if (whole === undefined) return url;
  const its = splitAuthority(authority, named?.toLowerCase() === 'https' ? 'https' : 'http');
  const behind = splitAuthority(upstream, 'http');
  if (host === '') return isSame(its, behind) ? toPath(rest) : url;
  const client = splitAuthority(host, scheme);
  const visible = `${scheme}://${host}${rest}`;
  if (isSame(its, client) && (named === undefined || named.toLowerCase() === scheme)) return url;
  if (isSame(its, behind)) return visible;
  if (its.host !== client.host) return url;
  const downgraded =
    named?.toLowerCase() === 'http' && scheme === 'https' && (its.port === '80' || isSame(its, client));
  // A plugin that sends from https to http means it: rewritten, the client would come back for ever.
  if (downgraded && target !== null && (rest.startsWith('/') ? rest : `/${rest}`) === target) return url;
  return downgraded || its.port === behind.port ? visible : url;
}

/** The same for `Refresh`: seconds, and after them the URL, with or without `url=` and quotes (HTML, section 4.2.5.3). */
export function rewriteRefresh(value: string, ends: RequestEnds): string {
  const at = value.search(/[;,]/) + 1;
  if (at === 0) return value;
  const [lead = ''] = /^\s*(?:url\s*=\s*)?["']?/i.exec(value.slice(at)) ?? [];
  const begin = at + lead.length;
  const quote = /["']$/.exec(lead)?.[0];
  const closing = quote === undefined ? -1 : value.indexOf(quote, begin);
  const end = closing === -1 ? Math.max(begin, value.trimEnd().length) : closing;
  return value.slice(0, begin) + rewriteLocation(value.slice(begin, end), ends) + value.slice(end);
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

/** A reference without authority. Two slashes at its start would make the next segment one. */
function toPath(rest: string): string {
  if (!rest.startsWith('/')) return `/${rest}`;
  return /^\/[/\\]/.test(rest) ? `/.${rest}` : rest;
}
