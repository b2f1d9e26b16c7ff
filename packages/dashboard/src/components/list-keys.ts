/**
 * Where a key leads in a row of things that goes round.
 *
 * @param place the present one; -1 for none
 * @param arrows the keys to the one before and to the one after
 * @returns null for a key that leads nowhere
 */
export function placeOf(
  key: string,
  place: number,
  count: number,
  [before, after]: readonly [string, string] = ['ArrowUp', 'ArrowDown'],
): number | null {
  switch (key) {
    case after:
      return (place + 1) % count;
    case before:
      return (place <= 0 ? count : place) - 1;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}
