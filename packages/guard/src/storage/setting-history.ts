import type { SiteId } from '../site.js';
import type { Database } from './database.js';
import { type JsonValue, parseStored } from './settings-store.js';

/** Every value that a setting of a site has and ever had. Throws StorageError. */
export type SettingHistory = (site: SiteId, name: string) => Promise<readonly JsonValue[]>;

/** Reads them from the record of changes, of which nothing is ever deleted. */
export function sqlSettingHistory(db: Database): SettingHistory {
  return async (site, name) => {
    const [present, changes] = await Promise.all([
      db.selectFrom('settings').select('value').where('site', '=', site).where('name', '=', name).execute(),
      db.selectFrom('audit').select(['before', 'after']).where('site', '=', site).where('name', '=', name).execute(),
    ]);
    const texts = [...present.map(({ value }) => value), ...changes.flatMap(({ before, after }) => [before, after])];
    return [...new Set(texts)].map((text) => parseStored(name, text));
  };
}
