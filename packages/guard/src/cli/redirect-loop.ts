import { randomBytes } from 'node:crypto';
import { rewriteLocation } from '../http/rewrite-location.js';
import { systemClock } from '../lib/clock.js';
import { guideFile } from '../lib/guides.js';
import { plainText } from '../lib/plain-text.js';
import { toUpstreamAddress, toUpstreamAuthority } from '../lib/socket-address.js';
import type { SiteConfig } from '../site.js';
import { GUARD_HEADER, guardHeader } from '../wordpress/signature.js';
import { OWN_ADDRESS, toForwardedHeaders, toSiteOrigin } from '../wordpress/site-origin.js';
import { visit } from './visit.js';

/** Longest address in a message, characters. */
const ADDRESS_MAX = 200;

/** Why visitors see no page, and the remedy. @param address address that redirects to itself */
export function describeRedirectLoop(address: string): { readonly message: string; readonly advice: string } {
  return {
    message: `The web server behind guard leads visitors of ${address} to the very same address, without end.`,
    advice: `Let its redirects and the keys of its page caches go by the header X-Forwarded-Proto, and empty the caches: ${guideFile('operations.md')}, “The visitor’s scheme”.`,
  };
}

/** The first page, and the login page, which WordPress may have by https only (`FORCE_SSL_ADMIN`). */
export const FIRST_PAGE = '';
const LOGIN_PAGE = 'wp-login.php';
/** Pages whose redirects are checked. */
export const CHECKED_PAGES: readonly string[] = [FIRST_PAGE, LOGIN_PAGE];

/**
 * Requests pages of a site from the upstream web server, as guard forwards a visitor, and checks whether the server
 * redirects to the same address: browsers stop after about 20 redirects. This happens when the server or WordPress
 * treats the visitor's https as http, or when a page cache has stored a redirect from http to https.
 *
 * @param homeUrl the site's address according to WordPress
 * @param pages paths below that address
 * @returns the first address that redirects to itself, or null
 */
export async function findRedirectLoop(
  site: SiteConfig,
  homeUrl: string,
  pages: readonly string[] = CHECKED_PAGES,
): Promise<string | null> {
  for (const page of pages) {
    const loop = await findLoopAt(site, homeUrl, page);
    if (loop !== null) return loop;
  }
  return null;
}

async function findLoopAt(site: SiteConfig, homeUrl: string, page: string): Promise<string | null> {
  const origin = toSiteOrigin(site, { homeUrl });
  const target = `${new URL(homeUrl).pathname.replace(/\/+$/, '')}/${page}`;
  const address = new URL(`${origin.scheme}://${origin.host}${target}`);
  const upstream = toUpstreamAddress(site.upstream);
  const client = { ...origin, address: OWN_ADDRESS };
  const response = await visit(new URL(`http://localhost${target}`), {
    connect: upstream,
    headers: {
      host: origin.host,
      ...toForwardedHeaders(client),
      [GUARD_HEADER]: guardHeader(site.secret, {
        time: Math.floor(systemClock() / 1000),
        requestId: randomBytes(8).toString('hex'),
        scheme: origin.scheme,
        address: OWN_ADDRESS,
      }),
    },
  });
  if ('fault' in response || response.status < 300 || response.status > 399) return null;
  const { location } = response.headers;
  // Browsers show a redirect with an empty `Location` as a page.
  if (location === undefined || location === '') return null;
  // Guard rewrites `Location` for visitors.
  const shown = rewriteLocation(location, { ...origin, upstream: toUpstreamAuthority(upstream), target });
  if (!URL.canParse(shown, address.href)) return null;
  const named = new URL(shown, address);
  named.hash = '';
  return named.href === address.href ? plainText(address.href, ADDRESS_MAX) : null;
}
