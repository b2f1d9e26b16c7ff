import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Logger } from './lib/logger.js';
import { gateMetrics } from './metrics/gate-metrics.js';
import { metricsServer } from './metrics/metrics-server.js';
import { type GuardState, stateMetrics } from './metrics/state-metrics.js';
import type { GateObserver } from './proxy/gate-observer.js';

/** The metrics at work. */
export interface Metrics {
  readonly observer: GateObserver;
  /** Begins to serve them. Throws the system's error when the address can't be listened on. */
  serve(state: GuardState): Promise<void>;
  stop(): Promise<void>;
}

/** The part of the composition root that counts for Prometheus. Loaded only where metrics are wanted. */
export function composeMetrics(listen: { readonly host: string; readonly port: number }, logger: Logger): Metrics {
  const registry = new Registry();
  let stop = async (): Promise<void> => undefined;
  return {
    observer: gateMetrics(registry),
    async serve(state) {
      stateMetrics(registry, state);
      collectDefaultMetrics({ register: registry });
      const server = await metricsServer({ listen, registry, logger });
      stop = server.close;
      logger.info({ event: 'metrics-served', url: server.url }, `Metrics are at ${server.url}/metrics.`);
    },
    stop: () => stop(),
  };
}
