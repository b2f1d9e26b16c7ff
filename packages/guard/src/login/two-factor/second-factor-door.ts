import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SiteConfig } from '../../site.js';
import type { Language } from '../../texts/language.js';

/** A visitor at the second factor's pages. */
export interface DoorVisit {
  readonly site: SiteConfig;
  /** Canonical address. */
  readonly address: string;
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly requestId: string;
  /** Path (with leading slash, home included) at which the login is reached now: `/wp-login.php` or the slug. */
  readonly loginPath: string;
  /** The site's language. */
  readonly language: Language;
}

/** What the connector reported when a password was right but a second factor is needed. */
export interface FactorNeeded {
  readonly userId: number;
  readonly login: string;
  readonly remember: boolean;
  /** Where WordPress would have sent the visitor. */
  readonly redirect: string;
  /** The log-in dialog inside wp-admin (`interim-login`). */
  readonly interim: boolean;
  /** Another one once the user has another password, or another role by which it is needed or not. */
  readonly stamp: string;
}

/**
 * Guard's own pages of the second factor. The proxy calls `handle` for requests to the login path with
 * `?action=second-factor` (challenge, enrolment, codes; GET shows, POST acts) or `?action=second-factor-setup` (an
 * administrator sets up the own factor), and `begin` when a password was right. Both own the response and never throw.
 */
export interface SecondFactorDoor {
  handle(request: IncomingMessage, response: ServerResponse, visit: DoorVisit): void;
  begin(request: IncomingMessage, response: ServerResponse, visit: DoorVisit, needed: FactorNeeded): void;
  /** Users for whom the cookies of this request hold a valid trusted-device token. Synchronous: from memory. */
  trustedUsers(site: SiteConfig, cookieHeader: string | undefined): readonly number[];
}
