import type { RawHeaders } from '../http/headers.js';
import { rewriteLocation } from '../http/rewrite-location.js';
import { toUpstreamAddress, toUpstreamAuthority } from '../lib/socket-address.js';
import type { SiteConfig } from '../site.js';

/** A request as the visitor's browser sent it. */
export interface SentRequest {
  readonly method: string;
  readonly scheme: 'http' | 'https';
  /** Includes the port. */
  readonly host: string;
  /** Path and query. */
  readonly target: string;
}

/** Longest URL that is stored until the end of a login, characters. Web servers accept no longer one either. */
export const REDIRECT_MAX = 8000;

/**
 * The target of WordPress's own response to a login whose session was withheld: the `Location` of a redirect, or the
 * page that a link opened (a GET request with an HTML response).
 *
 * @param headers of the response, as WordPress sent them
 * @returns an absolute URL; null when the response names no target
 */
export function readOwnTarget(
  request: SentRequest,
  { status, headers, site }: { readonly status: number; readonly headers: RawHeaders; readonly site: SiteConfig },
): string | null {
  const url = `${request.scheme}://${request.host}${request.target}`;
  if (status === 200) {
    const isPage = request.method === 'GET' && /^text\/html\b/i.test(findHeader(headers, 'content-type') ?? '');
    return isPage ? toAbsolute(request.target, url) : null;
  }
  const location = status >= 300 && status < 400 ? findHeader(headers, 'location') : undefined;
  return location === undefined ? null : toAbsolute(toVisibleUrl(location, request, site), url);
}

/**
 * The URL to which a visitor is redirected after the second factor: the one that WordPress or a plugin decided, as
 * without a second factor. WordPress itself allows only its own hosts and those of `allowed_redirect_hosts`.
 *
 * Only a complete URL leads to another host. Any other text that a browser might read as one (URL Standard: it skips
 * tabs and treats a backslash as a slash) was intended as a path. Schemes that execute or show the content of the URL
 * are refused, and so are URLs with user information.
 *
 * @param target a path or a URL, as WordPress returned it
 * @param at scheme and host, with port, of the page that redirects
 */
export function toRedirectTarget(
  target: string,
  at: { readonly scheme: 'http' | 'https'; readonly host: string },
  fallback: string,
): string {
  const here = `${at.scheme}://${at.host}`;
  let url: URL;
  try {
    url = new URL(target, `${here}/`);
  } catch {
    return fallback;
  }
  if (target === '' || url.username !== '' || url.password !== '') return fallback;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return isAppUrl(url) ? url.href : fallback;
  const isCompleteUrl = /^(?:https?:)?\/\/[^/\\]/i.test(target);
  if (!isSameHost(url, at)) return isCompleteUrl ? url.href : fallback;
  // Behind a proxy WordPress knows its scheme better than guard does, so an absolute URL keeps its scheme.
  return /^https?:\/\//i.test(target) ? url.href : `${here}${url.pathname}${url.search}${url.hash}`;
}

/** A URL of WordPress with the host that the visitor uses in place of that of the web server. */
export function toVisibleUrl(
  url: string,
  { scheme, host }: Pick<SentRequest, 'scheme' | 'host'>,
  site: Pick<SiteConfig, 'upstream'>,
): string {
  const upstream = toUpstreamAuthority(toUpstreamAddress(site.upstream));
  return rewriteLocation(url, { scheme, host, upstream, target: null });
}

/** Schemes that do not belong to programs. Browsers follow no redirect to them. */
const NON_APP_SCHEMES: ReadonlySet<string> = new Set([
  'about:',
  'blob:',
  'data:',
  'file:',
  'filesystem:',
  'ftp:',
  'javascript:',
  'vbscript:',
  'view-source:',
]);

/**
 * Whether a URL opens a program on the visitor's device (`com.example.shop://signed-in`), with a scheme that a phone
 * app registered.
 */
function isAppUrl(url: URL): boolean {
  return !NON_APP_SCHEMES.has(url.protocol) && url.href.startsWith(`${url.protocol}//`);
}

function isSameHost(url: URL, at: { readonly host: string }): boolean {
  return URL.canParse(`${url.protocol}//${at.host}`) && url.host === new URL(`${url.protocol}//${at.host}`).host;
}

/**
 * Resolves a reference.
 * @param reference holds bytes as latin1, as HTTP headers do
 */
function toAbsolute(reference: string, base: string): string | null {
  const encoded = reference.replace(/[^\x21-\x7e]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
  if (!URL.canParse(encoded, base)) return null;
  const { href } = new URL(encoded, base);
  return href.length > REDIRECT_MAX ? null : href;
}

function findHeader(headers: RawHeaders, name: string): string | undefined {
  const at = headers.findIndex((each, i) => i % 2 === 0 && each.toLowerCase() === name);
  return at === -1 ? undefined : headers[at + 1];
}
