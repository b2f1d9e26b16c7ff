import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestHooks } from '../hooks.js';
import type { Logger } from '../lib/logger.js';
import type { SiteConfig } from '../site.js';
import type { SharedAssets } from '../sites/shared-assets.js';
import type { Signal } from '../wordpress/signature.js';
import type { SiteOrigin } from '../wordpress/site-origin.js';
import type { StaffChecks } from '../wordpress/staff-checks.js';
import type { EvaluateContext } from './evaluate.js';
import type { GatewayObserver, RefusalCounter } from './observer.js';
import type { OpenTunnels } from './open-tunnels.js';
import type { Peer } from './peer.js';
import type { RelayRequest } from './relay.js';
import type { SessionCache } from './visits.js';

/** What the gateway uses from the rest of guard; the same object for every request. */
export interface GatewayContext extends EvaluateContext, RequestHooks {
  readonly api: ApiHandler;
  readonly logger: Logger;
  readonly refusals: RefusalCounter;
  readonly observer: GatewayObserver;
  readonly idleMs: number;
  readonly sharedAssets: SharedAssets;
  readonly tunnels: OpenTunnels;
  readonly sessions: SessionCache;
  readonly staffChecks: Pick<StaffChecks, 'isCertain' | 'confirm' | 'recordMissingSignal'>;
  /** Passes requests to the primary process; null in a guard of one process and in the primary process itself. */
  readonly relay: RelayRequest | null;
  /** The peer of a connection that is open. */
  findPeer(socket: Socket): Peer | undefined;
  /** A response to a request of this origin carried this signal of the connector. Must not throw. */
  onSignal(site: SiteConfig, signal: Signal, origin: SiteOrigin): void;
  /**
   * A client on another machine sent a request through guard, and the connector signed the response. Called only for
   * sites that do not require guard. Must not throw.
   */
  onGuarded(site: SiteConfig): void;
  /** WordPress sent no complete response. Must not throw. */
  onNoUpstreamResponse(site: SiteConfig): void;
}

/** A request to the REST API, by pretty path or by `rest_route`. */
export interface ApiRequest {
  readonly site: SiteConfig;
  /** `plugin`: the plugin's own API; `provider`: the provider's shared settings API. */
  readonly namespace: 'plugin' | 'provider';
  /** Path below the namespace with a leading slash, as the client sent it, for example `/fetch-options`. */
  readonly route: string;
  /** Query string without the question mark and without `rest_route`; empty when there is none. */
  readonly query: string;
  /** Client address in canonical text, as guard sees it. WordPress receives it, and trust is decided by it. */
  readonly address: string;
  readonly scheme: 'http' | 'https';
  /** Host as the client sent it, with port if there was one. */
  readonly host: string;
  /** 16 hexadecimal digits. The log and the header to WordPress contain the same id. */
  readonly requestId: string;
  /** WordPress has recently confirmed a session of this browser. */
  readonly isRegisteredUser: boolean;
  /** Called as soon as WordPress confirms the session, whatever the outcome of the request. */
  onRegisteredUser(): void;
}

/** Handles an API request. Always sends a response and never throws. */
export type ApiHandler = (request: IncomingMessage, response: ServerResponse, call: ApiRequest) => void;
