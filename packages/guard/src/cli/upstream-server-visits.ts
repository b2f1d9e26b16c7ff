/** Sends requests to the upstream web server as a visitor; `upstream-server` draws the conclusions. */
import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { printSocketAddress, type SocketAddress, toUpstreamAddress } from '../lib/socket-address.js';
import type { SiteConfig } from '../site.js';
import { GUARD_HEADER, guardHeader, readSignal, SIGNAL_HEADER } from '../wordpress/signature.js';
import { toForwardedHeaders } from '../wordpress/site-origin.js';
import {
  MACHINE_HOSTS,
  MACHINE_PATHS,
  type OpenPage,
  recognizeMachinePage,
  type UpstreamServer,
} from './upstream-server.js';
import { RESPONSE_MS, readBody } from './visit.js';

/** Longest response body that is read, bytes. */
const BODY_BYTES = 262_144;

/** How many of this machine's addresses are tried. */
const OWN_ADDRESSES_MAX = 16;

/** The text with which the connector refuses a request (class-request-gate.php). */
export const CONNECTOR_REFUSAL = 'This address is not available here.';

/**
 * The client in these requests: an address for documentation (RFC 5737), which is neither this machine's nor a proxy's.
 */
export const VISITOR = '192.0.2.1';

/** Address at which this machine reaches a server that listens on all addresses. */
export function toLocalServer(listen: SocketAddress): SocketAddress {
  if ('path' in listen) return listen;
  return { host: { '0.0.0.0': '127.0.0.1', '::': '::1' }[listen.host] ?? listen.host, port: listen.port };
}

/** Addresses at which other machines reach this one. */
function listOwnAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.flatMap(({ address, internal }) => (internal || /^fe80:/i.test(address) ? [] : [address]));
}

interface Examination {
  /**
   * Address of a guard that serves the site, else null. Pages that guard refuses are not reported, so pages under other
   * host names are checked only when guard can be reached.
   */
  readonly guard: SocketAddress | null;
  /** Whether the web server sees a visitor's address, according to the connector; null when it is not known. */
  readonly isAddressSeen: boolean | null;
  /** Addresses at which other machines reach this one. */
  readonly ownAddresses?: readonly string[];
  now(): number;
}

/** Looks for pages of the machine and for a page cache, as a visitor. @param home address of the site according to WordPress */
export async function inspectUpstreamServer(
  site: SiteConfig,
  home: URL,
  { guard, isAddressSeen, ownAddresses = listOwnAddresses(), now }: Examination,
): Promise<UpstreamServer> {
  const openPages = await findOpenPages(site, home, { guard, isAddressSeen, now });
  // A server that does not answer receives no further requests.
  if (openPages === null) return { isAddressSeen, openPages: [], cachePastGuard: null };
  return { isAddressSeen, openPages, cachePastGuard: await findCachePastGuard(site, home, { ownAddresses, now }) };
}

/** @returns the pages of the machine that every visitor can read; null when the server does not answer at all */
async function findOpenPages(
  site: SiteConfig,
  home: URL,
  options: { readonly guard: SocketAddress | null; readonly isAddressSeen: boolean | null; now(): number },
): Promise<OpenPage[] | null> {
  const { guard, isAddressSeen, now } = options;
  const openPages: OpenPage[] = [];
  const others = guard === null ? [] : MACHINE_HOSTS.filter((host) => host !== home.hostname);
  for (const host of [home.host, ...others]) {
    for (const path of MACHINE_PATHS) {
      if (openPages.some((page) => page.path === path)) continue;
      const direct = await visitUpstream(site, home, { host, path, now });
      if (direct === null) return openPages.length === 0 ? null : openPages;
      const name = recognizeMachinePage(direct, isAddressSeen);
      if (name === null) continue;
      const through = guard === null ? direct : await visitGuard(guard, home, { host, path });
      if (through !== null && recognizeMachinePage(through, isAddressSeen) !== null)
        openPages.push({ name, path, host });
    }
  }
  return openPages;
}

/**
 * Looks for a page cache that answers before the connector, which refuses every client that comes past guard. Requests
 * a page of WordPress without guard's signature; if that is refused, tries again after a visitor of guard has received
 * the page.
 *
 * @returns host and port where other machines get pages from it; null when nobody does, or it is not known
 */
async function findCachePastGuard(
  site: SiteConfig,
  home: URL,
  { ownAddresses, now }: { readonly ownAddresses: readonly string[]; now(): number },
): Promise<string | null> {
  const server = toUpstreamAddress(site.upstream);
  // The permissions of a socket file decide who can connect.
  if (!site.requireGuard || 'path' in server || !(await refusesPastGuard(server, home))) return null;
  if (!(await isPageOfWordPress(site, home, now))) return null;
  if (!(await respondsPastGuard(server, home))) {
    await send(server, toFirstPage(home), null, toVisitorHeaders(site, home, home.host, now()).headers);
    if (!(await respondsPastGuard(server, home))) return null;
  }
  if (!(await isLoopback(server.host))) return printSocketAddress(server);
  for (const host of ownAddresses.slice(0, OWN_ADDRESSES_MAX)) {
    const outside = { host, port: server.port };
    // The web server in front of guard, or guard itself, may use the same port at another address.
    if ((await refusesPastGuard(outside, home)) && (await respondsPastGuard(outside, home))) {
      return printSocketAddress(outside);
    }
  }
  return null;
}

