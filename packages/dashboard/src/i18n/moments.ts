import { type DateTexts, dateTexts } from '../dates/date-texts.js';

/** A day, with or without its time, or a time alone, as the server writes them; no part of a longer word. */
const MOMENT =
  /(^|[\s(“])(?:(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?::\d\d)?)?|(?:^)(\d\d:\d\d))(?=$|[\s,;)”]|\.(?:\s|$))/g;

let locale = 'en';
let known: DateTexts | null = null;

/** From now on moments are told in this language. @param tag BCP 47 */
export function tellMomentsIn(tag: string): void {
  locale = tag;
  known = null;
}

/**
 * A text of the server, in which moments stand as `YYYY-MM-DD HH:MM` on the site's clock, with days and times as the
 * owner's language writes them: `23 Nov 2026, 06:00`.
 */
export function localMoments(text: string): string {
  if (!/\d\d[-:]\d\d/.test(text)) return text;
  return text.replace(MOMENT, (_whole, before: string, day?: string, time?: string, alone?: string) => {
    known ??= dateTexts(locale);
    if (day === undefined) return before + known.time(alone as string);
    return before + known.shortDate(day) + (time === undefined ? '' : `, ${known.time(time)}`);
  });
}
