import type { LoginAddresses } from '../../login/login-addresses.js';
import type { SiteId } from '../../site.js';
import type { ActivityStore, TopEntry, TrafficHour } from '../activity-store.js';
import type { ReportPeriod } from './report-period.js';

/** Everything that a report is made of. Plain data. */
export interface ReportFacts {
  readonly period: ReportPeriod;
  readonly now: WeekSums;
  /** Null when nothing is known of the week before. */
  readonly before: WeekSums | null;
  /** Hits per hour of the period. */
  readonly hours: readonly TrafficHour[];
  /** Addresses with the most refused and failed log-ins. */
  readonly addresses: readonly TopEntry[];
  /**
   * Pages that were asked for most, without their queries, without what belongs to WordPress itself, and without the
   * addresses at which one logs in or signs up, or did.
   */
  readonly pages: readonly TopEntry[];
  /** Visits that could not be recorded. */
  readonly dropped: number;
}

export interface WeekSums {
  readonly humans: number;
  readonly bots: number;
  /** Refused requests, log-ins among them. */
  readonly refused: number;
  readonly refusedLogins: number;
  /** Events of users per kind. */
  readonly events: readonly { readonly kind: string; readonly count: number }[];
}

/** What a report asks of the Activity Log. */
export type ReportStore = Pick<ActivityStore, 'traffic' | 'refusedLogins' | 'eventKinds' | 'top' | 'droppedVisits'>;

const TOP = 5;
/** So many are looked through for the first few that are pages. */
const PAGES_ASKED = 50;
/** WordPress's own doors and scripts: nobody reads them. */
const NO_PAGE = /\/(?:wp-[a-z-]+\.php|xmlrpc\.php|wp-(?:admin|json|includes|content)(?:\/.*)?)$/i;

/** Asks the sums of the Activity Log for a report. Throws StorageError. */
export async function gatherReportFacts(
  store: ReportStore,
  site: SiteId,
  period: ReportPeriod,
  addresses: LoginAddresses,
): Promise<ReportFacts> {
  const from = period.edges[0] as number;
  const to = period.edges.at(-1) as number;
  const { before, days } = period;
  const [hours, hoursBefore, now, then, tried, pages, dropped] = await Promise.all([
    store.traffic(site, from, to),
    store.traffic(site, before.from, before.to),
    otherSums(store, site, from, to),
    otherSums(store, site, before.from, before.to),
    store.top(site, 'failed-login', ...days, TOP),
    store.top(site, 'page', ...days, PAGES_ASKED),
    store.droppedVisits(site, from, to),
  ]);
  const known = hoursBefore.length > 0 || then.events.length > 0;
  return {
    period,
    now: { ...sumOf(hours), ...now },
    before: known ? { ...sumOf(hoursBefore), ...then } : null,
    hours,
    addresses: tried.filter(({ count }) => count > 0),
    pages: pages
      .filter(({ value, count }) => count > 0 && !NO_PAGE.test(value) && !addresses.isIn(value))
      .slice(0, TOP),
    dropped,
  };
}

async function otherSums(store: ReportStore, site: SiteId, from: number, to: number) {
  const [refusedLogins, events] = await Promise.all([
    store.refusedLogins(site, from, to),
    store.eventKinds(site, from, to),
  ]);
  return { refusedLogins, events };
}

function sumOf(hours: readonly TrafficHour[]): { humans: number; bots: number; refused: number } {
  const sum = { humans: 0, bots: 0, refused: 0 };
  for (const { humans, bots, blocked } of hours) {
    sum.humans += humans;
    sum.bots += bots;
    sum.refused += blocked;
  }
  return sum;
}
