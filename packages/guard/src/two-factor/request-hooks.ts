import type { ServerResponse } from 'node:http';
import type { Exchange, RequestHooks } from '../hooks.js';
import { wantsJson } from '../http/wants-json.js';
import { toSeenAddress } from '../lib/carried-address.js';
import type { SecondFactor } from '../login/index.js';
import { readOwnTarget } from './redirect-target.js';
import type { TwoFactorRequest } from './steps.js';
import type { TwoFactorFlow } from './two-factor-flow.js';

/** Actions of the login page that the second factor handles. */
const ACTIONS: ReadonlySet<string> = new Set(['second-factor', 'second-factor-setup']);

/** Creates the hooks that handle the pages of the second factor, and logins that need a code. */
export function createTwoFactorHooks(flow: TwoFactorFlow): Pick<RequestHooks, 'onPage'> & SecondFactor {
  return {
    onPage(exchange) {
      const { loginRoute, facts } = exchange.allowed;
      if (loginRoute !== 'login' || !ACTIONS.has(facts.query.all('action').at(-1) ?? '')) return false;
      exchange.prepareResponse();
      flow.handle(exchange.request, exchange.response, toTwoFactorRequest(exchange));
      return true;
    },
    trustedUsers: flow.trustedUsers,
    begin(exchange, factor, { status, headers }) {
      const { allowed, request, response } = exchange;
      const { facts, scheme, host, uri, target, site } = allowed;
      const { id: userId, site: sitePath, withheld, ...needed } = factor;
      const sent = { method: facts.method, scheme, host, target: uri ?? target };
      // A target that the visitor requested takes precedence; WordPress validates it when it creates the session.
      const own = withheld ? readOwnTarget(sent, { status, headers, site: site.config }) : null;
      const isOwn = own !== null && (status !== 200 || needed.redirect === '');
      exchange.prepareResponse();
      const json = wantsJson(request.headers, facts);
      if (json) copyCorsHeaders(headers, response);
      const requirement = { userId, ...needed, sitePath, decided: isOwn, redirect: isOwn ? own : needed.redirect };
      flow.begin(request, response, toTwoFactorRequest(exchange), requirement, json);
    },
  };
}

function toTwoFactorRequest({ allowed, requestId }: Exchange): TwoFactorRequest {
  const { site, address, scheme, host, snapshot, facts } = allowed;
  const { language, login } = snapshot;
  const { loginPath } = login.getLoginPaths(facts);
  const seen = toSeenAddress(address).text;
  const { hasLoginCookie: mayBeSignedIn } = facts;
  return { site: site.config, address: seen, scheme, host, requestId, loginPath, language, mayBeSignedIn };
}

/** Allows a page of another origin to read the response where WordPress allows it (Fetch Standard, section 3.2). */
function copyCorsHeaders(headers: readonly string[], response: ServerResponse): void {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (/^access-control-/i.test(name)) response.setHeader(name, headers[i + 1] as string);
    else if (/^vary$/i.test(name)) response.appendHeader(name, headers[i + 1] as string);
  }
}
