/**
 * Exports for the tests and benchmarks of other packages, in addition to `program/*`. This is the only file that
 * imports the inside of features. It exports the individual modules, so the bundle need not be current. Never shipped.
 */
export type { VisitFilter } from './activity/activity-store.js';
export { listVisits } from './activity/anonymous-visits.js';
export { readAttackers } from './activity/attackers.js';
export { plainFilters, searchFilter } from './activity/filters.js';
export { ListCursors, type ListPage, type ListQuery } from './activity/list-activity.js';
export { packVisits } from './activity/packed-visits.js';
export { readRequestDetails } from './activity/request-details.js';
export { toAttackNetwork } from './activity/store/attack-counters.js';
export { openActivityStore } from './activity/store/open-activity-store.js';
export { toAddressKey, toFirstId, toHour, toSecond } from './activity/store/row-keys.js';
export { ALL_KINDS, BUCKET_ROWS, TOP_COUNTERS } from './activity/store/site-counters.js';
export type { Visit } from './activity/visit.js';

export { attach } from './cli/attach.js';
export { detach } from './cli/detach.js';
export { CONFIG_FILE, loadConfig, secretFile } from './config/load-config.js';
export { formatReference } from './http/request-id.js';
export { toAddress } from './lib/address.js';
export { silentLogger } from './lib/logger.js';
export { version } from './lib/version.js';
export { openGuardDatabase } from './migrations.js';
export { judgeSalts, type SaltsOutcome } from './post-hack/salts.js';
export { createSettingsStore } from './settings/settings-store.js';
export { openSqlite, type SqliteDatabase } from './storage/sqlite.js';
export {
  COMMAND_HEADER,
  commandHeader,
  GUARD_HEADER,
  guardHeader,
  keyId,
  SIGNAL_HEADER,
  signedText,
} from './wordpress/signature.js';
