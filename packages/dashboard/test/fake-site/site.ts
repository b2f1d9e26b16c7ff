import type { ReceivedRequest } from './replies.js';
import { freshSite, handleSiteRequest, NAMESPACE, type SiteState } from './responses.js';
import { type ApiServer, startApiServer } from './server.js';

export { store, toOptions, toPage } from './responses.js';

/** A site with guard in front, on its own server. */
export interface FakeSite extends SiteState {
  readonly server: ApiServer;
  /** Number of requests to a suffix so far. */
  calls(suffix: string): ReceivedRequest[];
  /** The bodies of the requests to a suffix so far. */
  sent(suffix: string): Record<string, unknown>[];
  nonceCalls(): number;
}

export async function startFakeSite(): Promise<FakeSite> {
  const site: FakeSite = {
    ...freshSite(),
    server: await startApiServer((call) => handleSiteRequest(site, call)),
    calls: (suffix) => site.server.calls.filter((call) => call.url === NAMESPACE + suffix),
    sent: (suffix) => site.calls(suffix).map(({ body }) => JSON.parse(body)),
    nonceCalls: () => site.server.calls.filter((call) => call.url.includes('rest-nonce')).length,
  };
  return site;
}

/** A promise that is settled from outside, to delay a response. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
