import { useQueryClient } from '../../data/use-query.js';
import { loginOptions, securityOptions } from '../../options/options-source.js';
import { useOptions } from '../../options/use-options.js';
import { OVERVIEW_KEY } from '../../overview/use-overview.js';
import { HeadFoot } from '../../shell/head-foot.js';
import { HardeningSection } from './hardening-section.js';
import { Hero } from './hero/hero.js';
import { HeroFailed, HeroSkeleton } from './hero/hero-places.js';
import { NotificationsSection } from './notifications-section.js';
import { RateSection } from './rate-section.js';
import { RecentSection } from './recent/recent-section.js';

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
