import type { ActivityStore, EventRow } from '../activity/activity-store.js';
import type { SiteId } from '../site.js';
import { StorageError } from '../storage/storage-error.js';
import type { RememberedEvents } from './checkup.js';

const CHANGES = 50;
const LOGINS = 1000;

/** What the checkup asks the Activity Log; nothing when the log can't be read. */
export async function rememberedEvents(
  log: Pick<ActivityStore, 'listEvents'>,
  site: SiteId,
): Promise<RememberedEvents> {
  const list = (activity: string, limit: number): Promise<readonly EventRow[]> =>
    log.listEvents({
      site,
      filter: { from: null, to: null, user: null, activity },
      anchor: null,
      before: null,
      skip: 0,
      limit,
    });
  try {
    const [optionChanges, logins] = await Promise.all([list('option.changed', CHANGES), list('login', LOGINS)]);
    const lastLogins = new Map<number, number>();
    for (const { userId, at } of logins) lastLogins.set(userId, Math.max(at, lastLogins.get(userId) ?? 0));
    return { optionChanges, lastLogins };
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return { optionChanges: [], lastLogins: new Map() };
  }
}
