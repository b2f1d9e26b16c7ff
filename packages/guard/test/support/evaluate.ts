import { defaultSecurityOptions, type SecurityOptions } from '@security-optimizer/contract/settings/protections';
import { type CanonicalPath, toCanonicalPath } from '../../src/http/canonical-path.js';
import { type RequestFacts, toRequestFacts } from '../../src/http/request-facts.js';
import { toAddress } from '../../src/lib/address.js';
import { AddressSet } from '../../src/lib/address-set.js';
import { evaluateInterpretations } from '../../src/rules/doubtful-paths.js';
import { defaultLoginSettings } from '../../src/rules/login-policy.js';
import { compileSnapshot, isFinal, type Snapshot } from '../../src/rules/snapshot.js';
import { defaultSitePaths, type SitePaths } from '../../src/site.js';

const all = (value: 0 | 1): SecurityOptions =>
  Object.fromEntries(Object.keys(defaultSecurityOptions).map((name) => [name, value])) as SecurityOptions;

export const allOff = all(0);
export const allOn = all(1);

/** The policy of a site with these options on and all others off. For tests. */
export function policyWith(options: Partial<SecurityOptions>, paths: Partial<SitePaths> = {}): Snapshot {
  return compileSnapshot({
    options: { ...allOff, ...options },
    paths: { ...defaultSitePaths, ...paths },
    blocked: AddressSet.empty,
    login: defaultLoginSettings,
    timeZone: 'UTC',
  });
}

export const noFault = (rule: string, cause: unknown): void => {
  throw new Error(`${rule} failed`, { cause });
};

/** The facts of a GET of this target. */
export function parseFacts(target: string, paths: Partial<SitePaths> = {}): RequestFacts {
  const canonical = toCanonicalPath(target);
  if (!canonical.ok) throw new Error(`${target}: ${canonical.reason}`);
  return toFacts(canonical.path, canonical.query, paths);
}

function toFacts(path: CanonicalPath, query: string, paths: Partial<SitePaths>): RequestFacts {
  return toRequestFacts({
    method: 'GET',
    address: toAddress([0, 0, 0xffff, 0xc0000201]),
    path,
    query,
    paths: { ...defaultSitePaths, ...paths },
  });
}

/**
 * Name of the rule that refuses a target, with a question mark when the response decides; `ambiguous` when another
 * program would read content that must not be served, or `passes`.
 */
export function evaluateTarget(snapshot: Snapshot, target: string, paths: Partial<SitePaths> = {}): string {
  const canonical = toCanonicalPath(target);
  if (!canonical.ok) return 'ambiguous';
  const { query, ambiguity } = canonical;
  const facts = toFacts(canonical.path, query, paths);
  const verdict = snapshot.evaluate(facts, noFault);
  if (isFinal(verdict)) return verdict.rule;
  const request = { facts, loginRoute: snapshot.login.getRoute(facts) };
  const other =
    ambiguity === null
      ? null
      : evaluateInterpretations(
          snapshot,
          { ...request, ambiguity, toFacts: (path) => toFacts(path, query, paths) },
          noFault,
        );
  if (other === 'refuse' || other === 'hidden') return 'ambiguous';
  const open = verdict ?? other;
  return open === null ? 'passes' : `${open.rule}?`;
}
