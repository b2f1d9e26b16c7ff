import type { DateTexts } from '../../../dates/date-texts.js';
import { dayEnd, dayStart, siteDay } from '../../../dates/site-day.js';
import { siteNow, timeOfDay } from '../../../dates/site-now.js';
import { __ } from '../../../i18n/translate.js';
import { type Applied, type Choice, periodEnd } from '../list/applied.js';

/** One end of a period as a choice: a whole day at the site. */
export function dayChoice(child: 'from' | 'to', day: string, zone: string, texts: DateTexts): Choice {
  return {
    group: 'date',
    child,
    name: endName(child),
    value: dayStart(zone, day),
    text: texts.shortDate(day),
  };
}

/** The period of a bar of the chart in place of the one that was chosen before. */
export function withPeriod(
  { choices }: Applied,
  bar: { readonly from: number; readonly to: number },
  step: 'day' | 'hour',
  zone: string,
  texts: DateTexts,
): Applied {
  const others = choices.filter(({ group }) => group !== 'date');
  if (step === 'day') {
    const { day } = siteNow(zone, bar.from * 1000);
    return {
      choices: [dayChoice('from', day, zone, texts), dayChoice('to', day, zone, texts), ...others],
      exact: false,
    };
  }
  const end = (child: 'from' | 'to', seconds: number): Choice => {
    const { day, minutes } = siteNow(zone, seconds * 1000);
    const time = texts.time(timeOfDay(minutes));
    return { group: 'date', child, name: endName(child), value: seconds, text: `${texts.shortDay(day)}, ${time}` };
  };
  return { choices: [end('from', bar.from), end('to', bar.to), ...others], exact: true };
}

/**
 * The period that the chart shows, Unix seconds with the end outside: whole days, also when a single hour of one is
 * chosen, so that its neighbours stay in sight.
 */
export function chartPeriod(applied: Applied, zone: string): { from: number | undefined; to: number | undefined } {
  const [from, to] = [periodEnd(applied, 'from'), periodEnd(applied, 'to')];
  // An exact end is the beginning of the next hour, which may be that of the next day.
  const last = to === undefined ? undefined : siteDay(zone, applied.exact ? to - 1 : to);
  return {
    from: from === undefined ? undefined : dayStart(zone, siteDay(zone, from)),
    to: last === undefined ? undefined : dayEnd(zone, last),
  };
}

function endName(child: 'from' | 'to'): string {
  return child === 'from' ? __('Since', 'security-optimizer') : __('Until', 'security-optimizer');
}
