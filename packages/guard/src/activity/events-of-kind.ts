import type { SiteId } from '../site.js';
import type { ActivityStore, EventRow } from './activity-store.js';

/** Events of one kind that are read; when there are more, the fact that they show is unknown. */
const EVENTS_MAX = 5000;

/**
 * Returns the events of a kind in the period [from, to), newest first; null when there are more than are read. Throws
 * StorageError.
 *
 * @param period Unix seconds
 */
export async function listEventsOfKind(
  store: Pick<ActivityStore, 'listEvents'>,
  site: SiteId,
  kind: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly EventRow[] | null> {
  const filter = { from, to: to - 1, activity: kind };
  const rows = await store.listEvents({ site, filter, anchor: null, before: null, skip: 0, limit: EVENTS_MAX });
  return rows.length < EVENTS_MAX ? rows : null;
}
