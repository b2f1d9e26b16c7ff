import { defaultSecurityOptions } from '@security-optimizer/contract/settings/protections';
import type { RawHeaders } from '../http/headers.js';
import type { RequestFacts } from '../http/request-facts.js';
import { USUAL_SESSION_COOKIES } from '../http/session-cookies.js';
import { english, type Language } from '../i18n/language.js';
import { AddressSet } from '../lib/address-set.js';
import { setBounded } from '../lib/collections.js';
import { defaultSitePaths, type SessionCookieNames, type SignedXmlRpc, type SiteId, type SitePaths } from '../site.js';
import { protections } from './index.js';
import { compileLoginPolicy, defaultLoginSettings, type LoginPolicy } from './login-policy.js';
import {
  type Check,
  FORBIDDEN,
  type Refusal,
  type RequestHeaderStrip,
  type ResponseHeaderEdit,
  type Rule,
  type SnapshotInput,
} from './rule.js';

/** The decision on a request. `rule` is the name of the protection that decided. */
export interface Verdict {
  readonly rule: string;
  readonly refusal: Refusal;
  /** Set when the rule threw and its `onError` decided. */
  readonly fault?: unknown;
}

/** Whether a verdict refuses the request whatever the response is. */
export function isFinal(verdict: Verdict | null): verdict is Verdict {
  return verdict !== null && verdict.refusal.unless === undefined;
}

/** Whether a verdict refuses the request unless the connector checks the user before the request is processed. */
export function needsStaffCheck(verdict: Verdict | null): verdict is Verdict {
  return verdict?.refusal.unless === 'from-member';
}

/** Called for a rule that threw. */
export type OnRuleError = (rule: string, cause: unknown) => void;

/** A compiled, frozen snapshot of everything that determines the decisions on the requests of one site. */
export interface Snapshot {
  readonly paths: SitePaths;
  readonly sessionCookies: SessionCookieNames;
  readonly login: LoginPolicy;
  /**
   * Plugins whose signed requests are allowed although XML-RPC is off. Empty while it is on, since nothing is checked
   * then.
   */
  readonly signedXmlRpc: readonly SignedXmlRpc[];
  /** Language of guard's own pages. */
  readonly language: Language;
  /**
   * The first refusal, or null when the request is allowed. A refusal that depends on the response (`refusal.unless`)
   * is returned only when no other rule refuses the request.
   */
  evaluate(facts: RequestFacts, onRuleError: OnRuleError): Verdict | null;
  /** Names of request headers that WordPress must not see, or null. */
  stripRequestHeaders(facts: RequestFacts, onRuleError: OnRuleError): ReadonlySet<string> | null;
  /** Applies every rule's header edits in place. One that throws is reported, and the others still run. */
  editResponseHeaders(facts: RequestFacts, headers: RawHeaders, onRuleError: OnRuleError): void;
}

/**
 * Compiles settings and lists into a snapshot. Pure; takes milliseconds for a million addresses.
 * @param rules all rules in order; passed only by tests of rules that throw
 */
export function compileSnapshot(input: SnapshotInput, rules: readonly Rule[] = protections): Snapshot {
  const checks: { rule: string; onError: 'allow' | 'refuse'; check: Check }[] = [];
  const edits: { rule: string; edit: ResponseHeaderEdit }[] = [];
  const strips: { rule: string; strip: RequestHeaderStrip }[] = [];
  for (const protection of rules) {
    const prepared = protection.compile(input);
    if (prepared?.check) checks.push({ rule: protection.name, onError: protection.onError, check: prepared.check });
    if (prepared?.editResponseHeaders) edits.push({ rule: protection.name, edit: prepared.editResponseHeaders });
    if (prepared?.stripRequestHeaders) strips.push({ rule: protection.name, strip: prepared.stripRequestHeaders });
  }
  return Object.freeze({
    paths: input.paths,
    sessionCookies: input.sessionCookies ?? USUAL_SESSION_COOKIES,
    login: compileLoginPolicy(input),
    signedXmlRpc: input.options.disable_xml_rpc === 1 ? (input.signedXmlRpc ?? []) : [],
    language: input.language ?? english,
    evaluate(facts: RequestFacts, onRuleError: OnRuleError): Verdict | null {
      let open: Verdict | null = null;
      for (const { rule, onError, check } of checks) {
        try {
          const refusal = check(facts);
          if (refusal === null) continue;
          if (refusal.unless === undefined) return { rule, refusal };
          open ??= { rule, refusal };
        } catch (cause) {
          onRuleError(rule, cause);
          if (onError === 'refuse') return { rule, refusal: FORBIDDEN, fault: cause };
        }
      }
      return open;
    },
    stripRequestHeaders(facts: RequestFacts, onRuleError: OnRuleError): ReadonlySet<string> | null {
      let all: ReadonlySet<string> | null = null;
      for (const { rule, strip } of strips) {
        try {
          const names = strip(facts);
          if (names !== null) all = all === null ? names : new Set([...all, ...names]);
        } catch (cause) {
          onRuleError(rule, cause);
        }
      }
      return all;
    },
    editResponseHeaders(facts: RequestFacts, headers: RawHeaders, onRuleError: OnRuleError): void {
      for (const { rule, edit } of edits) {
        try {
          edit(facts, headers);
        } catch (cause) {
          onRuleError(rule, cause);
        }
      }
    },
  });
}

/** The snapshots in force, one per site. A swap is atomic: a request sees the old one or the new one, never a mix. */
export class LiveSnapshots {
  readonly #snapshots = new Map<SiteId, Snapshot>();
  #onSwap: (site: SiteId) => void = () => {};
  /** Defaults of a fresh site are in force until a site's own settings are loaded. */
  readonly #initial = compileSnapshot({
    options: defaultSecurityOptions,
    paths: defaultSitePaths,
    blocked: AddressSet.empty,
    login: defaultLoginSettings,
    timeZone: 'UTC',
  });

  get(site: SiteId): Snapshot {
    return this.#snapshots.get(site) ?? this.#initial;
  }

  swap(site: SiteId, snapshot: Snapshot): void {
    this.#snapshots.set(site, snapshot);
    this.#onSwap(site);
  }

  /** Deletes the snapshot of a site that is no longer served. */
  delete(site: SiteId): void {
    this.#snapshots.delete(site);
    this.#onSwap(site);
  }

  /**
   * Sets the only listener.
   * @param listener called whenever a site's snapshot has been replaced
   */
  onSwap(listener: (site: SiteId) => void): void {
    this.#onSwap = listener;
  }
}

/** Limit of cached snapshots. Beyond it the oldest is dropped, and compiled again when it is needed. */
const POLICIES_CACHED = 64;

/**
 * Compiles snapshots, and shares one among sites with the same settings: with thousands of sites, most are alike. A
 * site with its own blocked addresses has its own snapshot.
 */
export class SnapshotCache {
  readonly #cached = new Map<string, Snapshot>();

  compile(input: SnapshotInput): Snapshot {
    if (input.blocked.size > 0 || (input.blockedUntil?.size ?? 0) > 0) return compileSnapshot(input);
    const { blocked, blockedUntil, ...rest } = input;
    const key = JSON.stringify(rest);
    let snapshot = this.#cached.get(key);
    if (snapshot === undefined) {
      snapshot = compileSnapshot(input);
      setBounded(this.#cached, key, snapshot, POLICIES_CACHED);
    }
    return snapshot;
  }
}
