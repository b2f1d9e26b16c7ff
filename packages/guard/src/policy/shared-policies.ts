import { setBounded } from '../lib/set-bounded.js';
import type { PolicyInput } from '../protections/protection.js';
import { compilePolicy, type Policy } from './compile-policy.js';

/** Different snapshots that are remembered; beyond that the oldest is forgotten, and compiled again when it is met. */
const POLICIES_KEPT = 64;

/**
 * Compiles snapshots, and gives sites with the same settings the same one: with thousands of sites, most are alike. A
 * site with blocked addresses of its own has a snapshot of its own.
 */
export class SharedPolicies {
  readonly #kept = new Map<string, Policy>();

  compile(input: PolicyInput): Policy {
    if (input.blocked.size > 0) return compilePolicy(input);
    const { blocked, ...rest } = input;
    const key = JSON.stringify(rest);
    let policy = this.#kept.get(key);
    if (policy === undefined) {
      policy = compilePolicy(input);
      setBounded(this.#kept, key, policy, POLICIES_KEPT);
    }
    return policy;
  }
}
