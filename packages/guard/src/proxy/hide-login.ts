import { knownDevice } from '../login/device-cookie.js';
import type { LoginRoad } from '../login/login-road.js';
import { holdsVisitMark } from '../login/visit-cookie.js';
import type { Policy } from '../policy/compile-policy.js';
import { type Decoy, decoyKey, decoyTarget } from './decoy-target.js';

/** What the road is decided by, once the facts are known. */
export interface Approach {
  readonly policy: Policy;
  readonly road: LoginRoad;
  readonly target: string;
  readonly secret: string;
  readonly cookie: string | undefined;
  readonly now: number;
}

/**
 * With a custom login address: the target of a missing page beside the one that was asked for, when that one must not
 * be seen to exist; else null.
 *
 * @param requestId of the request that the decoy stands for
 */
export function decoyFor(approach: Approach, requestId: string): Decoy | null {
  const { policy, road, target } = approach;
  if (!policy.login.custom) return null;
  // While the owner is away no page of wp-admin gets as far as WordPress, which alone knows what a cookie is worth.
  const forKnown = road === 'asset' || (road === 'admin' && policy.login.away(approach.now).away);
  const hidden = road === 'hidden' || (forKnown && !wasLetIn(approach));
  return hidden ? decoyTarget(target, policy.login.hidden, decoyKey(approach.secret, requestId)) : null;
}

/** Whether this browser was at the custom address lately, or has logged in before. Nobody else can hold such a mark. */
export function wasLetIn({ secret, cookie, now }: Pick<Approach, 'secret' | 'cookie' | 'now'>): boolean {
  return holdsVisitMark(secret, cookie, now) || knownDevice(secret, cookie, now) !== null;
}

/** The target of WordPress's own script behind a custom address. The connector sees to it that a sign-up stays one. */
export function loginTarget({ login }: Policy, road: 'login' | 'signup', query: string): string {
  const own = road === 'login' ? login.scriptPath : login.signupTarget;
  if (query === '') return own;
  // PHP takes the last of several values: that of WordPress's own.
  const [script, action] = own.split('?');
  return `${script}?${query}${action === undefined ? '' : `&${action}`}`;
}
