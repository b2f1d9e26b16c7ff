/**
 * What a feature may do with a request that all rules allow, and with its response. The gateway calls the hooks and
 * knows no feature.
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
  /** The request is for a page that is missing, in place of a hidden one; null for any other request. */
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
  /** To be called before the feature answers itself: sets the rules' headers and records the request for the log. */
  prepareResponse(): void;
  /** A password in the request was wrong. The one place where failed logins are counted. @param login that it was for */
  countLoginFailure(login: string): void;
  /** WordPress had to refuse a password unchecked. The request is recorded as refused by this rule. */
  recordCheckRefused(rule: string): void;
  /**
   * Waits until the request has been received whole, or until no more of it arrives before it is read.
   *
   * @param then called with whether the request is whole
   * @returns a function that stops waiting
   */
  whenReceived(then: (whole: boolean) => void): () => void;
  /**
   * Sends the same request without its body and with other headers, to learn how the web server answers. If it reaches
   * WordPress, the connector ends it at once, so that nothing is executed twice. Rejects when no response arrives in time.
   *
   * @param rawHeaders in place of those of the request
   */
  probe(rawHeaders: readonly string[]): Promise<ProbeResponse>;
}

/** Why the login is closed to a client. Times are milliseconds since the Unix epoch. */
export type LoginClosed =
  | { readonly kind: 'locked'; readonly until: number; readonly stage: 1 | 2 | 3 }
  | { readonly kind: 'away'; readonly until: number | null };

/** What becomes of an allowed request. The hook calls exactly one of the three, once, now or later. */
export interface Continuation {
  /**
   * Forwards it to WordPress. The gateway may still refuse it; then it calls `onNoResponse('nothing')`.
   *
   * @param context what WordPress has to know of logins in the request; null for nothing
   * @param hook for the response, or null
   */
  allow(context: LoginContext | null, hook: ResponseHook | null): void;
  /** Refuses it by a rule: the login is closed to the client, or busy (null). @param rule its name in the log */
  refuse(rule: string, closed: LoginClosed | null): void;
  /** The client has closed the connection meanwhile. */
  clientClosed(): void;
}

/** Hooks into the response of WordPress. Each calls either `onReport` or `onNoResponse`, even when the client is gone. */
export interface ResponseHook {
  /** Whether guard waits for the head of the response without the client, once WordPress has the whole request. */
  readonly outlivesClient: boolean;
  /**
   * The head of the response has arrived.
   *
   * @param report of the connector about logins in the request; null without one
   * @param headers of the response as WordPress sent them
   * @returns what the response has to wait for, or null; it must not reject
   */
  onReport(report: LoginReport | 'unreadable' | null, status: number, headers: RawHeaders): Promise<void> | null;
  /**
   * The head is about to be sent. May add headers.
   *
   * @returns `replaced`: the hook sends another response, `decoy-404`: the client gets that of a missing page
   */
  onHead(status: number, headers: RawHeaders): 'send' | 'replaced' | 'decoy-404';
  /** There will be no response. @param sent how much of the request the web server got */
  onNoResponse(sent: 'nothing' | 'part' | 'whole'): Promise<void> | null;
}

/** One answered request, as the gateway sees it. */
export interface ObservedRequest {
  readonly address: Address;
  /** As it stood on the request line, one character per byte. */
  readonly target: string;
  /** HTTP status of the answer. */
  readonly status: number;
  /** Name of the rule that refused it, or null. */
  readonly rule: string | null;
  /** Whether WordPress itself has proved to ask, to run its scheduled tasks. Never of what a rule has refused. */
  readonly isOwnCron?: boolean;
  readonly method?: string;
  /** Wrong passwords in it, and the login that the first of them was for. */
  readonly failedLogins?: number;
  readonly tried?: string;
  /** Id of the request, whose short form a refused visitor is told to quote. */
  readonly requestId?: string;
  /** The user agent; only asked for when the visit is not a repeat. */
  agent(): string | null;
  /** The header Referer, and scheme and host that were asked; like `agent`. */
  referer?(): string | null;
  origin?(): string | null;
}

/** Wrong passwords that became known after their request had been recorded. */
export interface LateFailure {
  readonly address: Address;
  readonly target: string;
  readonly failedLogins: number;
}

/** Receives each request that the gateway has answered. Never waits, never throws. */
export interface VisitRecorder {
  add(site: SiteId, seen: ObservedRequest): void;
  /** Counts wrong passwords of a request that was recorded before they were known. */
  addFailedLogins?(site: SiteId, late: LateFailure): void;
  /** Visits since the start that were not recorded, and rows that wait to be stored. */
  getCounts?(): { readonly dropped: number; readonly waiting: number };
}

/** Where features take part in requests. Called for every one of them, so none may do more than its own need. */
export interface RequestHooks {
  /** @returns true when the feature answers the request itself; it has called `prepareResponse` then */
  onPage(exchange: Exchange): boolean;
  /** A request is about to be forwarded to WordPress. */
  onAllowed(exchange: Exchange, next: Continuation): void;
  readonly visits: VisitRecorder;
}

/**
 * The hooks of all features in one object, so that the gateway makes one direct call for each.
 *
 * @throws Error when two features fill the same hook, or none does: without one, nothing would guard logins
 */
export function combineHooks(hooks: readonly Partial<RequestHooks>[]): RequestHooks {
  const only = <Name extends keyof RequestHooks>(name: Name): RequestHooks[Name] => {
    const [found, ...others] = hooks.flatMap((each) => each[name] ?? []) as RequestHooks[Name][];
    if (found === undefined || others.length > 0) {
      throw new Error(`${others.length === 0 ? 'No' : 'More than one'} feature has the hook ${name}.`);
    }
    return found;
  };
  return { onPage: only('onPage'), onAllowed: only('onAllowed'), visits: only('visits') };
}
