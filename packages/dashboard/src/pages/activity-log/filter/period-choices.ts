import type { DateTexts } from '../../../dates/date-texts.js';
import { dayStart } from '../../../dates/site-day.js';
import { siteNow, timeOfDay } from '../../../dates/site-now.js';
import { __ } from '../../../i18n/translate.js';
import type { Applied, Choice } from '../list/applied.js';

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

function endName(child: 'from' | 'to'): string {
  return child === 'from' ? __('Since', 'security-optimizer') : __('Until', 'security-optimizer');
}
