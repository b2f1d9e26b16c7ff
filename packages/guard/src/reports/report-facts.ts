import type { ActivityStore, EventRow, FailedLogins, TopEntry, TrafficHour } from '../activity/index.js';
import { countFailedLogins, listEventsOfKind, readFailedLogins } from '../activity/index.js';
import { localDate, localDaysFrom, startOfLocalDay } from '../lib/time-zone.js';
import type { LoginAddresses } from '../login/index.js';
import type { SiteId } from '../site.js';

/** The facts of a report. Plain data. */
export interface ReportFacts {
  readonly period: ReportPeriod;
  readonly now: WeekTotals;
  /** Null when the week before is unknown. */
  readonly before: WeekTotals | null;
  readonly logins: LoginFacts;
  /** Accounts that became administrators, newest first, each once. */
  readonly administrators: readonly NewAdministrator[];
  /** Hits per hour of the period. */
  readonly hours: readonly TrafficHour[];
  /** Addresses with the most failed logins. */
  readonly addresses: readonly TopEntry[];
  /**
   * Most requested pages, without their queries, without files of WordPress itself, and without present or former login
   * and sign-up addresses.
   */
  readonly pages: readonly TopEntry[];
  /** Visits that could not be recorded. */
  readonly dropped: number;
}

export interface WeekTotals {
  readonly humans: number;
  readonly bots: number;
  /** Refused requests, including logins: the number that the chart and the dashboard call blocked. */
  readonly refused: number;
  /** As `countFailedLogins` defines them. */
  readonly failedLogins: number;
  /** Events of users by kind. */
  readonly events: readonly { readonly kind: string; readonly count: number }[];
}

/** The failed logins of a week, and their consequences. */
export interface LoginFacts extends FailedLogins {
  /** Addresses that logged in after failed logins; null when that is unknown. */
  readonly succeeded: readonly { readonly address: string; readonly failed: number }[] | null;
}

export interface NewAdministrator {
  readonly login: string;
  readonly kind: 'user.created' | 'user.role';
}

/** The queries of the Activity Log that a report uses. */
export type ReportSource = Pick<
  ActivityStore,
  'traffic' | 'failedLogins' | 'failedLoginAddresses' | 'eventKinds' | 'top' | 'droppedVisits' | 'listEvents'
>;

const TOP = 5;
/** Entries that are read to find the first pages among them. */
const PAGES_READ = 50;
/** Entry points and scripts of WordPress itself, which are not pages for people. */
const NO_PAGE = /\/(?:wp-[a-z-]+\.php|xmlrpc\.php|wp-(?:admin|json|includes|content)(?:\/.*)?)$/i;
/** Addresses with failed logins that are compared with those that logged in. */
const ADDRESSES_READ = 1000;

/** Reads the facts of a report from the Activity Log. Throws StorageError. */
export async function readReportFacts(
  store: ReportSource,
  site: SiteId,
  period: ReportPeriod,
  addresses: LoginAddresses,
): Promise<ReportFacts> {
  const from = period.edges[0] as number;
  const to = period.edges.at(-1) as number;
  const { before, days } = period;
  const [hours, hoursBefore, now, then, tried, pages, failed, dropped] = await Promise.all([
    store.traffic(site, from, to),
    store.traffic(site, before.from, before.to),
    readSums(store, site, from, to),
    readSums(store, site, before.from, before.to),
    store.top(site, 'failed-login', ...days, ADDRESSES_READ),
    store.top(site, 'page', ...days, PAGES_READ),
    readFailedLogins(store, site, { from, to, days }),
    store.droppedVisits(site, from, to),
  ]);
  const known = hoursBefore.length > 0 || then.events.length > 0;
  const failing = tried.filter(({ count }) => count > 0);
  const events = (kind: string) => listEventsOfKind(store, site, kind, { from, to });
  return {
    period,
    now: { ...toSums(hours), ...now },
    before: known ? { ...toSums(hoursBefore), ...then } : null,
    logins: { ...failed, succeeded: await readLogins(now, failing, events) },
    administrators: await findAdministrators(now, events),
    hours,
    addresses: failing.slice(0, TOP),
    pages: pages
      .filter(({ value, count }) => count > 0 && !NO_PAGE.test(value) && !addresses.isNamedIn(value))
      .slice(0, TOP),
    dropped,
  };
}

