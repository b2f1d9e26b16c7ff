import { onTestFinished } from 'vitest';
import type { ActivityStore, EventFilter, EventRow, NewEvent, VisitFilter } from '../../src/activity/activity-store.js';
import { packVisits } from '../../src/activity/packed-visits.js';
import {
  type ActivityStoreOptions,
  type OpenActivityStore,
  openActivityStore,
} from '../../src/activity/store/open-activity-store.js';
import type { NumberedVisit, Visit } from '../../src/activity/visit.js';
import { silentLogger } from '../../src/lib/logger.js';
import type { SiteId } from '../../src/site.js';
import { scratchFolder } from './scratch.js';

/** The time of a test that does not move its clock. */
export const NOW = Date.UTC(2026, 10, 21, 12, 30);
export const NOW_SECONDS = NOW / 1000;
export const SITE = 'example';

export const EVERY_VISIT: VisitFilter = { from: null, to: null, type: null, code: null, addresses: null };
export const EVERY_EVENT: EventFilter = { from: null, to: null, user: null, activity: null };

/** A store in a real file, closed after the test. It commits quickly. */
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

export function createVisit(visit: Partial<Visit> = {}): Visit {
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

/** This many different visits, `gap` milliseconds apart, the last one now. */
export function visitsUntilNow(
  count: number,
  gap: number,
  visit: (index: number) => Partial<Visit> = () => ({}),
): Visit[] {
  return Array.from({ length: count }, (_, index) =>
    createVisit({ at: NOW - (count - 1 - index) * gap, target: `/${index}`, ...visit(index) }),
  );
}

export function createEvent(event: Partial<NewEvent> & { readonly uid: string }): NewEvent {
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

/** A visit as a test specifies it; omitted fields are irrelevant to the test. */
export type TestVisit = Partial<Visit> & Partial<NumberedVisit>;

/** Unix seconds before the first visit without a time. */
export const FIRST_VISIT = 1_795_000_000;

/** The methods that lists and events use. */
type Lists = Pick<
  ActivityStore,
  | 'listVisits'
  | 'searchVisits'
  | 'countVisits'
  | 'newVisits'
  | 'newestVisit'
  | 'writeEvents'
  | 'setHostname'
  | 'listEvents'
  | 'searchEvents'
  | 'countEvents'
  | 'newEvents'
  | 'newestEvent'
  | 'options'
  | 'visitor'
  | 'getAddressVisitor'
  | 'getUserVisitor'
  | 'verifiedBotIn'
>;

/**
 * The real store in the test's own folder. Its methods may be replaced one by one, for faults. Visits without a target
 * are numbered from `/1`, a second apart.
 */
export async function activityInFile() {
  const opened = await testStore({ commitMs: 1 });
  const { listVisits, searchVisits, countVisits, newVisits, newestVisit, writeEvents, setHostname } = opened;
  const { listEvents, searchEvents, countEvents, newEvents, newestEvent, options, visitor } = opened;
  const store: Lists = {
    ...{ listVisits, searchVisits, countVisits, newVisits, newestVisit, writeEvents, setHostname },
    ...{ listEvents, searchEvents, countEvents, newEvents, newestEvent, options, visitor },
    ...{ getAddressVisitor: opened.getAddressVisitor, getUserVisitor: opened.getUserVisitor },
    verifiedBotIn: opened.verifiedBotIn,
  };
  const numbers = new Map<SiteId, number>();

  /** Writes visits, oldest first; resolves when they can be read. */
  async function addVisits(visits: readonly TestVisit[], site: SiteId = 'site'): Promise<void> {
    const rows = visits.map((visit) => {
      const number = (numbers.get(site) ?? 0) + 1;
      numbers.set(site, number);
      return createVisit({ at: (FIRST_VISIT + number) * 1000, target: `/${number}`, ...visit });
    });
    await opened.write([{ site, visits: packVisits(rows), dropped: 0 }]);
  }

  /** Every event of the site, oldest first. */
  async function allEvents(): Promise<readonly EventRow[]> {
    const all = { filter: EVERY_EVENT, anchor: null, before: null, skip: 0, limit: 20_000 };
    return [...(await opened.listEvents({ site: 'site', ...all }))].reverse();
  }

  const addEvents = (events: readonly NewEvent[]) => opened.writeEvents('site', events);
  return { store, addVisits, addEvents, allEvents };
}
