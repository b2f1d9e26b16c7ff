import type { CanonicalPath, Doubt } from '../http/canonical-path.js';
import { findApiRoute, type RequestFacts } from '../http/request-facts.js';
import { checksPassword, type LoginRoute } from './login-policy.js';
import { isFinal, needsStaffCheck, type OnRuleError, type Snapshot, type Verdict } from './snapshot.js';

/** A request whose path some program may read differently. */
export interface DoubtfulRequest {
  readonly doubt: Doubt;
  /** As guard reads it; the rules have let it pass. */
  readonly facts: RequestFacts;
  readonly loginRoute: LoginRoute;
  /** The facts of the same request with another path. */
  readonly toFacts: (path: CanonicalPath) => RequestFacts;
}

/**
 * What a doubtful path may be besides what guard reads. `refuse`: a program that reads it differently would serve what a
 * rule refuses, or a login. `hidden`: it would serve a login that must look like a missing page. Else the verdict that
 * the response decides on, or null.
 */
export function evaluateReadings(
  policy: Snapshot,
  { doubt, facts, loginRoute, toFacts }: DoubtfulRequest,
  onRuleError: OnRuleError,
): 'refuse' | 'hidden' | Verdict | null {
  let open: Verdict | null = null;
  for (const path of doubt.readings) {
    const reading = toFacts(path);
    const verdict = policy.evaluate(reading, onRuleError);
    if (leadsToLogin(policy, reading, facts, loginRoute)) {
      const isHidden = policy.login.hasCustomUrl && reading.segments.some((name) => policy.login.hiddenNames.has(name));
      return isHidden ? 'hidden' : 'refuse';
    }
    if (isFinal(verdict) || needsStaffCheck(verdict)) return 'refuse';
    open ??= verdict;
  }
  return open;
}

/** Whether a reading leads to a login, a password check or guard's API and guard's own reading does not. */
function leadsToLogin(policy: Snapshot, reading: RequestFacts, facts: RequestFacts, loginRoute: LoginRoute): boolean {
  const { login } = policy;
  if (findApiRoute(reading.restRoute) !== null && reading.restRoute !== facts.restRoute) return true;
  const route = login.getRoute(reading);
  if (checksPassword(reading, route) && !checksPassword(facts, loginRoute)) return true;
  // The web server does not know the custom address, so only WordPress's own names lead anywhere.
  const isNamed = reading.segments.some((name) => name === 'xmlrpc.php' || login.hiddenNames.has(name));
  if (!isNamed) return false;
  if (reading.segments.includes('xmlrpc.php') && !facts.segments.includes('xmlrpc.php')) return true;
  return route !== loginRoute && route !== 'other' && route !== 'ajax';
}
