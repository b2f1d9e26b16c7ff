import type { VisitSink } from '../activity/visit.js';
import type { ApiHandler } from '../api/api-call.js';
import type { Logger } from '../lib/logger.js';
import type { LoginGate } from '../login/login-gate.js';
import type { SiteConfig } from '../site.js';
import type { Signal } from '../wordpress/signature.js';
import type { ExamineDeps } from './examine.js';
import type { GateObserver } from './gate-observer.js';
import type { KnownMembers } from './known-members.js';
import type { OpenTunnels } from './open-tunnels.js';
import type { RefusalCounts } from './refusal-counts.js';

/** What the gate needs of the rest of guard, the same for every request. */
export interface GateDeps extends ExamineDeps {
  readonly api: ApiHandler;
  readonly logger: Logger;
  readonly refusals: RefusalCounts;
  readonly observer: GateObserver;
  readonly timeoutMs: number;
  readonly idleMs: number;
  readonly login: LoginGate;
  readonly visits: VisitSink;
  readonly tunnels: OpenTunnels;
  readonly members: KnownMembers;
  /** What the connector said with an answer; never throws. */
  onSignal(site: SiteConfig, signal: Signal): void;
}
