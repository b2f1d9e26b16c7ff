import type { z } from 'zod';
import type { StoredSetting } from '../storage/settings-store.js';
import { StorageError } from '../storage/storage-error.js';

/**
 * A group of settings: what is stored, and the default for what was never changed.
 *
 * @param schemas what each stored value has to be
 * @throws StorageError for a stored value that has another form; a default in its place could be the weaker one
 */
export function storedValues<Group extends object>(
  schemas: { readonly [Name in keyof Group]: z.ZodType<Group[Name]> },
  defaults: Group,
  stored: ReadonlyMap<string, StoredSetting>,
): Group {
  const names = Object.keys(schemas) as (keyof Group & string)[];
  const entries = names.map((name) => {
    const setting = stored.get(name);
    if (setting === undefined) return [name, defaults[name]];
    const parsed = schemas[name].safeParse(setting.value);
    if (!parsed.success) throw new StorageError('corrupt', `The stored value of ${name} has an unknown form.`);
    return [name, parsed.data];
  });
  return Object.fromEntries(entries) as Group;
}
