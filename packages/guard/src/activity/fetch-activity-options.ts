import type { ActivityOptions } from '@security-optimizer/contract/activity';
import type { Clock } from '../lib/clock.js';
import type { SiteSettings } from '../settings/site-settings.js';
import type { SiteId } from '../site.js';
import type { ActivityStore } from './activity-store.js';
import { lifetimeOptions } from './set-log-settings.js';

const DAY = 24 * 3600;

/** Everything that the tab Log Settings shows. Throws StorageError. */
export async function fetchActivityOptions(
  deps: {
    readonly readSettings: (site: SiteId) => Promise<SiteSettings>;
    readonly store: Pick<ActivityStore, 'droppedVisits'>;
    readonly clock: Clock;
  },
  site: SiteId,
): Promise<ActivityOptions> {
  const { log } = await deps.readSettings(site);
  const keptFrom = Math.floor(deps.clock() / 1000) - log.log_lifetime * DAY;
  const dropped = await deps.store.droppedVisits(site, keptFrom);
  return {
    disable_activity_log: log.disable_activity_log,
    log_lifetime: lifetimeOptions(log.log_lifetime),
    anonymize_addresses: log.anonymize_addresses,
    dropped,
  };
}
