import type { protectionFacts } from '@security-optimizer/contract/overview';
import type { z } from 'zod';
import type { ActivityStore } from '../activity/activity-store.js';
import { localDaysFrom } from '../activity/local-days.js';
import type { SiteId } from '../site.js';

export type ProtectionFacts = z.output<typeof protectionFacts.response>;

/** The figures speak of this many days of the site's calendar, today the last: the same as the chart below them. */
const FACTS_DAYS = 7;

/** Unix seconds. */
export function factsBegin(timeZone: string, now: number): number {
  return localDaysFrom(timeZone, now, 1 - FACTS_DAYS);
}

/**
 * The figures below the protection score; what can't be read is null, and the others stand.
 * @param from Unix seconds
 * @param now Unix seconds
 */
export async function readProtectionFacts(
  deps: {
    readonly store: Pick<ActivityStore, 'traffic' | 'eventKinds'>;
    readonly countBlocked: (site: SiteId) => Promise<number>;
  },
  site: SiteId,
  { from, now }: { readonly from: number; readonly now: number },
): Promise<ProtectionFacts> {
  const [blocked, block_list, failed_logins] = await Promise.all([
    known(async () => (await deps.store.traffic(site, from, now)).reduce((sum, hour) => sum + hour.blocked, 0)),
    known(() => deps.countBlocked(site)),
    known(async () => {
      const kinds = await deps.store.eventKinds(site, from, now);
      return kinds.filter(({ kind }) => kind === 'login.failed').reduce((sum, { count }) => sum + count, 0);
    }),
  ]);
  return { blocked, block_list, failed_logins };
}

async function known(read: () => Promise<number>): Promise<number | null> {
  try {
    return await read();
  } catch {
    return null;
  }
}
