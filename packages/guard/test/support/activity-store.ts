import { onTestFinished } from 'vitest';
import type { EventFilter, NewEvent, VisitFilter } from '../../src/activity/activity-store.js';
import {
  type ActivityStoreOptions,
  type OpenActivityStore,
  openActivityStore,
} from '../../src/activity/store/open-activity-store.js';
import type { Visit } from '../../src/activity/visit.js';
import { silentLogger } from '../../src/lib/logger.js';
import { scratchFolder } from './scratch.js';

/** The time of a test that does not move its clock. */
export const NOW = Date.UTC(2026, 10, 21, 12, 30);
export const NOW_SECONDS = NOW / 1000;
export const SITE = 'example';

export const EVERY_VISIT: VisitFilter = { from: null, to: null, type: null, code: null, addresses: null };
export const EVERY_EVENT: EventFilter = { from: null, to: null, user: null, activity: null };

/** A store on a real file, closed after the test; commits come quickly. */
export async function testStore(options: Partial<ActivityStoreOptions> = {}): Promise<OpenActivityStore> {
  const store = await openActivityStore({
    dataDir: options.dataDir ?? (await scratchFolder()),
    logger: silentLogger(),
    clock: () => NOW,
    commitMs: 5,
    ...options,
  });
  onTestFinished(() => store.close());
  return store;
}

export function aVisit(visit: Partial<Visit> = {}): Visit {
  return {
    at: NOW,
    address: '192.0.2.1',
    target: '/',
    status: 200,
    rule: null,
    agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
    count: 1,
    ...visit,
  };
}

/** So many visits that differ, `gap` milliseconds apart, the last one now. */
export function visitsUntilNow(
  count: number,
  gap: number,
  visit: (index: number) => Partial<Visit> = () => ({}),
): Visit[] {
  return Array.from({ length: count }, (_, index) =>
    aVisit({ at: NOW - (count - 1 - index) * gap, target: `/${index}`, ...visit(index) }),
  );
}

export function anEvent(event: Partial<NewEvent> & { readonly uid: string }): NewEvent {
  return {
    at: NOW_SECONDS,
    kind: 'login',
    user: { id: 1, login: 'owner' },
    address: '192.0.2.1',
    origin: 'web',
    object: '',
    objectType: '',
    before: null,
    after: null,
    ...event,
  };
}

export const allVisits = (store: OpenActivityStore, site = SITE, filter = EVERY_VISIT) =>
  store.listVisits({ site, filter, anchor: null, before: null, skip: 0, limit: 100_000 });

export const allEvents = (store: OpenActivityStore, filter = EVERY_EVENT) =>
  store.listEvents({ site: SITE, filter, anchor: null, before: null, skip: 0, limit: 100_000 });
