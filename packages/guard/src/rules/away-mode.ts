import { findApiRoute, type RequestFacts } from '../http/request-facts.js';
import { checksPassword, compileLoginPolicy } from './login-policy.js';
import type { Refusal, Rule } from './rule.js';

const AWAY: Refusal = Object.freeze({ status: 403, page: 'away' });
const AWAY_FOR_STAFF: Refusal = Object.freeze({ ...AWAY, unless: 'from-member' });

/**
 * While Away Mode is on, no user can log in, wp-admin is closed, and staff can change nothing. The public site stays
 * open; WordPress refuses passwords in the site's own forms, as guard instructs it with each request.
 *
 * Members (customers, subscribers) use admin-ajax and the REST API as usual. Only WordPress can identify the user of a
 * cookie or a token: the connector does so before the request is processed.
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
        // Guard's own API is for administrators only, and `Basic` holds a password.
        return facts.hasBasic || findApiRoute(facts.restRoute) !== null ? AWAY : AWAY_FOR_STAFF;
      },
    };
  },
};

/**
 * Whether a REST request may change data. WordPress accepts another method in a GET (`_method`,
 * `X-HTTP-Method-Override`).
 */
function changesByRest({ restRoute, method, query, overridesMethod }: RequestFacts): boolean {
  if (restRoute === null) return false;
  return (
    (method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS') ||
    overridesMethod ||
    query.all('_method').length > 0
  );
}
