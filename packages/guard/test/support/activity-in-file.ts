import type { ActivityStore, EventRow, NewEvent } from '../../src/activity/activity-store.js';
import { packVisits } from '../../src/activity/packed-visits.js';
import type { NumberedVisit, Visit } from '../../src/activity/visit.js';
import type { SiteId } from '../../src/site.js';
import { aVisit, EVERY_EVENT, testStore } from './activity-store.js';

/** A visit as a test writes it; what is left out does not matter to it. */
export type TestVisit = Partial<Visit> & Partial<NumberedVisit>;

/** Unix seconds before the first visit that says no time of its own. */
export const FIRST_VISIT = 1_795_000_000;

/** What lists and events ask of the store. */
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
 * The real store in a folder of the test's own. Its methods may be replaced one by one, for faults. Visits without a
 * target are numbered from `/1`, a second apart.
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
    const whole = visits.map((visit) => {
      const number = (numbers.get(site) ?? 0) + 1;
      numbers.set(site, number);
      return aVisit({ at: (FIRST_VISIT + number) * 1000, target: `/${number}`, ...visit });
    });
    await opened.write({ site, visits: packVisits(whole), dropped: 0 });
  }

  /** Every event of the site, oldest first. */
  async function allEvents(): Promise<readonly EventRow[]> {
    const all = { filter: EVERY_EVENT, anchor: null, before: null, skip: 0, limit: 20_000 };
    return [...(await opened.listEvents({ site: 'site', ...all }))].reverse();
  }

  const addEvents = (events: readonly NewEvent[]) => opened.writeEvents('site', events);
  return { store, addVisits, addEvents, allEvents };
}
