import { type Clock, resolveWithin } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SiteConfig, SiteId } from '../site.js';
import { HOUR } from './alert-rules.js';

/** Interval of the checks for alerts that became due: after quiet hours, a pause of a channel, or a wave. */
export const ROUND_MS = 5000;
/** How long a shutdown waits for running deliveries. Less than the limit of the whole shutdown. */
const STOP_MS = 3000;

export interface DeliveryRounds {
  /** Makes a site due at a time, at the latest. Default: now. */
  wake(site: SiteId, at?: number): void;
  /** Starts the rounds. */
  start(): void;
  /** Resolves when no delivery runs any more, or after some seconds: the shutdown does not wait for a slow receiver. */
  stop(): Promise<void>;
}

/**
 * Delivers the alerts of each site when they are due. Each channel is served on its own, so that a slow one delays
 * neither the other channels nor the other sites.
 */
export function createDeliveryRounds(deps: {
  readonly findSite: (site: SiteId) => SiteConfig | null;
  /** Queues what became due by itself. Returns when to call it again, or null. Throws StorageError. */
  readonly prepare: (site: SiteConfig) => Promise<number | null>;
  readonly listChannels: (site: SiteConfig) => readonly string[];
  /** Delivers what is due in a channel. Returns when something is due again, or null. Throws StorageError. */
  readonly deliver: (site: SiteConfig, channel: string) => Promise<number | null>;
  /** Called in each round. */
  readonly onRound: (now: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}): DeliveryRounds {
  const { findSite, prepare, listChannels, deliver, onRound, clock, logger } = deps;
  /** When each site is due. */
  const due = new Map<SiteId, number>();
  const preparing = new Map<SiteId, Promise<void>>();
  /** Running deliveries, by site and channel. */
  const running = new Map<string, Promise<void>>();
  /** Deliveries that became due while they were running. */
  const again = new Set<string>();
  const failing = new Set<SiteId>();
  let timer: NodeJS.Timeout | null = null;
  let started = false;
  let stopped = false;

  function wake(site: SiteId, at = clock()): void {
    due.set(site, Math.min(due.get(site) ?? at, at));
    schedule();
  }

  function schedule(): void {
    if (!started || stopped) return;
    if (timer !== null) clearTimeout(timer);
    const next = Math.min(...due.values()) - clock();
    timer = setTimeout(round, Math.min(Math.max(next, 0), ROUND_MS)).unref();
  }

  function round(): void {
    const now = clock();
    onRound(now);
    // A time far ahead was computed before the clock was set back.
    const ready = [...due].filter(([, at]) => at <= now || at > now + 25 * HOUR).map(([site]) => site);
    for (const site of ready) serve(site);
    schedule();
  }

  function serve(id: SiteId): void {
    due.delete(id);
    const site = findSite(id);
    if (site === null) return;
    if (preparing.has(id)) {
      due.set(id, clock() + 1000);
      return;
    }
    const prepared = prepare(site)
      .then((next) => {
        if (next !== null) wake(id, next);
        for (const channel of listChannels(site)) serveChannel(site, channel);
      })
      .catch((error: unknown) => fail(id, error))
      .finally(() => preparing.delete(id));
    preparing.set(id, prepared);
  }

  function serveChannel(site: SiteConfig, channel: string): void {
    const key = `${site.id}\n${channel}`;
    if (stopped) return;
    if (running.has(key)) {
      again.add(key);
      return;
    }
    const done = deliver(site, channel)
      .then((next) => {
        failing.delete(site.id);
        if (next !== null) wake(site.id, next);
      })
      .catch((error: unknown) => fail(site.id, error))
      .finally(() => {
        running.delete(key);
        if (again.delete(key)) wake(site.id);
      });
    running.set(key, done);
  }

  function fail(site: SiteId, error: unknown): void {
    wake(site, clock() + ROUND_MS);
    if (!failing.has(site) && !stopped) {
      logger.error({ event: 'alerts-read-failed', site, err: error }, 'Alerts can’t be read or stored yet.');
    }
    failing.add(site);
  }

  return {
    wake,
    start() {
      started = true;
      schedule();
    },
    async stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      const ended = Promise.allSettled([...preparing.values(), ...running.values()]).then(() => undefined);
      await resolveWithin(ended, STOP_MS);
    },
  };
}
