import { activityKinds } from '@security-optimizer/contract/activity-kinds';
import type { Language } from '../../texts/language.js';
import type { ReportFacts, WeekSums } from './report-facts.js';

/** Fewer refusals in a week are nothing to speak of. */
const QUIET = 500;
/** So many times as many as in the week before are. */
const BUSY_TIMES = 2;

/** The week in one line, and what it means for the owner. */
export function verdictOf(
  { translate, counted }: Language,
  { now, before }: Pick<ReportFacts, 'now' | 'before'>,
  site: string,
): { readonly headline: string; readonly summary: string } {
  if (now.humans + now.bots + now.refused === 0 && now.events.length === 0) {
    return {
      headline: translate('Nothing was recorded for {site}', { site }),
      summary: translate('No visits, no logins and no changes were seen.'),
    };
  }
  const refused =
    now.refused === 0
      ? translate('Nothing had to be blocked.')
      : counted(
          '{count} visit or login attempt was blocked.',
          '{count} visits and login attempts were blocked.',
          now.refused,
        );
  const calm = translate('You don’t need to do anything urgent.');
  if (now.refused < QUIET) {
    return { headline: translate('A quiet week for {site}', { site }), summary: `${refused} ${calm}` };
  }
  if (before !== null && now.refused >= before.refused * BUSY_TIMES) {
    const compared = busierWords(translate, before);
    const stopped = translate('They were stopped before they reached WordPress.');
    return {
      headline: translate('A busier week than usual for {site}', { site }),
      summary: [refused, compared, stopped, calm].join(' '),
    };
  }
  return { headline: translate('An ordinary week for {site}', { site }), summary: `${refused} ${calm}` };
}

function busierWords(translate: Language['translate'], before: WeekSums): string {
  if (before.refused === 0) return translate('There were none the week before.');
  return translate('That is more than the {number} of the week before.', { number: before.refused });
}

/** What is no change that a user made: visits to the door, and what the product itself did. */
const NO_CHANGE = /^(?:log(?:in|out)(?:$|\.)|factor\.(?:failed|back-up-code)$)/;
const labels: ReadonlyMap<string, string> = new Map(activityKinds.map(({ id, label }) => [id, label]));

/** Changes by users, most frequent first; the words are those of the Activity Log's filter. */
export function changesOf(
  { translate }: Language,
  events: WeekSums['events'],
): { readonly label: string; readonly count: number }[] {
  return events
    .filter(({ kind }) => !NO_CHANGE.test(kind))
    .map(({ kind, count }) => {
      const known = labels.get(kind);
      return { label: known === undefined ? translate('Other changes') : translate(known), count };
    });
}

/** Events of one kind. */
export function eventsOf(events: WeekSums['events'], kind: string): number {
  return events.find((event) => event.kind === kind)?.count ?? 0;
}
