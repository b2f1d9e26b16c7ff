import type { ActivityOptions } from '@security-optimizer/contract/activity';
import type { SiteSettings } from '../settings/site-settings.js';
import type { SiteId } from '../site.js';
import type { ActivityStore } from './activity-store.js';
import { lifetimeOptions } from './set-log-settings.js';

/** Everything that the tab Log Settings shows. Throws StorageError. */
export async function fetchActivityOptions(
  deps: {
    readonly readSettings: (site: SiteId) => Promise<SiteSettings>;
    readonly store: Pick<ActivityStore, 'droppedVisits'>;
  },
  site: SiteId,
): Promise<ActivityOptions> {
  const [{ log }, dropped] = await Promise.all([deps.readSettings(site), deps.store.droppedVisits(site)]);
  return {
    disable_activity_log: log.disable_activity_log,
    log_lifetime: lifetimeOptions(log.log_lifetime),
    anonymize_addresses: log.anonymize_addresses,
    dropped,
  };
}
