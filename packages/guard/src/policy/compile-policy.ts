import { compileLogin, type LoginPolicy } from '../login/login-policy.js';
import { protections } from '../protections/index.js';
import {
  type Check,
  FORBIDDEN,
  type HeaderEdit,
  type HeaderStop,
  type PolicyInput,
  type RawHeaders,
  type Refusal,
} from '../protections/protection.js';
import type { RequestFacts } from '../proxy/request-facts.js';
import type { SitePaths } from '../site.js';

/** What guard does with a request. `rule` is the name of the protection that decided. */
export interface Verdict {
  readonly rule: string;
  readonly refusal: Refusal;
  /** Set when the rule failed and its `onError` decided. */
  readonly fault?: unknown;
}

/** A compiled, frozen snapshot of everything that decides on the requests of one site. */
export interface Policy {
  readonly paths: SitePaths;
  /** Addresses that reach nothing; also asked on its own, before a request is even parsed. */
  readonly blocked: PolicyInput['blocked'];
  readonly login: LoginPolicy;
  /** The first refusal, or null when the request may pass. */
  decide(facts: RequestFacts, onFault: (rule: string, cause: unknown) => void): Verdict | null;
  /** Names of request headers that WordPress must not see, or null. */
  stopHeaders(facts: RequestFacts): ReadonlySet<string> | null;
  /** Applies every rule's header edits in place. */
  editHeaders(facts: RequestFacts, headers: RawHeaders): void;
}

/** Compiles settings and lists into a snapshot. Pure; takes milliseconds for a million addresses. */
export function compilePolicy(input: PolicyInput): Policy {
  const checks: { rule: string; onError: 'allow' | 'refuse'; check: Check }[] = [];
  const edits: HeaderEdit[] = [];
  const stops: HeaderStop[] = [];
  for (const protection of protections) {
    const prepared = protection.prepare(input);
    if (prepared?.check) checks.push({ rule: protection.name, onError: protection.onError, check: prepared.check });
    if (prepared?.editHeaders) edits.push(prepared.editHeaders);
    if (prepared?.stopHeaders) stops.push(prepared.stopHeaders);
  }
  return Object.freeze({
    paths: input.paths,
    blocked: input.blocked,
    login: compileLogin(input),
    decide(facts: RequestFacts, onFault: (rule: string, cause: unknown) => void): Verdict | null {
      for (const { rule, onError, check } of checks) {
        try {
          const refusal = check(facts);
          if (refusal !== null) return { rule, refusal };
        } catch (cause) {
          onFault(rule, cause);
          if (onError === 'refuse') return { rule, refusal: FORBIDDEN, fault: cause };
        }
      }
      return null;
    },
    stopHeaders(facts: RequestFacts): ReadonlySet<string> | null {
      let all: ReadonlySet<string> | null = null;
      for (const stop of stops) {
        const names = stop(facts);
        if (names !== null) all = all === null ? names : new Set([...all, ...names]);
      }
      return all;
    },
    editHeaders(facts: RequestFacts, headers: RawHeaders): void {
      for (const edit of edits) edit(facts, headers);
    },
  });
}
