import type { Language } from '../../texts/language.js';

/** Below this, a share says less than the number itself. */
const SHARES_FROM = 100;
/** From this many times as many on, a percentage is hard to picture. */
const MANY_TIMES = 10;

/**
 * How a figure stands to that of the week before.
 * @param before null when nothing is known of that week
 * @returns words, empty when there is nothing to compare with
 */
export function compareWords(language: Language, now: number, before: number | null): string {
  if (before === null) return '';
  if (now === before) return language.translate('Same as last week');
  if (before < SHARES_FROM) return differenceWords(language, now - before);
  if (now >= before * MANY_TIMES) {
    return language.translate('{times} times as many as last week', { times: Math.round(now / before) });
  }
  const share = Math.round((Math.abs(now - before) / before) * 100);
  if (share === 0) return language.translate('About the same as last week');
  return now > before
    ? language.translate('{share}% more than last week', { share })
    : language.translate('{share}% fewer than last week', { share });
}

function differenceWords({ counted }: Language, difference: number): string {
  return difference > 0
    ? counted('{count} more than last week', '{count} more than last week', difference)
    : counted('{count} fewer than last week', '{count} fewer than last week', -difference);
}
