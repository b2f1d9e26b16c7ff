import type { EventEmitter } from 'node:events';
import type { RequestFacts } from '../http/request-facts.js';
import { isFinal, type LiveSnapshots, needsStaffCheck } from '../rules/snapshot.js';
import type { SiteId } from '../site.js';

/** An open WebSocket, or a response that may never end. */
export interface OpenTunnel {
  readonly site: SiteId;
  /** The facts that the rules saw when it was opened. */
  readonly facts: RequestFacts;
  /** Ends it at once in both directions. */
  close(): void;
}

/**
 * Evaluates open WebSockets and event streams again whenever the rules of a site change. Guard does not inspect their
 * content, so without this a client that is blocked later would stay connected.
 */
export class OpenTunnels {
  readonly #open = new Map<SiteId, Set<OpenTunnel>>();
  readonly #snapshots: LiveSnapshots;
  readonly #onRuleError: (rule: string, cause: unknown) => void;

  constructor(snapshots: LiveSnapshots, onRuleError: (rule: string, cause: unknown) => void) {
    this.#snapshots = snapshots;
    this.#onRuleError = onRuleError;
    snapshots.onSwap((site) => this.#evaluateAgain(site));
  }

  /** @param end emits `close` when the tunnel has ended */
  add(end: Pick<EventEmitter, 'once'>, tunnel: OpenTunnel): void {
    const open = this.#open.get(tunnel.site);
    if (open === undefined) this.#open.set(tunnel.site, new Set([tunnel]));
    else open.add(tunnel);
    end.once('close', () => this.#delete(tunnel));
  }

  /** Ends all of them: a stopping guard can't wait for what may never end. Their clients open them again. */
  closeAll(): void {
    for (const open of [...this.#open.values()]) for (const tunnel of [...open]) tunnel.close();
  }

  #delete(tunnel: OpenTunnel): void {
    const open = this.#open.get(tunnel.site);
    open?.delete(tunnel);
    if (open?.size === 0) this.#open.delete(tunnel.site);
  }

  #evaluateAgain(site: SiteId): void {
    const open = this.#open.get(site);
    if (open === undefined) return;
    const snapshot = this.#snapshots.get(site);
    for (const tunnel of [...open]) {
      const verdict = snapshot.evaluate(tunnel.facts, this.#onRuleError);
      if (isFinal(verdict) || needsStaffCheck(verdict)) tunnel.close();
    }
  }
}
