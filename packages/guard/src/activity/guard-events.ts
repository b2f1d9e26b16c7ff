import { createHash } from 'node:crypto';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import { toLocalTimestamp } from '../lib/time-zone.js';
import type { SecurityEvent, SecurityEvents } from '../security-events.js';
import type { AuditOutbox, AuditRow } from '../settings/audit-store.js';
import type { SiteId } from '../site.js';
import type { ActivityStore, NewEvent } from './activity-store.js';
import { toEvent } from './audit-labels.js';
import { toSettingSecurityEvents } from './security-events.js';

export interface GuardEvents {
  /** Called after a change by this or another process: stores its audit rows soon. Never throws. */
  handleAuditChange(): void;
  /**
   * Records a lockout. Never throws.
   * @param who an address, or the /64 of an IPv6 address
   * @param until milliseconds since the Unix epoch
   */
  recordLockout(site: SiteId, who: string, until: number): void;
  /** Polls until `stop`. */
  start(): void;
  /** Writes all pending events. */
  stop(): Promise<void>;
}

const BATCH = 200;
/** Delay so that simultaneous events share a batch, milliseconds. */
const PROMPT_MS = 50;
/** Poll interval for changes without a notification (command line, busy database), milliseconds. */
const POLL_MS = 5000;
/** Maximum number of pending lockouts of all sites. Lockouts are in the service's log, too. */
const WAITING_MAX = 10_000;

/**
 * Stores events of guard itself in the log. Changes are read from the audit table, which each process writes in the
 * transaction of the change: none is lost, and duplicates are recognised by their id. Lockouts exist only in memory at
 * first, so they are reported by `recordLockout`.
 *
 * @param recording whether the log of a site is on; null for a site that is no longer served
 */
export function createGuardEvents(deps: {
  readonly outbox: AuditOutbox;
  readonly store: Pick<ActivityStore, 'writeEvents'>;
  readonly securityEvents: Pick<SecurityEvents, 'report'>;
  readonly recording: (site: SiteId) => boolean | null;
  /** Anonymises the address if the site requires it. */
  readonly shorten: (site: SiteId, address: string) => string;
  readonly timeZone: (site: SiteId) => string;
  readonly clock: Clock;
  readonly logger: Logger;
}): GuardEvents {
  const { outbox, store, securityEvents, recording, shorten, timeZone, clock, logger } = deps;
  const locks = new Map<SiteId, NewEvent[]>();
  let waiting = 0;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  /** Whether another run was requested during the current one. */
  let again = false;
  let failing = false;
  let started = false;
  let stopped = false;
  /** Whether the timer is for events that are known to exist. */
  let urgent = false;

  function later(ms: number): void {
    // A series of changes must not postpone the first one forever.
    if (stopped || (timer !== null && urgent)) return;
    if (timer !== null) clearTimeout(timer);
    urgent = ms === PROMPT_MS;
    timer = setTimeout(() => void drain(), ms).unref();
  }

  function drain(): Promise<void> {
    timer = null;
    if (running !== null) again = true;
    running ??= drainAll()
      .then(
        () => {
          failing = false;
        },
        (error: unknown) => {
          // Logged once per outage.
          if (!failing)
            logger.error({ event: 'guard-events-store-failed', err: error }, 'Changes can’t be logged yet.');
          failing = true;
        },
      )
      .finally(() => {
        running = null;
        if (started && timer === null) later(again ? PROMPT_MS : POLL_MS);
        again = false;
      });
    return running;
  }

  async function drainAll(): Promise<void> {
    for (const [site, events] of locks) await writeLocks(site, events);
    for (;;) {
      const rows = await outbox.listUndelivered(BATCH);
      for (const [site, events] of bySite(rows)) await store.writeEvents(site, events);
      for (const [site, found] of toSecurityEvents(rows)) await securityEvents.report(site, found);
      await outbox.markDelivered(rows.map(({ id }) => id));
      if (rows.length < BATCH) return;
    }
  }

  /** Returns the security events of rows by site, oldest first. */
  function toSecurityEvents(rows: readonly AuditRow[]): ReadonlyMap<SiteId, readonly SecurityEvent[]> {
    const events = new Map<SiteId, SecurityEvent[]>();
    for (const row of rows) {
      const ofSite = events.get(row.site) ?? [];
      events.set(row.site, ofSite);
      for (const found of toSettingSecurityEvents(row)) {
        ofSite.push({ ...found, address: found.address === null ? null : shorten(row.site, found.address) });
      }
    }
    return events;
  }

  async function writeLocks(site: SiteId, events: NewEvent[]): Promise<void> {
    const batch = events.slice(0, BATCH);
    await store.writeEvents(site, batch);
    // More lockouts may have been added while the batch was written.
    events.splice(0, batch.length);
    waiting -= batch.length;
    if (events.length === 0) locks.delete(site);
    else await writeLocks(site, events);
  }

  /** Groups rows by site, newest first, because each change of the log's switch contains the state before it. */
  function bySite(rows: readonly AuditRow[]): ReadonlyMap<SiteId, readonly NewEvent[]> {
    const events = new Map<SiteId, NewEvent[]>();
    const on = new Map<SiteId, boolean | null>();
    for (const row of [...rows].reverse()) {
      const { site, name, before } = row;
      if (!on.has(site)) on.set(site, recording(site));
      const isSwitch = name === 'disable_activity_log' && on.get(site) !== null;
      if (on.get(site) === true || isSwitch) {
        const event = toEvent(row, timeZone(site));
        add(events, site, { ...event, address: shorten(site, event.address) });
      }
      // A value that could not be used is null. Rather one row too many than one that is missing.
      if (isSwitch) on.set(site, before !== 1);
    }
    for (const own of events.values()) own.reverse();
    return events;
  }

  return {
    handleAuditChange: () => later(PROMPT_MS),
    recordLockout(site, who, until) {
      if (recording(site) !== true || waiting >= WAITING_MAX) return;
      const end = toLocalTimestamp(timeZone(site), Math.floor(until / 1000));
      const address = shorten(site, who.replace('/64', ''));
      add(locks, site, lockEvent(site, address, { until, end, now: clock() }));
      waiting++;
      later(PROMPT_MS);
    },
    start() {
      started = true;
      later(PROMPT_MS);
    },
    async stop() {
      started = false;
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
      await running;
      await drain();
    },
  };
}

function add(events: Map<SiteId, NewEvent[]>, site: SiteId, event: NewEvent): void {
  const own = events.get(site);
  if (own === undefined) events.set(site, [event]);
  else own.push(event);
}

/** Creates the event of a lockout. The uid is the same for the same lockout, so concurrent failures record it once. */
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
