import { forwardedHeaders } from '../http/headers.js';
import { plainText } from '../lib/plain-text.js';
import { toUpstreamAddress, toUpstreamAuthority } from '../lib/socket-address.js';
import type { CommandRedirect, SiteConfig, SiteFacts } from '../site.js';
import type { CommandResponse } from './command-queue.js';

/**
 * By which scheme and host guard asks a site for itself. Web servers choose by the host which site answers, and many lead
 * requests that have not come by https to https, so guard's own requests must look like those of visitors.
 */

/** Scheme and host of a request. */
export interface SiteOrigin {
  readonly scheme: 'http' | 'https';
  /** With the port, if there is one. */
  readonly host: string;
}

/** The sender in a command's headers: the visitor whose request needs it, or guard itself. */
export interface Sender extends SiteOrigin {
  readonly address: string;
  readonly requestId: string;
}

/** The address from which guard asks for itself. */
export const OWN_ADDRESS = '127.0.0.1';

/** Longest address of a redirect that is told, characters. */
const TARGET_MAX = 120;

/**
 * The origin of the site as WordPress names it, so that it does not redirect; as it was attached while WordPress has told
 * nothing. A site that takes every host has no name then but its web server's address.
 *
 * @param scheme by which the site is asked until WordPress has told its own
 */
export function toSiteOrigin(
  site: Pick<SiteConfig, 'hosts' | 'upstream'>,
  known: Pick<SiteFacts, 'homeUrl'> | null,
  scheme: 'http' | 'https' = 'http',
): SiteOrigin {
  if (known !== null) {
    const home = new URL(known.homeUrl);
    return { scheme: home.protocol === 'https:' ? 'https' : 'http', host: home.host };
  }
  return { scheme, host: toNamedHost(site.hosts) ?? toUpstreamHost(site.upstream) };
}

/** A host that the site was attached with; of `*.example.com` the one that most sites have. Null for `*` alone. */
export function toNamedHost(hosts: readonly string[]): string | null {
  const wildcard = hosts.find((host) => host.startsWith('*.'));
  return hosts.find((host) => !host.includes('*')) ?? (wildcard === undefined ? null : `www${wildcard.slice(1)}`);
}

function toUpstreamHost(upstream: string): string {
  return toUpstreamAuthority(toUpstreamAddress(upstream)).replace(/:80$/, '');
}

/** The headers of a request by which it looks like a visitor's; `host` is another one. */
export function toForwardedHeaders(client: SiteOrigin & { readonly address: string }): Record<string, string> {
  const flat = forwardedHeaders(client);
  const headers: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) headers[flat[i] as string] = flat[i + 1] as string;
  return headers;
}

type Redirect = Pick<CommandResponse, 'status' | 'signal' | 'location'>;

/**
 * The origin to ask instead, where a redirect leads to another scheme or host: a web server that serves the site by https
 * alone, or a network of sites, which answers to no host but its own before any plugin runs. The connector has signed
 * nothing, so it has carried out nothing, and the command may be sent again. It goes to the same web server all the same.
 */
export function getRedirectOrigin({ status, signal, location }: Redirect, requested: SiteOrigin): SiteOrigin | null {
  if (signal !== undefined || !isRedirect(status) || !location || leadsToSetUp(location)) return null;
  const named = toUrl(location, requested);
  if (named === null || !/^https?:$/.test(named.protocol) || named.host === '') return null;
  const found = toOrigin(named);
  return isSameOrigin(found, toOrigin(new URL(`${requested.scheme}://${requested.host}`))) ? null : found;
}

function toOrigin({ protocol, host }: URL): SiteOrigin {
  return { scheme: protocol === 'https:' ? 'https' : 'http', host };
}

export function isSameOrigin(one: SiteOrigin, other: SiteOrigin): boolean {
  return one.scheme === other.scheme && one.host === other.host;
}

/**
 * What a redirect says that came in place of the connector's answer, or null for another response.
 * @param firstHost host that was asked for before redirects led to `asked`
 */
export function describeRedirect(
  { status, signal, location }: Redirect,
  requested: SiteOrigin,
  firstHost: string = requested.host,
): CommandRedirect | null {
  if (signal !== undefined || !isRedirect(status) || !location || leadsToSetUp(location)) return null;
  const named = toUrl(location, requested);
  const from = plainText(firstHost, TARGET_MAX);
  if (named === null) return { from, target: plainText(location.replace(/[?#].*$/s, ''), TARGET_MAX), to: 'elsewhere' };
  // A query may hold secrets, and user information always does.
  const target = plainText(`${named.protocol}//${named.host}${named.pathname}`, TARGET_MAX);
  const isOtherHost =
    named.host !== new URL(`${requested.scheme}://${requested.host}`).host || firstHost !== requested.host;
  if (isOtherHost) return { from, target, to: 'host' };
  const isSameAddress = named.pathname.endsWith('/index.php') && named.searchParams.has('rest_route');
  return { from, target, to: isSameAddress || named.protocol !== `${requested.scheme}:` ? 'scheme' : 'elsewhere' };
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

function toUrl(location: string, { scheme, host }: SiteOrigin): URL | null {
  const base = `${scheme}://${host}/`;
  return URL.canParse(location, base) ? new URL(location, base) : null;
}

/** Whether WordPress leads to its installation: it loads no plugin before that is done. */
export function leadsToSetUp(location: string | undefined): boolean {
  return /\/wp-admin\/(?:install|setup-config)\.php(?:\?|$)/.test(location ?? '');
}
