/** Below this, a share says less than the number itself. */
const SHARES_FROM = 100;
/** From this many times as many on, a percentage is hard to picture. */
const MANY_TIMES = 10;

/**
 * How a figure stands to that of the week before.
 * @param before null when nothing is known of that week
 * @returns words, empty when there is nothing to compare with
 */
export function compareWords(now: number, before: number | null): string {
  if (before === null) return '';
  if (now === before) return 'Same as last week';
  const word = now > before ? 'more' : 'fewer';
  if (before < SHARES_FROM) return `${count(Math.abs(now - before))} ${word} than last week`;
  if (now >= before * MANY_TIMES) return `${count(Math.round(now / before))} times as many as last week`;
  const share = Math.round((Math.abs(now - before) / before) * 100);
  return share === 0 ? 'About the same as last week' : `${share}% ${word} than last week`;
}

/** A number as people write it: `4,292`. */
export function count(number: number): string {
  return number.toLocaleString('en-US');
}

/** `1 visit`, `4,292 visits`. */
export function countOf(number: number, one: string, many: string): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}
