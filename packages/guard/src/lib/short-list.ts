/** How many names a sentence holds. */
const SHOWN = 3;

/** A list for a sentence: the first names, and how many more there are. */
export function toShortList(names: readonly string[]): string {
  const more = names.length - SHOWN;
  return more <= 0 ? names.join(', ') : `${names.slice(0, SHOWN).join(', ')} and ${more.toLocaleString('en')} more`;
}
