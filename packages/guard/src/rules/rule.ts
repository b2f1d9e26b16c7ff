import type { SecurityOptions } from '@security-optimizer/contract/settings/protections';
import type { RawHeaders } from '../http/headers.js';
import type { RequestFacts } from '../http/request-facts.js';
import type { Language } from '../i18n/language.js';
import type { AddressSet } from '../lib/address-set.js';
import type { TimedAddresses } from '../lib/timed-addresses.js';
import type { SessionCookieNames, SignedXmlRpc, SitePaths } from '../site.js';
import type { LoginSettings } from './login-policy.js';

/** The input of a snapshot. Plain data, read-only. */
export interface SnapshotInput {
  readonly options: SecurityOptions;
  readonly paths: SitePaths;
  /** Names of session cookies that the site has chosen. Default: WordPress's own. */
  readonly sessionCookies?: SessionCookieNames;
  /** Addresses that the owner has blocked permanently. */
  readonly blocked: AddressSet;
  /** Addresses that are blocked until a time. Default: none. */
  readonly blockedUntil?: TimedAddresses;
  readonly login: LoginSettings;
  /** The site's time zone as WordPress stores it: an IANA name or an offset. */
  readonly timeZone: string;
  /** Plugins whose signed requests are allowed while XML-RPC is off. Default: none. */
  readonly signedXmlRpc?: readonly SignedXmlRpc[];
  /** Whether the site is a network of sites. Default: false. */
  readonly multisite?: boolean;
  /** Language of guard's own pages. Default: English. */
  readonly language?: Language;
}

/** How a request is refused. The page shows generic words only; the rule's name is written to the log. */
export interface Refusal {
  readonly status: 403 | 404;
  /**
   * `blocked`: this visitor is blocked. `forbidden`: no one may do this. `not-found`: as if it did not exist.
   * `login-access`: logins are not allowed from this address. `away`: logins are closed now.
   */
  readonly page: 'blocked' | 'forbidden' | 'not-found' | 'login-access' | 'away';
  /**
   * Set when the decision depends on the response: the request is forwarded, and a response of this kind is sent to the
   * client.
   */
  readonly unless?: HarmlessResponse;
}

/**
 * A response that proves that a path was not what its name suggests. `from-wordpress`: WordPress itself responded, so
 * the name is not that of a file. `no-feed`: its type is not that of a feed. `from-member`: the connector has checked
 * the user, who is not a member of the staff. Since such a request may change data, it is forwarded only while the
 * connector is certain to check it.
 */
export type HarmlessResponse = 'from-wordpress' | 'no-feed' | 'from-member';

/** Evaluated once per request. Null passes the request to the next rule. */
export type Check = (facts: RequestFacts) => Refusal | null;

/** Changes the headers of a response in place, for WordPress's responses and guard's own. */
export type ResponseHeaderEdit = (facts: RequestFacts, headers: RawHeaders) => void;

/** Lower-case names of request headers that WordPress must not see, or null for none. */
export type RequestHeaderStrip = (facts: RequestFacts) => ReadonlySet<string> | null;

export interface CompiledRule {
  readonly check?: Check;
  readonly editResponseHeaders?: ResponseHeaderEdit;
  readonly stripRequestHeaders?: RequestHeaderStrip;
}

/**
 * A rule. `compile` does all the work that can be done in advance and returns null when the rule is off. The functions
 * that it returns run on every request, so they must not allocate more than they need, wait, or read anything but the
 * facts.
 */
export interface Rule {
  /** Stable name, used in the log and in the owner's list of refused visits. */
  readonly name: string;
  /** The decision when the rule's `check` throws. A header edit that throws is reported and skipped. */
  readonly onError: 'allow' | 'refuse';
  compile(input: SnapshotInput): CompiledRule | null;
}

export const FORBIDDEN: Refusal = Object.freeze({ status: 403, page: 'forbidden' });
export const NOT_FOUND: Refusal = Object.freeze({ status: 404, page: 'not-found' });
export const FORBIDDEN_FILE: Refusal = Object.freeze({ ...FORBIDDEN, unless: 'from-wordpress' });
export const FILE_NOT_FOUND: Refusal = Object.freeze({ ...NOT_FOUND, unless: 'from-wordpress' });
export const FEED_NOT_FOUND: Refusal = Object.freeze({ ...NOT_FOUND, unless: 'no-feed' });
export const BLOCKED: Refusal = Object.freeze({ status: 403, page: 'blocked' });

/**
 * Whether the last segment of a path is in the folder of the site or of WordPress, which may have its own folder. Until
 * the connector has reported that folder, any first folder counts.
 */
export function inWordPressFolder({ admin }: SitePaths): (facts: RequestFacts) => boolean {
  const root = admin.slice(0, admin.lastIndexOf('/'));
  return ({ segments, routeSegments }) =>
    routeSegments.length <= 2 || (root !== '' && segments.slice(0, -1).join('/') === root.slice(1));
}
