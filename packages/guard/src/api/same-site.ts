import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a call comes from a page of the site itself. Browsers say so in Sec-Fetch-Site (Fetch Metadata, W3C); older
 * ones name the page's origin in Origin (RFC 6454). Programs that send neither hold no cookies that another site could
 * borrow.
 *
 * @param host the host that the call was sent to, with its port
 */
export function isSameSite(headers: IncomingHttpHeaders, host: string): boolean {
  const fetchSite = headers['sec-fetch-site'];
  if (fetchSite !== undefined) return fetchSite === 'same-origin' || fetchSite === 'none';
  const { origin } = headers;
  return origin === undefined || sameHost(origin, host);
}

/** The scheme is not compared: behind a proxy that ends TLS without saying so, guard can't know it. */
function sameHost(origin: string, host: string): boolean {
  try {
    const url = new URL(origin);
    return url.host === new URL(`${url.protocol}//${host}`).host;
  } catch {
    return false;
  }
}
