/**
 * The hooks with which a feature takes part in a request that all rules allow, and in its response. The gateway calls
 * the hooks and imports no feature.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RawHeaders } from './http/headers.js';
import type { RequestFacts } from './http/request-facts.js';
import type { Address } from './lib/address.js';
import type { LoginRoute } from './rules/login-policy.js';
import type { Snapshot } from './rules/snapshot.js';
import type { SiteConfig, SiteId } from './site.js';
import type { LoginContext, LoginReport } from './wordpress/login-headers.js';
import type { Signal } from './wordpress/signature.js';

/** A request that all rules allow. */
export interface AllowedRequest {
  readonly site: { readonly config: SiteConfig };
  readonly snapshot: Snapshot;
  readonly facts: RequestFacts;
  readonly loginRoute: LoginRoute;
  /** Target of the request to WordPress's web server. */
  readonly target: string;
  /** Target that the client requested, if it differs from `target`; else null. */
  readonly uri: string | null;
  /** Set when the request is for a missing page that replaces a hidden one; null for any other request. */
  readonly decoy: { readonly reversible: boolean } | null;
  /** Host as the client sent it, with port if there was one. */
  readonly host: string;
  readonly address: Address;
  readonly scheme: 'http' | 'https';
}

/** The response to a probe, see `Exchange.probe`. */
export interface ProbeResponse {
  readonly status: number;
  readonly headers: RawHeaders;
  /** WordPress's connector signed the response: the request went past the web server. */
  readonly isSigned: boolean;
}

/** One allowed request and its response. */
export interface Exchange {
  readonly allowed: AllowedRequest;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** 16 hexadecimal digits. The log and the header to WordPress contain the same id. */
  readonly requestId: string;
  /** The connector's signal in the response of WordPress; `missing` before its head has arrived. */
  readonly signal: Signal;
  /** Must be called before the feature responds itself: sets the rules' headers and records the request for the log. */
  prepareResponse(): void;
  /** Counts a wrong password in the request as a failed login. @param login the login that was tried */
  countLoginFailure(login: string): void;
  /**
   * Counts passwords that WordPress had to refuse unchecked as failed logins. @param rule by which the request is
   * recorded as refused, or null
   */
  recordChecksRefused(passwords: number, rule: string | null): void;
  /**
   * Waits until the request has been received completely, or until no more of it arrives before it is read.
   *
   * @param then called with whether the request is complete
   * @returns a function that stops waiting
   */
  whenReceived(then: (isComplete: boolean) => void): () => void;
  /**
   * Sends the same request without its body and with other headers, to see how the web server responds. If it reaches
   * WordPress, the connector ends it at once, so that nothing is executed twice. Rejects when no response arrives in
   * time.
   *
   * @param rawHeaders used instead of those of the request
   */
  probe(rawHeaders: readonly string[]): Promise<ProbeResponse>;
}

/** Why the login is closed to a client. Times are milliseconds since the Unix epoch. */
export type LoginClosed =
  | { readonly kind: 'locked'; readonly until: number; readonly stage: 1 | 2 | 3 }
  | { readonly kind: 'away'; readonly until: number | null };

/** How an allowed request continues. The hook calls exactly one of the three methods, once, now or later. */
export interface Continuation {
  /**
   * Forwards the request to WordPress. The gateway may still refuse it; then it calls `onNoResponse('nothing')`.
   *
   * @param context the login context for WordPress; null for none
   * @param hook for the response, or null
   * @param mayCheckPasswords false: WordPress must check no password in it. Default: the context decides
   */
  allow(context: LoginContext | null, hook: ResponseHook | null, mayCheckPasswords?: boolean): void;
  /**
   * Refuses the request by a rule: the login is closed to the client, or busy (null). @param rule its name in the log
   */
  refuse(rule: string, closed: LoginClosed | null): void;
  /** Called when the client has closed the connection. */
  clientClosed(): void;
}

/**
 * Hooks into the response of WordPress. Each calls either `onReport` or `onNoResponse`, even after the client has
 * closed the connection.
 */
