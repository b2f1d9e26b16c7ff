import { randomBytes } from 'node:crypto';
import type { Clock } from '../lib/clock.js';
import { toUpstreamAddress, toUpstreamAuthority } from '../lib/socket-address.js';
import type { SiteConfig, SiteFacts } from '../site.js';
import { CommandConnections } from './command-queue.js';
import { ConnectorError } from './connector-error.js';
import { GUARD_HEADER, guardHeader, readSignal } from './signature.js';
import { getRedirectOrigin, OWN_ADDRESS, type SiteOrigin, toForwardedHeaders } from './site-origin.js';

/** PHP in WebAssembly on a slow machine needs seconds for its first page. */
const RESPONSE_MS = 10_000;

/**
 * What responds to a host: the connector of the site, a redirect to another origin, something else, or nothing that can
 * be identified: no response, or a server that is down or busy. `cause` is in plain English.
 */
export type HostResponse =
  | { readonly kind: 'signed' }
  | { readonly kind: 'redirect'; readonly to: SiteOrigin }
  | { readonly kind: 'other' | 'silent'; readonly cause: string };

/** Requests an origin from the web server behind guard, and reports whether the site responds there. Never rejects. */
export type HostProbe = (
  site: SiteConfig,
  facts: Pick<SiteFacts, 'homeUrl'>,
  origin: SiteOrigin,
) => Promise<HostResponse>;

/** Creates the probe. The connector responds to such a request as soon as it is loaded, and does nothing else. */
export function createHostProbe({ clock }: { readonly clock: Clock }): { readonly probe: HostProbe; close(): void } {
  const connections = new CommandConnections();

  async function probeAt(site: SiteConfig, path: string, origin: SiteOrigin): Promise<HostResponse> {
    const upstream = toUpstreamAddress(site.upstream);
    const requestId = randomBytes(8).toString('hex');
    // The request ID makes the URL unique, so that no page cache has a response.
    const url = `http://${toUpstreamAuthority(upstream)}${path}/index.php?rest_route=/&${requestId}`;
    const { scheme, host } = origin;
    const headers = {
      host,
      ...toForwardedHeaders({ scheme, host, address: OWN_ADDRESS }),
      accept: 'text/html,application/json',
      'user-agent': 'Security Optimizer guard',
      [GUARD_HEADER]: guardHeader(
        site.secret,
        { time: Math.floor(clock() / 1000), requestId, scheme, address: OWN_ADDRESS },
        'probe',
      ),
    };
    try {
      const socketPath = 'path' in upstream ? upstream.path : undefined;
      const response = await connections.exchange(url, headers, null, RESPONSE_MS, socketPath);
      const signal = readSignal(site.secret, response.signal, requestId);
      // A cache that ignores the query may have stored the response for this host.
      if (signal.kind === 'ok' || signal.kind === 'kept') return { kind: 'signed' };
      if (signal.kind === 'other_secret') return { kind: 'other', cause: 'a site with another key' };
      const to = getRedirectOrigin(response, origin);
      if (to !== null) return { kind: 'redirect', to };
      const kind = response.status >= 500 || response.status === 429 ? 'silent' : 'other';
      return { kind, cause: `HTTP status ${response.status} without the connector` };
    } catch (error) {
      return { kind: 'silent', cause: error instanceof ConnectorError ? error.detail : String(error) };
    }
  }

  return {
    async probe(site, facts, origin) {
      const home = new URL(facts.homeUrl).pathname.replace(/\/+$/, '');
      const response = await probeAt(site, home, origin);
      // At another domain of a network the home path of the main site may not exist, so the root is tried as well.
      return response.kind !== 'other' || home === '' ? response : probeAt(site, '', origin);
    },
    close: () => connections.close(),
  };
}
