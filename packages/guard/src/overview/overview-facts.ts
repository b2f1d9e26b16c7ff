import type { HardeningItem, protectionFacts } from '@security-optimizer/contract/overview/endpoints';
import type { z } from 'zod';
import type { ActivityStore } from '../activity/index.js';
import { countFailedLogins } from '../activity/index.js';
import { localDaysFrom } from '../lib/time-zone.js';
import { type Essential, listEssentials } from '../settings/essentials.js';
import type { SiteSettings } from '../settings/site-settings.js';
import type { SiteId } from '../site.js';

export type ProtectionFacts = z.output<typeof protectionFacts.response>;

/** Calendar days of the site that the figures cover, including today, like the chart below them. */
const FACTS_DAYS = 7;

/** Returns the beginning of the days that the figures cover, Unix seconds. */
export function getFactsStart(timeZone: string, now: number): number {
  return localDaysFrom(timeZone, now, 1 - FACTS_DAYS);
}

/**
 * Returns the figures below the protection score. A figure that can't be read is null.
 * @param from Unix seconds
 * @param now Unix seconds
 */
export async function readProtectionFacts(
  deps: {
    readonly store: Pick<ActivityStore, 'traffic' | 'failedLogins'>;
    readonly countBlocked: (site: SiteId) => Promise<number>;
  },
  site: SiteId,
  { from, now }: { readonly from: number; readonly now: number },
): Promise<ProtectionFacts> {
  const [blocked, block_list, failed_logins] = await Promise.all([
    orNull(async () => (await deps.store.traffic(site, from, now)).reduce((sum, hour) => sum + hour.blocked, 0)),
    orNull(() => deps.countBlocked(site)),
    orNull(() => countFailedLogins(deps.store, site, from, now)),
  ]);
  return { blocked, block_list, failed_logins };
}

async function orNull(read: () => Promise<number>): Promise<number | null> {
  try {
    return await read();
  } catch {
    return null;
  }
}

/**
 * Returns a card for each page with essentials, with the number of those that are on. All essentials have the same
 * weight.
 *
 * @param factorComplete whether everybody who needs a second factor has one; the second factor counts only then
 */
export function toHardeningItems(
  settings: SiteSettings,
  admin: (page: string) => string,
  factorComplete = true,
): HardeningItem[] {
  const essentials = listEssentials(settings, factorComplete);
  const card = (id: Essential['page'], title: string, icon: string, text: string): HardeningItem => {
    const own = essentials.filter(({ page }) => page === id);
    const on = own.filter(({ complete }) => complete).length;
    return {
      id,
      title,
      text: on === own.length ? 'Everything recommended is on.' : text,
      icon,
      button_link: admin(`admin.php?page=${id}`),
      button_text: 'Open',
      on,
      total: own.length,
    };
  };
  return [
    card('site-security', 'Site Security', 'site', 'Close the gaps that malware and known exploits use.'),
    card('login-settings', 'Login Security', 'key', 'Keep strangers and bots away from your login page.'),
  ];
}

const DAY_MS = 24 * 3600_000;

/** Whether to ask for a review now. Times are milliseconds since the Unix epoch. */
export function shouldAskForReview(facts: {
  readonly link: string;
  readonly dismissed: boolean;
  readonly firstStart: number;
  readonly now: number;
  /** Days of use before a review is requested. */
  readonly afterDays: number;
}): boolean {
  return facts.link !== '' && !facts.dismissed && facts.now - facts.firstStart >= facts.afterDays * DAY_MS;
}
