/** A switch as a server may write it; undefined for anything that is neither on nor off. */
export function readFlag(value: unknown): 0 | 1 | undefined {
  if (value === 1 || value === '1' || value === true) return 1;
  return value === 0 || value === '0' || value === false ? 0 : undefined;
}
