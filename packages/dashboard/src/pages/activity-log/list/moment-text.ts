import type { DateTexts } from '../../../dates/date-texts.js';
import { twoDigits } from '../../../dates/two-digits.js';

/**
 * Day and time of a row in the owner's language.
 *
 * @param ts `YYYY-MM-DD HH:MM`, the site's clock
 * @param seconds Unix seconds, for the seconds that `ts` leaves out; zones differ by whole minutes. 0: not known
 */
export function momentTexts(ts: string, seconds: number, texts: DateTexts): { day: string; time: string } | null {
  const match = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2})/.exec(ts);
  if (match === null) return null;
  const [, day = '', minute = ''] = match;
  const time = seconds > 0 ? texts.fullTime(`${minute}:${twoDigits(seconds % 60)}`) : texts.time(minute);
  return { day: texts.shortDay(day), time };
}

/** Day and time in one text, `21 Nov, 14:32`; a text of another form as it is. */
export function momentText(ts: string, texts: DateTexts): string {
  const moment = momentTexts(ts, 0, texts);
  return moment === null ? ts : `${moment.day}, ${moment.time}`;
}
