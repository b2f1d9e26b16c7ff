import type { NewEvent, RetainedActivity } from '../../../activity/activity-store.js';
import type { PackedVisits } from '../../../activity/packed-visits.js';
import type { SiteId } from '../../../site.js';

/** How the writing thread works. */
export interface WriterSettings {
  /** Absolute path of the database file, whose tables are up to date. */
  readonly file: string;
  /** How long it waits for a lock of another process, milliseconds. */
  readonly busyTimeoutMs: number;
  /** Longest time that a visit waits for its commit, milliseconds. */
  readonly commitMs: number;
  /** Visits that may wait while nothing can be written. */
  readonly maxWaiting: number;
  /** Rows after which a new stretch begins. */
  readonly stretchRows: number;
}

/** What the writing thread does. `at` is now, Unix seconds; `timeZone` the site's, by whose days the tops are counted. */
export type WriterCall =
  | {
      readonly name: 'visits';
      readonly site: SiteId;
      readonly timeZone: string;
      readonly visits: PackedVisits;
      readonly dropped: number;
      readonly at: number;
    }
  | {
      readonly name: 'events';
      readonly site: SiteId;
      readonly timeZone: string;
      readonly events: readonly NewEvent[];
    }
  | { readonly name: 'visitor-of-address'; readonly site: SiteId; readonly address: string; readonly at: number }
  | {
      readonly name: 'visitor-of-user';
      readonly site: SiteId;
      readonly user: { readonly id: number; readonly login: string };
      readonly at: number;
    }
  | {
      readonly name: 'hostname';
      readonly site: SiteId;
      readonly visitor: number;
      readonly hostname: string | null;
      readonly verifiedBot: string | null;
    }
  | { readonly name: 'retain'; readonly site: SiteId; readonly keep: RetainedActivity; readonly at: number };
