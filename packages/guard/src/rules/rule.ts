import type { SecurityOptions } from '@security-optimizer/contract/settings/protections';
import type { RawHeaders } from '../http/headers.js';
import type { RequestFacts } from '../http/request-facts.js';
import type { Language } from '../i18n/language.js';
import type { AddressSet } from '../lib/address-set.js';
import type { TimedAddresses } from '../lib/timed-addresses.js';
import type { SessionCookieNames, SignedXmlRpc, SitePaths } from '../site.js';
import type { LoginSettings } from './login-policy.js';

/** Everything a policy is compiled from. Plain data, read-only. */
export interface SnapshotInput {
  readonly options: SecurityOptions;
  readonly paths: SitePaths;
  /** Names of session cookies that the site has chosen; absent means that it has WordPress's own. */
  readonly sessionCookies?: SessionCookieNames;
  /** Addresses that the owner has blocked for good. */
  readonly blocked: AddressSet;
  /** Addresses that are blocked until a time; absent means none. */
  readonly blockedUntil?: TimedAddresses;
  readonly login: LoginSettings;
  /** The site's time zone as WordPress stores it: an IANA name or an offset. */
  readonly timeZone: string;
  /** Plugins whose signed requests pass while XML-RPC is off; absent means none. */
  readonly signedXmlRpc?: readonly SignedXmlRpc[];
  /** A network of sites; absent means no. */
  readonly multisite?: boolean;
  /** What guard's own pages are written in; absent means English. */
  readonly language?: Language;
}

/** How a refused visitor is answered. The page shows generic words only; the rule's name goes to the log. */
export interface Refusal {
  readonly status: 403 | 404;
  /**
   * `blocked`: this visitor is not wanted. `forbidden`: nobody may do this. `not-found`: as if it did not exist.
   * `login-access`: nobody may log in from there. `away`: nobody may log in now.
   */
  readonly page: 'blocked' | 'forbidden' | 'not-found' | 'login-access' | 'away';
  /** Set when the request alone can't tell: it is forwarded, and a response of this kind is sent on. */
  readonly unless?: HarmlessResponse;
}

/**
 * A response that shows that a path was not what its name looks like. `from-wordpress`: WordPress itself answered, so
 * that the name is none of a file. `no-feed`: its type is not that of a feed. `from-member`: the connector has looked who
 * asked, and it was nobody who works on the site. Since the request may change something, it is forwarded only while the
 * connector is certain to look.
 */
export type HarmlessResponse = 'from-wordpress' | 'no-feed' | 'from-member';

/** Asked once per request; null lets the request pass on to the next rule. */
export type Check = (facts: RequestFacts) => Refusal | null;

/** Changes the headers of an answer in place. Runs on WordPress's answers and on guard's own. */
export type ResponseHeaderEdit = (facts: RequestFacts, headers: RawHeaders) => void;

/** Lower-case names of request headers that WordPress must not see, or null for none. */
export type RequestHeaderStrip = (facts: RequestFacts) => ReadonlySet<string> | null;

export interface CompiledRule {
  readonly check?: Check;
  readonly editResponseHeaders?: ResponseHeaderEdit;
  readonly stripRequestHeaders?: RequestHeaderStrip;
}

/**
 * One rule. `prepare` does all the work that can be done ahead and returns null when the rule is off; the closures it
 * returns run on every request, so they must not allocate more than they need, wait, or read anything but the facts.
 */
export interface Rule {
  /** Stable name: it stands in the log and in the owner's list of refused visits. */
  readonly name: string;
  /** What happens to a request when the rule's `check` fails. A header edit that fails is reported and left out. */
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
 * Whether the last name of a path is right in the folder of the site or of WordPress, which may have a folder of its
 * own. Until the connector has told where, any first folder counts.
 */
export function inWordPressFolder({ admin }: SitePaths): (facts: RequestFacts) => boolean {
  const root = admin.slice(0, admin.lastIndexOf('/'));
  return ({ segments, routeSegments }) =>
    routeSegments.length <= 2 || (root !== '' && segments.slice(0, -1).join('/') === root.slice(1));
}
