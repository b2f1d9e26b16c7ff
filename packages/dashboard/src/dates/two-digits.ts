/** A part of a time with a zero in front if need be: `05`. */
export function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}
