import { createHash } from 'node:crypto';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';
import type { ActivityStore, NewEvent } from './activity-store.js';
import { type AuditRow, eventOfAudit } from './audit-words.js';
import { localTimestamp } from './local-days.js';

/** Audit rows that the log does not know yet. Both methods may throw StorageError. */
export interface AuditOutbox {
  /** The oldest of every site. */
  untold(limit: number): Promise<readonly AuditRow[]>;
  told(ids: readonly string[]): Promise<void>;
}

export interface GuardEvents {
  /** Something was changed, here or by another process: takes it over soon. Never throws. */
  changed(): void;
  /**
   * Somebody was locked out. Never throws.
   * @param who an address, or the /64 of an IPv6 one
   * @param until milliseconds since the Unix epoch
   */
  locked(site: SiteId, who: string, until: number): void;
  /** Looks now and then, until `stop`. */
  start(): void;
  /** Writes what waits. */
  stop(): Promise<void>;
}

const BATCH = 200;
/** Events of the same moment go together, milliseconds. */
const SOON_MS = 50;
/** What nobody told of (the command line, while the database was busy) is found after this time, milliseconds. */
const LOOK_MS = 5000;
/** Lock-outs that wait to be stored, all sites together; they stand in the service's log too. */
const WAITING_MAX = 10_000;

/**
 * What happens in guard itself as events of the log. Changes are taken from the record of changes, where every one of
 * them is written in the transaction that makes it, whoever made it: none is lost, and one that is taken twice is known
 * by its id. Lock-outs are only counted in memory first, so they come by `locked`.
 *
 * @param recording whether the log of a site is on; null for a site that is not served any more
 */
export function createGuardEvents(deps: {
  readonly outbox: AuditOutbox;
  readonly store: Pick<ActivityStore, 'writeEvents'>;
  readonly recording: (site: SiteId) => boolean | null;
  /** The address as it may be written. */
  readonly shorten: (site: SiteId, address: string) => string;
  readonly timeZone: (site: SiteId) => string;
  readonly clock: Clock;
  readonly logger: Logger;
}): GuardEvents {
  const { outbox, store, recording, shorten, timeZone, clock, logger } = deps;
  const locks = new Map<SiteId, NewEvent[]>();
  let waiting = 0;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  /** Asked for while it was under way. */
  let again = false;
  let failing = false;
  let started = false;
  let stopped = false;
  /** Whether the timer is for something that is known to be there. */
  let urgent = false;

  function later(ms: number): void {
    // Changes one after the other must not put off the first of them for ever.
    if (stopped || (timer !== null && urgent)) return;
    if (timer !== null) clearTimeout(timer);
    urgent = ms === SOON_MS;
    timer = setTimeout(() => void take(), ms).unref();
  }

  function take(): Promise<void> {
    timer = null;
    if (running !== null) again = true;
    running ??= takeAll()
      .then(
        () => {
          failing = false;
        },
        (error: unknown) => {
          // Once per outage.
          if (!failing) logger.error({ event: 'guard-events-not-stored', err: error }, 'Changes can’t be logged yet.');
          failing = true;
        },
      )
      .finally(() => {
        running = null;
        if (started && timer === null) later(again ? SOON_MS : LOOK_MS);
        again = false;
      });
    return running;
  }

  async function takeAll(): Promise<void> {
    for (const [site, events] of locks) await writeLocks(site, events);
    for (;;) {
      const rows = await outbox.untold(BATCH);
      for (const [site, events] of bySite(rows)) await store.writeEvents(site, events);
      await outbox.told(rows.map(({ id }) => id));
      if (rows.length < BATCH) return;
    }
  }

  async function writeLocks(site: SiteId, events: NewEvent[]): Promise<void> {
    const batch = events.slice(0, BATCH);
    await store.writeEvents(site, batch);
    // Others may have come meanwhile.
    events.splice(0, batch.length);
    waiting -= batch.length;
    if (events.length === 0) locks.delete(site);
    else await writeLocks(site, events);
  }

  /** Newest first, so that each switch of the log says whether it was on before. */
  function bySite(rows: readonly AuditRow[]): ReadonlyMap<SiteId, readonly NewEvent[]> {
    const events = new Map<SiteId, NewEvent[]>();
    const on = new Map<SiteId, boolean | null>();
    for (const row of [...rows].reverse()) {
      const { site, name, before } = row;
      if (!on.has(site)) on.set(site, recording(site));
      const isSwitch = name === 'disable_activity_log' && on.get(site) !== null;
      if (on.get(site) === true || isSwitch) {
        const event = eventOfAudit(row, timeZone(site));
        add(events, site, { ...event, address: shorten(site, event.address) });
      }
      if (isSwitch) on.set(site, before === 0);
    }
    for (const own of events.values()) own.reverse();
    return events;
  }

  return {
    changed: () => later(SOON_MS),
    locked(site, who, until) {
      if (recording(site) !== true || waiting >= WAITING_MAX) return;
      const end = localTimestamp(timeZone(site), Math.floor(until / 1000));
      const address = shorten(site, who.replace('/64', ''));
      add(locks, site, lockEvent(site, address, { until, end, now: clock() }));
      waiting++;
      later(SOON_MS);
    },
    start() {
      started = true;
      later(SOON_MS);
    },
    async stop() {
      started = false;
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
      await running;
      await take();
    },
  };
}

function add(events: Map<SiteId, NewEvent[]>, site: SiteId, event: NewEvent): void {
  const own = events.get(site);
  if (own === undefined) events.set(site, [event]);
  else own.push(event);
}

/** Failures that were under way together lock once: the same lock has the same uid. */
function lockEvent(
  site: SiteId,
  address: string,
  { until, end, now }: { readonly until: number; readonly end: string; readonly now: number },
): NewEvent {
  return {
    uid: createHash('sha256')
      .update(JSON.stringify(['lock', site, address, until]))
      .digest('hex')
      .slice(0, 32),
    at: Math.floor(now / 1000),
    kind: 'login.locked',
    user: null,
    address,
    origin: 'web',
    object: address,
    objectType: '',
    before: null,
    after: end,
  };
}