const toFirstPage = (home: URL): string => `${home.pathname.replace(/\/+$/, '')}/`;

/** Whether the connector refuses a request without guard's signature that no cache can answer. */
async function refusesPastGuard(server: SocketAddress, home: URL): Promise<boolean> {
  const path = `${toFirstPage(home)}index.php?rest_route=/security-optimizer-connector/v1/hello&${randomBytes(4).toString('hex')}`;
  const response = await send(server, path, null, toForwarded(home));
  return response?.status === 403 && response.body.includes(CONNECTOR_REFUSAL);
}

/** Whether WordPress serves the first page: a page that is a file of the web server is public. */
async function isPageOfWordPress(site: SiteConfig, home: URL, now: () => number): Promise<boolean> {
  const { headers, requestId } = toVisitorHeaders(site, home, home.host, now(), 'probe');
  const response = await send(toUpstreamAddress(site.upstream), toFreshTarget(toFirstPage(home)), null, headers);
  const signal = response?.headers[SIGNAL_HEADER.toLowerCase()];
  return readSignal(site.secret, signal?.toString(), requestId).kind === 'ok';
}

/** Whether the first page is served without guard's signature, in either form in which visitors may request it. */
async function respondsPastGuard(server: SocketAddress, home: URL): Promise<boolean> {
  for (const headers of [toForwarded(home), { host: home.host }]) {
    const response = await send(server, toFirstPage(home), null, headers);
    if (response !== null && response.status >= 200 && response.status < 300) return true;
  }
  return false;
}

const toForwarded = (home: URL): Record<string, string> => ({
  host: home.host,
  ...toForwardedHeaders({ scheme: toScheme(home), host: home.host, address: VISITOR }),
});

async function isLoopback(host: string): Promise<boolean> {
  const found = await lookup(host.replace(/^\[|\]$/g, '')).catch(() => null);
  return found !== null && (found.address === '::1' || found.address.startsWith('127.'));
}

/** @returns the web server's response; null when there is none */
function visitUpstream(
  site: SiteConfig,
  home: URL,
  { host, path, now }: { readonly host: string; readonly path: string; now(): number },
): Promise<UpstreamResponse | null> {
  const { headers } = toVisitorHeaders(site, home, host, now(), 'probe');
  return send(toUpstreamAddress(site.upstream), toFreshTarget(path), null, headers);
}

/** @returns the response to a visitor of guard; null when there is none */
function visitGuard(
  guard: SocketAddress,
  home: URL,
  { host, path }: { readonly host: string; readonly path: string },
): Promise<UpstreamResponse | null> {
  // Where this machine is not a trusted proxy, guard ignores both headers, and the page is just as public.
  const headers = { host, 'x-forwarded-for': VISITOR, 'x-forwarded-proto': toScheme(home) };
  return send(guard, toFreshTarget(path), null, headers);
}

/** A target that no cache has stored or will serve to a visitor. */
const toFreshTarget = (path: string): string => `${path}?${randomBytes(4).toString('hex')}`;

interface UpstreamResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Sends a request and follows no redirects. @param body null for a GET @returns null when there is no response */
async function send(
  server: SocketAddress,
  path: string,
  body: string | null,
  headers: Readonly<Record<string, string>>,
): Promise<UpstreamResponse | null> {
  try {
    const outgoing = request({
      ...('path' in server ? { socketPath: server.path } : server),
      ...{ method: body === null ? 'GET' : 'POST', path, agent: false },
      headers: { 'user-agent': 'Security Optimizer status', accept: 'text/html,application/json', ...headers },
      signal: AbortSignal.timeout(RESPONSE_MS),
    });
    const [response] = (await once(outgoing.end(body ?? undefined), 'response')) as [IncomingMessage];
    const text = await readBody(response, BODY_BYTES);
    outgoing.destroy();
    return { status: response.statusCode as number, headers: response.headers, body: text };
  } catch {
    return null;
  }
}

const toScheme = (home: URL): 'http' | 'https' => (home.protocol === 'https:' ? 'https' : 'http');

/**
 * The headers of a visitor's request as guard forwards it, see `toUpstreamRequestHead`.
 * @param note `probe`: WordPress responds at once and does nothing else
 */
function toVisitorHeaders(site: SiteConfig, home: URL, host: string, now: number, note: '' | 'probe' = '') {
  const scheme = toScheme(home);
  const time = Math.floor(now / 1000);
  const requestId = randomBytes(8).toString('hex');
  const signed = guardHeader(site.secret, { time, requestId, scheme, address: VISITOR }, note);
  const headers: Record<string, string> = {
    host,
    ...toForwardedHeaders({ scheme, host, address: VISITOR }),
    [GUARD_HEADER]: signed,
  };
  return { headers, requestId, time };
}
