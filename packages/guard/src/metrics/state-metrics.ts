import { Gauge, type Registry } from 'prom-client';
import type { ConnectorState } from '../site.js';

/** How things stand with guard; each is asked when the metrics are. */
export interface GuardState {
  /** Connections of visitors. */
  connections(): number;
  /** Addresses and browsers that failed to log in too often and have to wait. */
  loginLocks(): number;
  /** How the connector of each site is. */
  connectors(): Iterable<ConnectorState['kind']>;
}

const KINDS: readonly ConnectorState['kind'][] = ['ok', 'missing', 'other_secret', 'unreachable', 'unknown'];

/** Shows how things stand, all sites together. */
export function stateMetrics(registry: Registry, state: GuardState): void {
  const registers = [registry];
  new Gauge({
    ...{ name: 'security_optimizer_connections', registers },
    help: 'Connections of visitors that are open.',
    collect() {
      this.set(state.connections());
    },
  });
  new Gauge({
    ...{ name: 'security_optimizer_login_locks', registers },
    help: 'Addresses and browsers that failed to log in too often and have to wait.',
    collect() {
      this.set(state.loginLocks());
    },
  });
  new Gauge({
    ...{ name: 'security_optimizer_sites', registers, labelNames: ['connector'] as const },
    help: 'Sites, by how their connector is.',
    collect() {
      for (const connector of KINDS) this.set({ connector }, 0);
      for (const connector of state.connectors()) this.inc({ connector });
    },
  });
}
