import { LOG_LIFETIME_UNDO_SECONDS } from '@security-optimizer/contract/activity/limits';
import type { LifetimeUndo } from '@security-optimizer/contract/activity/schemas';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import { Rounds } from '../lib/rounds.js';
import type { SiteId } from '../site.js';
import type { ActivityStore } from './activity-store.js';

const EVERY_MS = 60_000;
const DAY_SECONDS = 24 * 3600;
/** Pause between two steps, milliseconds, for other work of the writer thread. */
const PAUSE_MS = 5;
/** Blocked visitors that the log keeps although it has no rows of them; the newest. */
const BLOCKED_MAX = 10_000;

export interface Retention {
  start(): void;
  /** Notes the days of a site, which may have changed: a minute to undo the change begins. */
  noteDays(site: SiteId): void;
  /** Returns how the last change of a site's days can be undone, or null. */
  findUndo(site: SiteId): DaysUndo | null;
  /** Resolves when no step is running. */
  stop(): Promise<void>;
}

/** The days before a change, and the seconds that are left to undo it. */
export type DaysUndo = Omit<LifetimeUndo, 'deletes'>;

/**
 * The days that sites keep their log, as they apply to deletion. A lower number applies only after a while, so that the
 * owner can undo the change. A restart counts as a change, because the last one may have been a moment before.
 */
export class DeferredDays {
  readonly #counted = new Map<SiteId, number>();
  /** The last observed days. */
  readonly #latest = new Map<SiteId, number>();
  readonly #lowered = new Map<
    SiteId,
    { readonly days: number; readonly atMs: number; readonly before: number | undefined }
  >();

  constructor(private readonly graceMs: number) {}

  /** @returns the days whose entries must be kept */
  observe(site: SiteId, days: number, nowMs: number): number {
    const counted = this.#counted.get(site) ?? Number.POSITIVE_INFINITY;
    const lowered = this.#lowered.get(site);
    const before = this.#latest.get(site);
    this.#latest.set(site, days);
    if (days >= counted) {
      this.#lowered.delete(site);
      this.#counted.set(site, days);
      return days;
    }
    if (lowered?.days !== days) this.#lowered.set(site, { days, atMs: nowMs, before });
    else if (nowMs - lowered.atMs >= this.graceMs) {
      this.#lowered.delete(site);
      this.#counted.set(site, days);
      return days;
    }
    return counted;
  }

  /** Returns the days before the last observed change and the seconds until the new ones apply, if these are fewer. */
  findUndo(site: SiteId, nowMs: number): DaysUndo | null {
    const { days = 0, atMs = 0, before = 0 } = this.#lowered.get(site) ?? {};
    const seconds = Math.ceil((atMs + this.graceMs - nowMs) / 1000);
    return before > days && seconds > 0 ? { days: before, seconds } : null;
  }
}

/**
 * Deletes rows that are older than a site's days or exceed its number of rows, once a minute, in small steps. Lowered
 * days apply after a minute, see `DeferredDays`.
 */
export function createRetention(deps: {
  /** The sites, read at each round. */
  readonly sites: () => readonly SiteId[];
  readonly store: Pick<ActivityStore, 'retain'>;
  /** Returns the days that a site keeps its log. */
  readonly days: (site: SiteId) => number;
  /** Returns the maximum number of visits of a site. */
  readonly maxRows: (site: SiteId) => number;
  readonly blocked: (site: SiteId, limit: number) => Promise<readonly number[]>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly everyMs?: number;
  readonly graceMs?: number;
}): Retention {
  const { sites, store, maxRows, blocked, clock, logger, everyMs = EVERY_MS } = deps;
  const deferred = new DeferredDays(deps.graceMs ?? LOG_LIFETIME_UNDO_SECONDS * 1000);
  const observe = (site: SiteId): number => deferred.observe(site, deps.days(site), clock());
  const rounds = new Rounds(round, everyMs);
  let failing = false;

  async function clearUp(): Promise<void> {
    for (const site of sites()) {
      const days = observe(site);
      // Until a minute after the start, no row is old enough to be deleted for its age.
      const before = Number.isFinite(days) ? Math.floor(clock() / 1000) - days * DAY_SECONDS : 0;
      const keep = { before, maxRows: maxRows(site), blocked: await blocked(site, BLOCKED_MAX) };
      while (!rounds.isStopped && (await store.retain(site, keep))) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
      if (rounds.isStopped) return;
    }
  }

  async function round(): Promise<void> {
    try {
      await clearUp();
      failing = false;
    } catch (error) {
      // Logged once per outage.
      if (!failing && !rounds.isStopped) {
        logger.error({ event: 'activity-retention-failed', err: error }, 'The Activity Log can’t be cleared up yet.');
      }
      failing = true;
    }
  }

  return {
    start() {
      for (const site of sites()) observe(site);
      rounds.start();
    },
    noteDays: observe,
    findUndo(site) {
      observe(site);
      return deferred.findUndo(site, clock());
    },
    stop: () => rounds.stop(),
  };
}
