import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a page of another web site made the browser send this. Browsers say so in Sec-Fetch-Site (Fetch Metadata,
 * W3C), where the site is reached by HTTPS; else Origin (RFC 6454) names the page's own site, or is `null` for a page
 * that hides it. Programs send neither.
 *
 * @param host the host that was asked for, with or without port
 * @param hosts what else the site goes by
 */
export function isFromOtherSite(headers: IncomingHttpHeaders, host: string, hosts: readonly string[]): boolean {
  const fetchSite = headers['sec-fetch-site'];
  if (typeof fetchSite === 'string' && OWN.has(fetchSite)) return false;
  const { origin } = headers;
  if (origin === undefined) return fetchSite === 'cross-site';
  const from = hostOf(origin);
  return from === null || !(areRelated(from, nameOf(host)) || hosts.some((name) => areRelated(from, nameOf(name))));
}

/**
 * Whether it may be a page of the site all the same: the page hides where it is (`Referrer-Policy: no-referrer`, a
 * sandboxed frame), and a browser without Fetch Metadata, or without HTTPS, says `null` of any such page.
 */
export function hidesOrigin(headers: IncomingHttpHeaders): boolean {
  return headers.origin === 'null' && headers['sec-fetch-site'] === undefined;
}

/** What browsers say of pages of the same site (the same registrable domain), and of what the visitor typed. */
const OWN: ReadonlySet<string> = new Set(['same-origin', 'same-site', 'none']);

/**
 * What those failures of an address are kept under that pages of other sites made its browser send. Beside its own: a
 * page that somebody opens must not lock them out.
 */
export function otherSitesKey(addressKey: string): string {
  return `other-sites:${addressKey}`;
}

function hostOf(origin: string): string | null {
  try {
    return nameOf(new URL(origin).hostname) || null;
  } catch {
    return null;
  }
}

function nameOf(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/\.$/, '')
    .replace(/^www\./, '');
}

/** One host name, or one below the other: with and without `www.`, and the sites of a network. */
function areRelated(one: string, other: string): boolean {
  return one === other || one.endsWith(`.${other}`) || other.endsWith(`.${one}`);
}
