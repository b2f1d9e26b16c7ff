import { checksPassword, compileLogin } from '../login/login-policy.js';
import type { Protection, Refusal } from './protection.js';

const NOT_FROM_HERE: Refusal = Object.freeze({ status: 403, page: 'login-access' });

/**
 * Only addresses on the list reach a login or wp-admin. Visitors keep what public pages need of wp-admin: AJAX, forms,
 * styles. Elsewhere, WordPress is told to refuse every password of theirs.
 */
export const loginAccess: Protection = {
  name: 'login-access',
  onError: 'refuse',
  prepare(input) {
    if (input.login.login_access.length === 0) return null;
    const login = compileLogin(input);
    return {
      check(facts) {
        if (login.mayLogIn(facts.address)) return null;
        const road = login.road(facts);
        if (road === 'login' || road === 'signup' || road === 'admin') return NOT_FROM_HERE;
        if (road === 'ajax' && facts.hasLoginCookie) return NOT_FROM_HERE;
        return checksPassword(facts, road) ? NOT_FROM_HERE : null;
      },
    };
  },
};
