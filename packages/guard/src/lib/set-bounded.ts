/** Sets a value of a cache and drops the entry that was set first when there are more than `most`. */
export function setBounded<Key, Value>(cache: Map<Key, Value>, key: Key, value: Value, most: number): void {
  cache.set(key, value);
  if (cache.size > most) cache.delete(cache.keys().next().value as Key);
}
