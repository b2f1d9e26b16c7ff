import { forwardedHeaders } from '../http/headers.js';
import { plainText } from '../lib/plain-text.js';
import { toUpstreamAddress, toUpstreamAuthority } from '../lib/socket-address.js';
import type { CommandRedirect, SiteConfig, SiteFacts } from '../site.js';
import type { CommandResponse } from './command-queue.js';

/**
 * The scheme and host with which guard sends its own requests to a site. Web servers choose the site by the host, and
 * many redirect requests that did not arrive by https. So guard's own requests must look like those of visitors.
 */

/** Scheme and host of a request. */
export interface SiteOrigin {
  readonly scheme: 'http' | 'https';
  /** Includes the port, if there is one. */
  readonly host: string;
}

/** The sender in a command's headers: the visitor whose request needs it, or guard itself. */
export interface Sender extends SiteOrigin {
  readonly address: string;
  readonly requestId: string;
}

/** The client address of guard's own commands. */
export const OWN_ADDRESS = '127.0.0.1';

/** Longest target of a redirect that is reported, characters. */
const TARGET_MAX = 120;

/**
 * The origin of the site as WordPress names it, so that it does not redirect. While WordPress has not reported it, the
 * host with which the site was attached; for a site that serves every host, the address of its web server.
 *
 * @param scheme used until WordPress has reported its own
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

/** A host with which the site was attached; for `*.example.com` the most common one. Null for `*` alone. */
export function toNamedHost(hosts: readonly string[]): string | null {
  const wildcard = hosts.find((host) => host.startsWith('*.'));
  return hosts.find((host) => !host.includes('*')) ?? (wildcard === undefined ? null : `www${wildcard.slice(1)}`);
}

function toUpstreamHost(upstream: string): string {
  return toUpstreamAuthority(toUpstreamAddress(upstream)).replace(/:80$/, '');
}

/** The headers that make a request look like a visitor's. The `host` header is set separately. */
export function toForwardedHeaders(client: SiteOrigin & { readonly address: string }): Record<string, string> {
  const flat = forwardedHeaders(client);
  const headers: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) headers[flat[i] as string] = flat[i + 1] as string;
  return headers;
}

type Redirect = Pick<CommandResponse, 'status' | 'signal' | 'location'>;

/**
 * The origin to try next, where a redirect leads to another scheme or host: the web server serves the site by https
 * only, or the site is a network, which redirects all hosts but its own before any plugin runs. The connector has
 * signed nothing, so it has carried out nothing, and the command may be sent again. It is still sent to the same web
 * server.
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
 * Describes a redirect that replaced the connector's response. Null for another response.
 * @param firstHost host that was requested before redirects led to `asked`
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

/** Whether WordPress redirects to its installation. It loads no plugin before that is done. */
export function leadsToSetUp(location: string | undefined): boolean {
  return /\/wp-admin\/(?:install|setup-config)\.php(?:\?|$)/.test(location ?? '');
}
