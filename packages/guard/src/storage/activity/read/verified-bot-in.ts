import type { Range } from '../../../lib/address-set.js';
import type { SiteId } from '../../../site.js';
import { keyOfWords } from '../visitor-key.js';
import type { Reader } from './reader.js';

/** The search engine that a visitor in this range was proved to be, or null. Reads along the index of addresses. */
export async function verifiedBotIn(reader: Reader, site: SiteId, range: Range): Promise<string | null> {
  const row = await reader.db
    .selectFrom('visitors')
    .select('verified_bot')
    .where('site', '=', await reader.siteNumber(site))
    .where('kind', '=', 'ip')
    .where('key', '>=', keyOfWords(range.from))
    .where('key', '<=', keyOfWords(range.to))
    .where('verified_bot', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return row?.verified_bot ?? null;
}