export interface ResponseHook {
  /**
   * Whether guard waits for the head of the response after the client has left, once WordPress has the whole request.
   */
  readonly outlivesClient: boolean;
  /**
   * Called when the head of the response has arrived.
   *
   * @param report the connector's login report; null without one
   * @param headers of the response as WordPress sent them
   * @returns a promise that delays the response, or null; it must not reject
   */
  onReport(report: LoginReport | 'unreadable' | null, status: number, headers: RawHeaders): Promise<void> | null;
  /**
   * Called before the head is sent. May add headers.
   *
   * @returns `replaced`: the hook sends another response; `decoy-404`: the client gets the response of a missing page
   */
  onHead(status: number, headers: RawHeaders): 'send' | 'replaced' | 'decoy-404';
  /** Called when no response will arrive. @param sent how much of the request the web server may have received */
  onNoResponse(sent: 'nothing' | 'part' | 'whole'): Promise<void> | null;
}

/** One answered request, as the gateway sees it. */
export interface ObservedRequest {
  readonly address: Address;
  /** As in the request line, one character per byte. */
  readonly target: string;
  /** HTTP status of the response. */
  readonly status: number;
  /** Name of the rule that refused it, or null. */
  readonly rule: string | null;
  /**
   * Whether WordPress itself has provably sent the request, to run its scheduled tasks. Never set for a refused
   * request.
   */
  readonly isOwnCron?: boolean;
  readonly method?: string;
  /** Number of passwords in the request that were wrong or refused unchecked, and the login of the first one. */
  readonly failedLogins?: number;
  readonly tried?: string;
  /** Id of the request. A refused visitor sees its short form as a reference. */
  readonly requestId?: string;
  /** The user agent. Called only when the visit is not a repeat. */
  agent(): string | null;
  /** The header Referer, and the requested scheme and host. Called like `agent`. */
  referer?(): string | null;
  origin?(): string | null;
}

/** Wrong passwords that became known after their request had been recorded. */
export interface LateFailure {
  readonly address: Address;
  readonly target: string;
  readonly failedLogins: number;
}

/** Receives each request that the gateway has answered. Never blocks, never throws. */
export interface VisitRecorder {
  add(site: SiteId, seen: ObservedRequest): void;
  /** Counts wrong passwords of a request that was recorded before they were known. */
  addFailedLogins?(site: SiteId, late: LateFailure): void;
  /** Visits since the start that were not recorded, and rows that have not been stored yet. */
  getCounts?(): { readonly dropped: number; readonly waiting: number };
}

/** The hooks of features. They are called for every request, so none may do more than it needs. */
export interface RequestHooks {
  /** @returns true when the feature responds to the request itself; then it has called `prepareResponse` */
  onPage(exchange: Exchange): boolean;
  /** Called before a request is forwarded to WordPress. */
  onAllowed(exchange: Exchange, next: Continuation): void;
  /**
   * Responds to a login that needs a second factor, for a request that another process has forwarded.
   *
   * @param factor as the connector reports it
   * @param withheld WordPress's response, which the client does not get
   */
  onFactor(exchange: Exchange, factor: NonNullable<LoginReport['factor']>, withheld: WithheldResponse): void;
  readonly visits: VisitRecorder;
}

/** The head of a response of WordPress that the client does not get. */
export interface WithheldResponse {
  readonly status: number;
  readonly headers: RawHeaders;
}

/**
 * Combines the hooks of all features in one object, so that the gateway makes one direct call for each.
 *
 * @throws Error when two features provide the same hook, or none does: without a hook, logins would be unprotected
 */
export function combineHooks(hooks: readonly Partial<RequestHooks>[]): RequestHooks {
  const only = <Name extends keyof RequestHooks>(name: Name): RequestHooks[Name] => {
    const [found, ...others] = hooks.flatMap((each) => each[name] ?? []) as RequestHooks[Name][];
    if (found === undefined || others.length > 0) {
      throw new Error(`${others.length === 0 ? 'No' : 'More than one'} feature has the hook ${name}.`);
    }
    return found;
  };
  return {
    onPage: only('onPage'),
    onAllowed: only('onAllowed'),
    onFactor: only('onFactor'),
    visits: only('visits'),
  };
}
