import type { IncomingHttpHeaders } from 'node:http';
import { setBounded } from '../lib/collections.js';

/** Response headers as alternating names and values, in WordPress's order and spelling. */
export type RawHeaders = string[];

/** Words for the client in front of an address, as used by proxies, load balancers and CDNs. */
const WHO =
  'c|client|real|remote|true|connect(?:ing|ion)|source|src|visitor|viewer|customer|user|enduser|proxyuser|proxied|' +
  'orig(?:in|inal|inating)?|peer|socket|external|caller|requester|browser|downstream|pseudo';

/** Matches `…-IP`, `…-IPv6`, `…-IPAddress`, also as one word such as `ClientIP`. */
const IP = new RegExp(`(?:^|-)(?:${WHO})?ip(?:s|v[46]|addr(?:ess)?)?(?:-|$)`);
/** Matches `Remote-Addr`, `Viewer-Address`, also with a word in between or as one word. */
const ADDRESS = new RegExp(`(?:^|-)(?:${WHO})(?:(?:-[a-z0-9]+)*-)?addr(?:ess)?(?:-|$)`);
const FORWARDED = /forwarded|(?:^|-)(?:forward(?:er)?|fwd|xff|proxied-for)(?:-|$)/;

/** Words for the location of an address. */
const PLACE = /(?:^|-)(?:continent|country|region|city|latitude|longitude|timezone)(?:-|$)/;
/** Words for addresses other than IP addresses. */
const OF_ANOTHER_KIND = /(?:^|-)(?:e?mail|mac|street|billing|shipping|delivery|postal|wallet)(?:-|$)/;

/** Address headers whose names match no pattern. */
const OTHERS: ReadonlySet<string> = new Set(['x-coming-from', 'coming-from', 'rlnclientipaddr']);

/**
 * Whether proxies, load balancers or CDNs use a header for the client's address. WordPress, plugins and libraries trust
 * many such headers from any client, so those that a client sends are not forwarded: guard writes `X-Forwarded-For` and
 * `X-Real-IP` itself. A list of names can't be complete, so names are matched by patterns: the word "forwarded", the
 * word "IP", or the word "address" with a word for the client. The location of an address (`Ip-Country`) and other
 * kinds of addresses, such as e-mail addresses, do not count.
 *
 * @param name lower-case, of letters, digits and hyphens
 */
export function isAddressHeader(name: string): boolean {
  const known = KNOWN.get(name);
  if (known !== undefined) return known;
  const is = namesAddress(name);
  if (name.length <= LONGEST) setBounded(KNOWN, name, is, MAX_KNOWN);
  return is;
}

/** Cached results, because every header is checked. Bounded, because clients choose the names. */
const KNOWN = new Map<string, boolean>();
const MAX_KNOWN = 1000;

/** No program reads a header with a longer name, and matching one could take long. */
const LONGEST = 100;

function namesAddress(name: string): boolean {
  if (name.length > LONGEST) return false;
  if (FORWARDED.test(name) || OTHERS.has(name)) return true;
  if (IP.test(name)) return !PLACE.test(name);
  return ADDRESS.test(name) && !OF_ANOTHER_KIND.test(name) && !PLACE.test(name);
}

/**
 * Whether a response is an event stream (HTML Living Standard, server-sent events). The client must receive its head
 * before the first event.
 *
 * @param headers alternating names and values
 */
export function isEventStream(headers: readonly string[]): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]?.length === 12 && headers[i]?.toLowerCase() === 'content-type') {
      return (headers[i + 1] as string).startsWith('text/event-stream');
    }
  }
  return false;
}

/** Removes every header with this name. @param name lower-case */
export function removeHeader(headers: RawHeaders, name: string): void {
  for (let i = headers.length - 2; i >= 0; i -= 2) {
    const header = headers[i] as string;
    if (header.length === name.length && header.toLowerCase() === name) headers.splice(i, 2);
  }
}

/**
 * Whether a request comes from a page of the site itself. Browsers send Sec-Fetch-Site (Fetch Metadata, W3C), older
 * ones Origin (RFC 6454). Programs that send neither have no cookies that another site could abuse.
 *
 * @param host the host that received the request, with its port
 */
