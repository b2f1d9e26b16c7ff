import type { LoginOptions } from '@security-optimizer/contract/login';
import {
  defaultSecurityOptions,
  type SecurityField,
  siteSecurityToggles,
} from '@security-optimizer/contract/protections';
import { answerLog, type FakeLog, freshLog } from './fake-log.js';
import { answerLogin, freshLoginOptions } from './fake-login.js';
import { answerOverview, type FakeOverview, freshOverview } from './fake-overview.js';
import { type Handler, ok, type Reply, type SeenCall, staleNonce } from './replies.js';

export const NAMESPACE = '/wp-json/security-optimizer/v1';
const PROVIDER = '/wp-json/provider-settings/v1';

/** What a site with guard in front has stored, as far as the dashboard can see it. */
export interface SiteState {
  /** The options as they are stored. */
  options: Record<string, 0 | 1>;
  login: LoginOptions;
  log: FakeLog;
  overview: FakeOverview;
  /** The nonce that WordPress accepts at the moment; null when the session is gone. */
  nonce: string | null;
  /** Takes the place of the ordinary answer to a call, by its suffix. */
  readonly replies: Map<string, Handler>;
}

/** A site whose owner has changed nothing. */
export function freshSite(): SiteState {
  return {
    options: { ...defaultSecurityOptions },
    login: freshLoginOptions(),
    log: freshLog(),
    overview: freshOverview(),
    nonce: 'aaaaaaaaaa',
    replies: new Map(),
  };
}

/** Answers a call as guard and WordPress do. */
export function answerSite(site: SiteState, call: SeenCall): ReturnType<Handler> {
  if (call.url.includes('rest-nonce')) {
    return site.nonce === null ? { status: 400, body: '0' } : { body: site.nonce };
  }
  if (site.nonce === null || call.headers['x-wp-nonce'] !== site.nonce) return staleNonce;
  const suffix = call.url.slice((call.url.startsWith(PROVIDER) ? PROVIDER : NAMESPACE).length);
  const reply = site.replies.get(suffix);
  if (reply !== undefined) return reply(call);
  if (suffix === '/fetch-options') return ok(optionsOf(site, pageOf(call)));
  return (
    answerLogin(site.login, suffix, call) ??
    answerLog(site.log, suffix, call) ??
    answerOverview(site.overview, suffix, call) ??
    store(site, suffix, call.body)
  );
}

function optionsOf(site: SiteState, page: string): object {
  if (page === 'login') return site.login;
  return page === 'activity' ? site.log.options : site.options;
}

/** The page whose options a call asks for. */
export function pageOf(call: SeenCall): string {
  return (JSON.parse(call.body) as { page?: string }).page ?? '';
}

/** Does what guard does with a toggle: stores the value and answers it. */
export function store(site: SiteState, suffix: string, body: string): Reply {
  const toggle = siteSecurityToggles.find((item) => item.suffix === suffix);
  if (toggle === undefined) return { status: 404, body: '' };
  const value = (JSON.parse(body) as Record<SecurityField, 0 | 1>)[toggle.field];
  site.options[toggle.field] = value;
  return ok({ [toggle.field]: value }, value === 1 ? toggle.messages.on : toggle.messages.off);
}
