import { compileLogin, type LoginPolicy } from '../login/login-policy.js';
import { protections } from '../protections/index.js';
import {
  type Check,
  FORBIDDEN,
  type HeaderEdit,
  type HeaderStop,
  type PolicyInput,
  type Protection,
  type RawHeaders,
  type Refusal,
} from '../protections/protection.js';
import type { RequestFacts } from '../proxy/request-facts.js';
import type { SitePaths } from '../site.js';
import { english, type Language } from '../texts/language.js';

/** What guard does with a request. `rule` is the name of the protection that decided. */
export interface Verdict {
  readonly rule: string;
  readonly refusal: Refusal;
  /** Set when the rule failed and its `onError` decided. */
  readonly fault?: unknown;
}

/** Told of a rule that threw. */
export type OnFault = (rule: string, cause: unknown) => void;

/** A compiled, frozen snapshot of everything that decides on the requests of one site. */
export interface Policy {
  readonly paths: SitePaths;
  /** Addresses that reach nothing; also asked on its own, before a request is even parsed. */
  readonly blocked: PolicyInput['blocked'];
  readonly login: LoginPolicy;
  /** What guard's own pages are written in. */
  readonly language: Language;
  /** The first refusal, or null when the request may pass. */
  decide(facts: RequestFacts, onFault: OnFault): Verdict | null;
  /** Names of request headers that WordPress must not see, or null. */
  stopHeaders(facts: RequestFacts, onFault: OnFault): ReadonlySet<string> | null;
  /** Applies every rule's header edits in place. One that fails is reported and the others still run. */
  editHeaders(facts: RequestFacts, headers: RawHeaders, onFault: OnFault): void;
}

/**
 * Compiles settings and lists into a snapshot. Pure; takes milliseconds for a million addresses.
 * @param rules all rules in order; given only by tests of what happens when one fails
 */
export function compilePolicy(input: PolicyInput, rules: readonly Protection[] = protections): Policy {
  const checks: { rule: string; onError: 'allow' | 'refuse'; check: Check }[] = [];
  const edits: { rule: string; edit: HeaderEdit }[] = [];
  const stops: { rule: string; stop: HeaderStop }[] = [];
  for (const protection of rules) {
    const prepared = protection.prepare(input);
    if (prepared?.check) checks.push({ rule: protection.name, onError: protection.onError, check: prepared.check });
    if (prepared?.editHeaders) edits.push({ rule: protection.name, edit: prepared.editHeaders });
    if (prepared?.stopHeaders) stops.push({ rule: protection.name, stop: prepared.stopHeaders });
  }
  return Object.freeze({
    paths: input.paths,
    blocked: input.blocked,
    login: compileLogin(input),
    language: input.language ?? english,
    decide(facts: RequestFacts, onFault: OnFault): Verdict | null {
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
    stopHeaders(facts: RequestFacts, onFault: OnFault): ReadonlySet<string> | null {
      let all: ReadonlySet<string> | null = null;
      for (const { rule, stop } of stops) {
        try {
          const names = stop(facts);
          if (names !== null) all = all === null ? names : new Set([...all, ...names]);
        } catch (cause) {
          onFault(rule, cause);
        }
      }
      return all;
    },
    editHeaders(facts: RequestFacts, headers: RawHeaders, onFault: OnFault): void {
      for (const { rule, edit } of edits) {
        try {
          edit(facts, headers);
        } catch (cause) {
          onFault(rule, cause);
        }
      }
    },
  });
}
