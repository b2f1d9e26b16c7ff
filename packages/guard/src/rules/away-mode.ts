import type { RequestFacts } from '../http/request-facts.js';
import { checksPassword, compileLoginPolicy } from './login-policy.js';
import type { Protection, Refusal } from './protection.js';

const AWAY: Refusal = Object.freeze({ status: 403, page: 'away' });

/**
 * While away nobody logs in, wp-admin is closed, and who is still signed in changes nothing. The public site is left
 * alone; passwords in forms of its own are refused by WordPress, which is told so with each request.
 */
export const awayMode: Protection = {
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
        const signedIn = facts.hasLoginCookie || facts.hasAuthorization;
        return signedIn && (route === 'ajax' || changesByRest(facts)) ? AWAY : null;
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