export function isSameSite(headers: IncomingHttpHeaders, host: string): boolean {
  const fetchSite = headers['sec-fetch-site'];
  if (fetchSite !== undefined) return fetchSite === 'same-origin' || fetchSite === 'none';
  const { origin } = headers;
  return origin === undefined || isSameHost(origin, host);
}

/** The scheme is not compared: guard can't know it behind a proxy that terminates TLS without reporting it. */
function isSameHost(origin: string, host: string): boolean {
  try {
    const url = new URL(origin);
    return url.host === new URL(`${url.protocol}//${host}`).host;
  } catch {
    return false;
  }
}

/**
 * Whether a page of another web site made the browser send a request. Over HTTPS browsers send Sec-Fetch-Site (Fetch
 * Metadata, W3C). Otherwise Origin (RFC 6454) identifies the site of the page, or is `null` for an opaque origin.
 * Programs send neither.
 *
 * @param host the requested host, with or without port
 * @param hosts further host names of the site
 */
export function isCrossSite(headers: IncomingHttpHeaders, host: string, hosts: readonly string[]): boolean {
  const fetchSite = headers['sec-fetch-site'];
  if (typeof fetchSite === 'string' && SAME_SITE_VALUES.has(fetchSite)) return false;
  const { origin } = headers;
  if (origin === undefined) return fetchSite === 'cross-site';
  const from = readHost(origin);
  return (
    from === null || !(areRelated(from, toHostName(host)) || hosts.some((name) => areRelated(from, toHostName(name))))
  );
}

/**
 * Whether a request may still come from a page of the site, because its origin is opaque (`Referrer-Policy:
 * no-referrer`, a sandboxed frame). A browser without Fetch Metadata, or without HTTPS, sends `null` for any such page.
 */
export function hasOpaqueOrigin(headers: IncomingHttpHeaders): boolean {
  return headers.origin === 'null' && headers['sec-fetch-site'] === undefined;
}

/** Values of Sec-Fetch-Site for pages of the same registrable domain, and for addresses that the user typed. */
const SAME_SITE_VALUES: ReadonlySet<string> = new Set(['same-origin', 'same-site', 'none']);

function readHost(origin: string): string | null {
  try {
    return toHostName(new URL(origin).hostname) || null;
  } catch {
    return null;
  }
}

function toHostName(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/\.$/, '')
    .replace(/^www\./, '');
}

/** Whether host names are equal or one is a subdomain of the other, like the sites of a network. */
function areRelated(one: string, other: string): boolean {
  return one === other || one.endsWith(`.${other}`) || other.endsWith(`.${one}`);
}

/**
 * Values of all cookies with a name, in the order of the header: browsers send those with longer paths first (RFC 6265
 * sections 4.2 and 5.4).
 */
export function readCookies(header: string | undefined, name: string): string[] {
  if (header === undefined || !header.includes(name)) return [];
  const values: string[] = [];
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals !== -1 && pair.slice(0, equals).trim() === name) values.push(pair.slice(equals + 1).trim());
  }
  return values;
}

/** Value of the first cookie with a name, or null. */
export function readCookie(header: string | undefined, name: string): string | null {
  return readCookies(header, name)[0] ?? null;
}

/** A `Set-Cookie` value with `HttpOnly` and `SameSite=Lax`. @param maxAge seconds; 0 deletes the cookie */
export function createCookie(cookie: {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly maxAge: number;
  readonly secure: boolean;
}): string {
  const { name, value, path, maxAge, secure } = cookie;
  return `${name}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

/**
 * Headers that describe the client, its scheme and its host to a web server and WordPress, as alternating names and
 * values. Every request from guard to WordPress has them: visitors' requests and guard's own.
 */
export function forwardedHeaders({
  address,
  scheme,
  host,
}: {
  readonly address: string;
  readonly scheme: 'http' | 'https';
  readonly host: string;
}): readonly string[] {
  const headers = ['X-Forwarded-For', address, 'X-Real-IP', address, 'X-Forwarded-Proto', scheme];
  if (host !== '') headers.push('X-Forwarded-Host', host);
  return headers;
}
