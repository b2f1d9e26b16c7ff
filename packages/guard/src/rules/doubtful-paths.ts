import type { Ambiguity, CanonicalPath } from '../http/canonical-path.js';
import { findApiRoute, type RequestFacts } from '../http/request-facts.js';
import { checksPassword, type LoginRoute } from './login-policy.js';
import { isFinal, needsStaffCheck, type OnRuleError, type Snapshot, type Verdict } from './snapshot.js';

/** A request whose path another program may interpret differently. */
export interface AmbiguousRequest {
  readonly ambiguity: Ambiguity;
  /** The facts in guard's interpretation, which the rules have allowed. */
  readonly facts: RequestFacts;
  readonly loginRoute: LoginRoute;
  /** The facts of the same request with another path. */
  readonly toFacts: (path: CanonicalPath) => RequestFacts;
}

/**
 * Evaluates the other interpretations of an ambiguous path. `refuse`: a program with such an interpretation would serve a
 * login, or content that a rule refuses. `hidden`: it would serve a login that must look like a missing page. Otherwise
 * the verdict that depends on the response, or null.
 */
export function evaluateInterpretations(
  snapshot: Snapshot,
  { ambiguity, facts, loginRoute, toFacts }: AmbiguousRequest,
  onRuleError: OnRuleError,
): 'refuse' | 'hidden' | Verdict | null {
  let open: Verdict | null = null;
  for (const path of ambiguity.interpretations) {
    const interpretation = toFacts(path);
    const verdict = snapshot.evaluate(interpretation, onRuleError);
    if (leadsToLogin(snapshot, interpretation, facts, loginRoute)) {
      const isHidden =
        snapshot.login.hasCustomUrl && interpretation.segments.some((name) => snapshot.login.hiddenNames.has(name));
      return isHidden ? 'hidden' : 'refuse';
    }
    if (isFinal(verdict) || needsStaffCheck(verdict)) return 'refuse';
    open ??= verdict;
  }
  return open;
}

/** Whether an interpretation leads to a login, a password check or guard's API while guard's own does not. */
function leadsToLogin(
  snapshot: Snapshot,
  interpretation: RequestFacts,
  facts: RequestFacts,
  loginRoute: LoginRoute,
): boolean {
  const { login } = snapshot;
  if (findApiRoute(interpretation.restRoute) !== null && interpretation.restRoute !== facts.restRoute) return true;
  const route = login.getRoute(interpretation);
  if (checksPassword(interpretation, route) && !checksPassword(facts, loginRoute)) return true;
  // The web server does not know the custom address, so only WordPress's own names are relevant.
  const isNamed = interpretation.segments.some((name) => name === 'xmlrpc.php' || login.hiddenNames.has(name));
  if (!isNamed) return false;
  if (interpretation.segments.includes('xmlrpc.php') && !facts.segments.includes('xmlrpc.php')) return true;
  return route !== loginRoute && route !== 'other' && route !== 'ajax';
}
