import { findApiRoute, type RequestFacts } from '../http/request-facts.js';
import { checksPassword, compileLoginPolicy } from './login-policy.js';
import type { Refusal, Rule } from './rule.js';

const AWAY: Refusal = Object.freeze({ status: 403, page: 'away' });
const AWAY_FOR_STAFF: Refusal = Object.freeze({ ...AWAY, unless: 'from-member' });

/**
 * While away nobody logs in, wp-admin is closed, and those who work on the site change nothing. The public site is left
 * alone; passwords in forms of its own are refused by WordPress, which is told so with each request.
 *
 * Members without a part in that work (customers, subscribers) use admin-ajax and the REST API as on any day. Who somebody
 * is, only WordPress can tell from a cookie or a token: the connector does, before anything is done.
 */
export const awayMode: Rule = {
  name: 'away-mode',
  onError: 'refuse',
  compile(input) {
    if (input.login.away_mode.type === 'off') return null;
    const login = compileLoginPolicy(input);
    return {
      check(facts) {
        if (!login.away(facts.now).away) return null;
        const route = login.getRoute(facts);
        if (route === 'login' || route === 'signup' || route === 'admin') return AWAY;
        if (checksPassword(facts, route) || facts.signedXmlRpc !== null) return AWAY;
        if (!facts.hasLoginCookie && !facts.hasAuthorization) return null;
        if (route !== 'ajax' && !changesByRest(facts)) return null;
        // Guard's own API is for administrators alone, and `Basic` is a password.
        return facts.hasBasic || findApiRoute(facts.restRoute) !== null ? AWAY : AWAY_FOR_STAFF;
      },
    };
  },
};

/** WordPress lets a GET say that it means another method (`_method`, `X-HTTP-Method-Override`). */
function changesByRest({ restRoute, method, query, overridesMethod }: RequestFacts): boolean {
  if (restRoute === null) return false;
  return (
    (method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS') ||
    overridesMethod ||
    query.all('_method').length > 0
  );
}
