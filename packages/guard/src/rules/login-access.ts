import { checksPassword, compileLoginPolicy } from './login-policy.js';
import { FORBIDDEN, type Refusal, type Rule } from './rule.js';

const REFUSED_ADDRESS: Refusal = Object.freeze({ status: 403, page: 'login-access' });

/**
 * Only addresses on the list may open a login or wp-admin. Other visitors keep the parts of wp-admin that public pages
 * need: AJAX, forms, styles. Elsewhere, WordPress is instructed to refuse all their passwords. With a custom login
 * address, login and wp-admin look like a missing page (`login-policy.ts`), and no response reveals that there is a
 * login.
 */
export const loginAccess: Rule = {
  name: 'login-access',
  onError: 'refuse',
  compile(input) {
    if (input.login.login_access.length === 0) return null;
    const login = compileLoginPolicy(input);
    const refusal = login.hasCustomUrl ? FORBIDDEN : REFUSED_ADDRESS;
    return {
      check(facts) {
        if (login.mayLogIn(facts.address)) return null;
        const route = login.getRoute(facts);
        if (route === 'login' || route === 'signup' || route === 'admin') return refusal;
        if (route === 'ajax' && facts.hasLoginCookie) return refusal;
        return checksPassword(facts, route) ? refusal : null;
      },
    };
  },
};
