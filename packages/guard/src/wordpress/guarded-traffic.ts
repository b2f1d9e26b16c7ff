import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../lib/clock.js';
import { writeFileAtomically } from '../lib/files.js';
import { type Logger, OutageLog } from '../lib/logger.js';
import type { SiteId } from '../site.js';

/**
 * Whether visitors reach a site through guard. `attach --require-guard` checks this before it refuses direct requests.
 * The record is a file beside the site's secret, so that a command reads it without opening guard's database.
 */

/** Shortest period of traffic that counts, milliseconds: a manual check takes less time. */
const SUFFICIENT_MS = 30_000;
/** Longest pause between two visitors, milliseconds; a longer one starts a new period. */
const GAP_MS = 5 * 60_000;
/** Shortest pause between two writes, milliseconds, before the period is long enough and after it. */
const WRITE_MS = 5000;
const WRITE_SUFFICIENT_MS = 60_000;

/**
 * Times of the first and the last response of WordPress to a visitor through guard, milliseconds since the Unix epoch.
 */
export interface SeenTraffic {
  readonly since: number;
  readonly until: number;
}

const seenTraffic = z.object({ since: z.number(), until: z.number() });

/** File that holds the record of a site's traffic. */
export function guardedTrafficFile(dataDir: string, site: SiteId): string {
  return join(dataDir, 'sites', `${site}.traffic`);
}

/** Reads the last record of a site's traffic. Null when there is none or it can't be read. */
export async function readGuardedTraffic(dataDir: string, site: SiteId): Promise<SeenTraffic | null> {
  try {
    return seenTraffic.parse(JSON.parse(await readFile(guardedTrafficFile(dataDir, site), 'utf8')));
  } catch {
    return null;
  }
}

/** Why the traffic is not sufficient yet, as a sentence; null when it is. */
export function missingTraffic(seen: SeenTraffic | null, now: number): string | null {
  if (seen === null) return 'No visitor has come through guard yet.';
  const ago = Math.abs(now - seen.until);
  if (ago > GAP_MS) return `The last visitor came through guard ${Math.round(ago / 60_000)} minutes ago.`;
  const seconds = Math.floor((seen.until - seen.since) / 1000);
  if (seconds * 1000 >= SUFFICIENT_MS) return null;
  return `Visitors have come through guard for ${seconds} seconds so far; ${SUFFICIENT_MS / 1000} are asked for.`;
}

export interface GuardedTraffic {
  /** Records a response to a visitor from another machine that has the connector's signature. */
  record(site: SiteId): void;
  /** Resolves when all writes have ended. */
  stop(): Promise<void>;
}

/** Records when visitors use a site through guard. Never throws. */
export function createGuardedTraffic(deps: {
  readonly dataDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}): GuardedTraffic {
  const { dataDir, clock, logger } = deps;
  const seen = new Map<SiteId, SeenTraffic>();
  const written = new Map<SiteId, SeenTraffic>();
  /** Writes run one after the other, so that the last one wins. */
  let writing: Promise<void> = Promise.resolve();
  const outages = new OutageLog();

  async function write(site: SiteId, traffic: SeenTraffic): Promise<void> {
    try {
      await writeFileAtomically(guardedTrafficFile(dataDir, site), `${JSON.stringify(traffic)}\n`, { mode: 0o600 });
    } catch (error) {
      if (outages.record(site, clock()) === null) return;
      logger.warn(
        { event: 'guarded-traffic-store-failed', site, err: error },
        'That visitors come through guard can’t be written down; `attach --require-guard` will not know it.',
      );
    }
  }

  const pauseAfter = ({ since, until }: SeenTraffic) =>
    until - since >= SUFFICIENT_MS ? WRITE_SUFFICIENT_MS : WRITE_MS;

  return {
    record(site) {
      const now = clock();
      const before = seen.get(site);
      const continues = before !== undefined && Math.abs(now - before.until) <= GAP_MS && now >= before.since;
      const traffic = { since: continues ? before.since : now, until: now };
      seen.set(site, traffic);
      const last = written.get(site);
      if (last !== undefined && Math.abs(now - last.until) < pauseAfter(last)) return;
      written.set(site, traffic);
      writing = writing.then(() => write(site, traffic));
    },
    async stop() {
      await writing;
    },
  };
}
