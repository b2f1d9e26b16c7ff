import { useQueryClient } from '../../data/use-query.js';
import type { FirstQuery } from '../../early/first-query.js';
import { loginOptions, securityOptions } from '../../options/options-source.js';
import { useOptions } from '../../options/use-options.js';
import {
  ebookSource,
  factsSource,
  hardeningSource,
  notificationsSource,
  OVERVIEW_KEY,
  type OverviewSource,
  overviewQuery,
  rateSource,
} from '../../overview/use-overview.js';
import type { Services } from '../../services.js';
import { HeadFoot } from '../../shell/head-foot.js';
import { HardeningSection } from './hardening-section.js';
import { Hero } from './hero/hero.js';
import { HeroFailed, HeroSkeleton } from './hero/hero-places.js';
import { NotificationsSection } from './notifications-section.js';
import { RateSection } from './rate-section.js';
import { RecentSection } from './recent/recent-section.js';

/** What the page shows beside the options. */
export function first({ runQuietly }: Services): readonly FirstQuery[] {
  const sources = [notificationsSource, hardeningSource, ebookSource, rateSource, factsSource];
  return sources.map((source: OverviewSource<unknown>) => ({
    call: { suffix: source.suffix },
    query: overviewQuery(source, runQuietly),
  }));
}

/** Security Dashboard: whether the site is safe, what to do next, and who was there. */
export default function SecurityDashboardPage() {
  const client = useQueryClient();
  const security = useOptions(securityOptions);
  const login = useOptions(loginOptions);

  /** Notifications and cards speak of the settings. */
  function changed(): void {
    void client.invalidateQueries({ queryKey: [OVERVIEW_KEY] });
  }

  return (
    <>
      <HeadFoot>
        {security.state === 'ready' && login.state === 'ready' ? (
          <Hero security={security} login={login} onChanged={changed} />
        ) : security.state === 'failed' || login.state === 'failed' ? (
          <HeroFailed parts={[security, login]} />
        ) : (
          <HeroSkeleton />
        )}
      </HeadFoot>
      <NotificationsSection />
      <HardeningSection
        security={security.state === 'ready' ? security.options : null}
        login={login.state === 'ready' ? login.options : null}
      />
      <RateSection />
      <RecentSection />
    </>
  );
}