async function readSums(store: ReportSource, site: SiteId, from: number, to: number) {
  const [failedLogins, events] = await Promise.all([
    countFailedLogins(store, site, from, to),
    store.eventKinds(site, from, to),
  ]);
  return { failedLogins, events };
}

/** Returns events of a kind, newest first; null when there are more than are read. */
type EventsOf = (kind: string) => Promise<readonly EventRow[] | null>;

/** Returns the addresses that logged in after failed logins; null when that is unknown. */
async function readLogins(
  { events: kinds }: Pick<WeekTotals, 'events'>,
  failing: readonly TopEntry[],
  events: EventsOf,
): Promise<LoginFacts['succeeded']> {
  const logins = failing.length > 0 && countEvents(kinds, 'login') > 0 ? await events('login') : [];
  if (logins === null) return null;
  const from = new Set(logins.map(({ address }) => address));
  return failing.filter(({ value }) => from.has(value)).map(({ value, count }) => ({ address: value, failed: count }));
}

const ADMINISTRATOR = /(?:^|, )(?:Administrator|Super Admin)(?:,|$)/;

async function findAdministrators(
  { events: kinds }: Pick<WeekTotals, 'events'>,
  events: EventsOf,
): Promise<NewAdministrator[]> {
  const found = new Map<string, NewAdministrator>();
  for (const kind of ['user.created', 'user.role'] as const) {
    const rows = countEvents(kinds, kind) > 0 ? ((await events(kind)) ?? []) : [];
    for (const { object, before, after } of rows) {
      const became = ADMINISTRATOR.test(after ?? '') && !ADMINISTRATOR.test(before ?? '');
      if (became && !found.has(object)) found.set(object, { login: object, kind });
    }
  }
  return [...found.values()];
}

/** Returns the number of events of one kind. */
function countEvents(events: WeekTotals['events'], kind: string): number {
  return events.find((event) => event.kind === kind)?.count ?? 0;
}

function toSums(hours: readonly TrafficHour[]): { humans: number; bots: number; refused: number } {
  const sum = { humans: 0, bots: 0, refused: 0 };
  for (const { humans, bots, blocked } of hours) {
    sum.humans += humans;
    sum.bots += bots;
    sum.refused += blocked;
  }
  return sum;
}

/** The period of a report. Unix seconds; ends are exclusive. */
export interface ReportPeriod {
  /** The beginning of each of the seven days, and the end of the last. */
  readonly edges: readonly number[];
  /** The first day and the last, `YYYY-MM-DD`. */
  readonly days: readonly [first: string, last: string];
  /** The same part of the week before, for comparison. */
  readonly before: { readonly from: number; readonly to: number };
  /** Whether the last day is not over. */
  readonly soFar: boolean;
}

const DAYS = 7;

/**
 * Returns the seven days before the day on which a report is sent, by the wall clock of the site.
 * @param at Unix seconds
 */
export function getLastWeek(timeZone: string, at: number): ReportPeriod {
  const edges = daysUpTo(timeZone, at, 0);
  const before = { from: localDaysFrom(timeZone, at, -2 * DAYS), to: edges[0] as number };
  return { edges, days: toDates(timeZone, edges), before, soFar: false };
}

/**
 * Returns today until now and the six days before, so that an example contains the latest events.
 * @param now Unix seconds
 */
export function getWeekToDate(timeZone: string, now: number): ReportPeriod {
  const days = daysUpTo(timeZone, now, 1);
  const from = localDaysFrom(timeZone, now, 1 - 2 * DAYS);
  // The same part of that day as has passed of today.
  const to = localDaysFrom(timeZone, now, -DAYS) + (now - startOfLocalDay(timeZone, now));
  const edges = [...days.slice(0, -1), now + 1];
  return { edges, days: toDates(timeZone, edges), before: { from, to }, soFar: true };
}

function toDates(timeZone: string, edges: readonly number[]): ReportPeriod['days'] {
  return [localDate(timeZone, edges[0] as number), localDate(timeZone, (edges.at(-1) as number) - 1)];
}

/** Returns eight beginnings of days; the last one is `last` days after the day of `at`. */
function daysUpTo(timeZone: string, at: number, last: number): number[] {
  return Array.from({ length: DAYS + 1 }, (_, index) => localDaysFrom(timeZone, at, index - DAYS + last));
}
