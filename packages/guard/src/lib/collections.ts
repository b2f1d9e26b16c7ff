/** Sets a value in a cache, and deletes the entry that was added first when there are more than `maxSize`. */
export function setBounded<Key, Value>(cache: Map<Key, Value>, key: Key, value: Value, maxSize: number): void {
  cache.set(key, value);
  if (cache.size > maxSize) cache.delete(cache.keys().next().value as Key);
}

/**
 * Whether two values of plain data (JSON values) are equal, whatever the order of keys. For thousands of small objects
 * Node's `isDeepStrictEqual` takes ten times as long.
 */
export function isSameData(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  for (const key of keys) {
    if (!Object.hasOwn(other, key)) return false;
    if (!isSameData((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key])) return false;
  }
  return true;
}
