import type { EventEmitter } from 'node:events';
import type { LivePolicy } from '../policy/live-policy.js';
import type { SiteId } from '../site.js';
import type { RequestFacts } from './request-facts.js';

/** A WebSocket under way, or an answer that may never end. */
export interface OpenTunnel {
  readonly site: SiteId;
  /** What the rules were asked about when it was opened. */
  readonly facts: RequestFacts;
  /** Ends it at once, both ways. */
  cut(): void;
}

/**
 * Asks the rules again about WebSockets and streams of events under way whenever a site's rules change: nothing comes
 * through them that guard would look at, so whoever is blocked would otherwise stay connected as long as he likes.
 */
export class OpenTunnels {
  readonly #open = new Map<SiteId, Set<OpenTunnel>>();
  readonly #live: LivePolicy;
  readonly #onFault: (rule: string, cause: unknown) => void;

  constructor(live: LivePolicy, onFault: (rule: string, cause: unknown) => void) {
    this.#live = live;
    this.#onFault = onFault;
    live.onSwap((site) => this.#askAgain(site));
  }

  /** @param end what closes when it has ended */
  watch(end: Pick<EventEmitter, 'once'>, tunnel: OpenTunnel): void {
    const open = this.#open.get(tunnel.site);
    if (open === undefined) this.#open.set(tunnel.site, new Set([tunnel]));
    else open.add(tunnel);
    end.once('close', () => this.#delete(tunnel));
  }

  #delete(tunnel: OpenTunnel): void {
    const open = this.#open.get(tunnel.site);
    open?.delete(tunnel);
    if (open?.size === 0) this.#open.delete(tunnel.site);
  }

  #askAgain(site: SiteId): void {
    const open = this.#open.get(site);
    if (open === undefined) return;
    const policy = this.#live.get(site);
    for (const tunnel of [...open]) {
      if (policy.decide(tunnel.facts, this.#onFault) !== null) tunnel.cut();
    }
  }
}
