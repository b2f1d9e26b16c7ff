import { activityKinds } from '@security-optimizer/contract/activity-kinds';
import { localOf } from '../../login/time-zone.js';
import { count, countOf } from './compare-words.js';
import type { ReportFacts } from './report-facts.js';
import type { ReportPeriod } from './report-period.js';

/** Fewer refusals in a week are nothing to speak of. */
const QUIET = 500;
/** So many times as many as in the week before are. */
const BUSY_TIMES = 2;

/** The week in one line, and what it means for the owner. */
export function verdictOf(facts: ReportFacts, site: string): { readonly headline: string; readonly summary: string } {
  const { now, before } = facts;
  if (now.humans + now.bots + now.refused === 0 && now.events.length === 0) {
    return { headline: `Nothing was recorded for ${site}`, summary: 'No visits, no logins and no changes were seen.' };
  }
  const refused = `${countOf(now.refused, 'visit or login attempt was', 'visits and login attempts were')} blocked.`;
  const calm = 'You don’t need to do anything urgent.';
  if (now.refused < QUIET) return { headline: `A quiet week for ${site}`, summary: `${refused} ${calm}` };
  if (before !== null && now.refused >= before.refused * BUSY_TIMES) {
    const compared =
      before.refused === 0
        ? 'There were none the week before'
        : `That is more than the ${count(before.refused)} of the week before`;
    return {
      headline: `A busier week than usual for ${site}`,
      summary: `${refused} ${compared}. They were stopped before they reached WordPress. ${calm}`,
    };
  }
  return { headline: `An ordinary week for ${site}`, summary: `${refused} ${calm}` };
}

/** What is no change that a user made: visits to the door, and what the product itself did. */
const NO_CHANGE = /^(?:log(?:in|out)(?:$|\.)|factor\.(?:failed|back-up-code)$)/;
const labels: ReadonlyMap<string, string> = new Map(activityKinds.map(({ id, label }) => [id, label]));

/** Changes by users, most frequent first; the words are those of the Activity Log's filter. */
export function changesOf(
  events: readonly { readonly kind: string; readonly count: number }[],
): { readonly label: string; readonly count: number }[] {
  return events
    .filter(({ kind }) => !NO_CHANGE.test(kind))
    .map(({ kind, count: times }) => ({ label: labels.get(kind) ?? 'Other changes', count: times }));
}

/** Events of one kind. */
export function eventsOf(events: readonly { readonly kind: string; readonly count: number }[], kind: string): number {
  return events.find((event) => event.kind === kind)?.count ?? 0;
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** The days of a period as people write them: `9 – 15 November`, `28 December – 3 January`. */
export function periodWords({ edges, soFar }: ReportPeriod, timeZone: string): string {
  const first = wallClock(timeZone, edges[0] as number);
  const last = wallClock(timeZone, (edges.at(-1) as number) - 1);
  const month = (date: Date) => MONTHS[date.getUTCMonth()];
  const from =
    first.getUTCMonth() === last.getUTCMonth() ? `${first.getUTCDate()}` : `${first.getUTCDate()} ${month(first)}`;
  return `${from} – ${last.getUTCDate()} ${month(last)}${soFar ? ' so far' : ''}`;
}

/** `Mon` for a day that begins at a moment. */
export function weekdayOf(timeZone: string, at: number): string {
  return WEEKDAYS[wallClock(timeZone, at).getUTCDay()] as string;
}

/** The wall clock of the site as a date whose UTC members show it. @param at Unix seconds */
function wallClock(timeZone: string, at: number): Date {
  return new Date(localOf(timeZone, at * 1000));
}
