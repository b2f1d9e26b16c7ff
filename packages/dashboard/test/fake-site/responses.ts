import type { LoginOptions } from '@security-optimizer/contract/login/schemas';
import { defaultSecurityOptions } from '@security-optimizer/contract/settings/protections';
import { type FakeLog, freshLog, handleLogRequest } from './activity-log.js';
import { freshLoginOptions, handleLoginRequest } from './login.js';
import { type FakeOverview, freshOverview, handleOverviewRequest } from './overview.js';
import { type Handler, ok, type ReceivedRequest, type Reply, staleNonce } from './replies.js';
import { storeSetting } from './settings.js';

export const NAMESPACE = '/wp-json/security-optimizer/v1';
const PROVIDER = '/wp-json/provider-settings/v1';

/** State of a fake site that is visible to the dashboard. */
export interface SiteState {
  options: Record<string, 0 | 1>;
  /** Signed XML-RPC requests that are allowed although XML-RPC is off. */
  signedXmlRpc: { signed_xml_rpc: 0 | 1; plugins: { id: string; name: string }[] };
  login: LoginOptions;
  log: FakeLog;
  overview: FakeOverview;
  /** The valid nonce; null when the session has ended. */
  nonce: string | null;
  /** Replaces the response to a call, by suffix. */
  readonly replies: Map<string, Handler>;
}

/** A site with default settings. */
export function freshSite(): SiteState {
  return {
    options: { ...defaultSecurityOptions },
    signedXmlRpc: { signed_xml_rpc: 1, plugins: [] },
    login: freshLoginOptions(),
    log: freshLog(),
    overview: freshOverview(),
    nonce: 'aaaaaaaaaa',
    replies: new Map(),
  };
}

/** Responds to a request like guard and WordPress. */
export function handleSiteRequest(site: SiteState, call: ReceivedRequest): ReturnType<Handler> {
  if (call.url.includes('rest-nonce')) {
    return site.nonce === null ? { status: 400, body: '0' } : { body: site.nonce };
  }
  if (site.nonce === null || call.headers['x-wp-nonce'] !== site.nonce) return staleNonce;
  const suffix = call.url.slice((call.url.startsWith(PROVIDER) ? PROVIDER : NAMESPACE).length);
  const reply = site.replies.get(suffix);
  if (reply !== undefined) return reply(call);
  if (suffix === '/fetch-options') return ok(toOptions(site, toPage(call)));
  if (suffix === '/signed-xml-rpc') {
    if (call.method === 'GET') return ok(site.signedXmlRpc);
    Object.assign(site.signedXmlRpc, JSON.parse(call.body));
    return ok(site.signedXmlRpc, 'Saved.');
  }
  const { options, login, log, overview } = site;
  if (suffix === '/activity-log-lifetime') noteUndo(log, JSON.parse(call.body));
  return (
    storeSetting([options, login, log.options, log.alerts], suffix, call.body) ??
    handleLoginRequest(login, suffix, call) ??
    handleLogRequest(log, suffix, call) ??
    handleOverviewRequest(overview, suffix, call) ?? { status: 404, body: '' }
  );
}

/** Fewer days can be undone for a minute. */
function noteUndo({ options, olderEntries }: FakeLog, { log_lifetime: after }: { log_lifetime: number }): void {
  const days = options.log_lifetime.find(({ selected }) => selected === 1)?.value ?? 0;
  options.log_lifetime_undo = after < days ? { days, seconds: 60, deletes: olderEntries > 0 ? 1 : 0 } : null;
}

export function toOptions(site: SiteState, page: string): object {
  if (page === 'login') return site.login;
  return page === 'activity' ? site.log.options : site.options;
}

/** Returns the page in the body of a request for options. */
export function toPage(call: ReceivedRequest): string {
  return (JSON.parse(call.body) as { page?: string }).page ?? '';
}

/** Stores the value of a simple setting and returns it, like guard. */
export function store({ options, login, log }: SiteState, suffix: string, body: string): Reply {
  return storeSetting([options, login, log.options, log.alerts], suffix, body) ?? { status: 404, body: '' };
}
