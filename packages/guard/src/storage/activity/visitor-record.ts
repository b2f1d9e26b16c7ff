import type { Selectable } from 'kysely';
import type { Visitor } from '../../activity/activity-store.js';
import type { ActivitySchema } from './activity-schema.js';
import { userOfKey } from './visitor-key.js';

export type VisitorRecord = Selectable<ActivitySchema['visitors']>;

/** A visitor as the rest of the product knows it. */
export function visitorOfRecord(record: VisitorRecord): Visitor {
  return {
    id: record.id,
    kind: record.kind,
    name: record.name,
    userId: record.kind === 'user' ? userOfKey(record.key) : null,
    hostname: record.hostname,
    verifiedBot: record.verified_bot,
    firstSeen: record.first_seen,
    lastSeen: record.last_seen,
  };
}
