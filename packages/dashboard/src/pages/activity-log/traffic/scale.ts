/** Lines of the scale above the ground. */
const LINES = 3;
const ROUND = [1, 2, 4, 5, 10];

/**
 * The values at the lines of a scale that holds `max`, highest first, down to 0. All are round numbers.
 *
 * @param max the highest value, a whole number
 */
export function scaleOf(max: number): readonly number[] {
  const least = Math.max(1, Math.ceil(max / LINES));
  const power = 10 ** Math.floor(Math.log10(least));
  const step = (ROUND.find((round) => round * power >= least) ?? 10) * power;
  return Array.from({ length: LINES + 1 }, (_, line) => (LINES - line) * step);
}
