import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { ApiClient } from '../../api/client.js';
import type { InitialQuery } from '../../api/preloaded-responses.js';
import { invalidate } from '../../api/queries.js';
import { __ } from '../../i18n/translate.js';
import { Lazy, useIdle, usePlaced } from '../../ui/lazy.js';
import { HeaderFoot } from '../../ui/portals.js';
import { Section } from '../../ui/section.js';
import { attackersQuery, toAttackersCall, useAttackers } from '../activity-log/use-attackers.js';
import { loginSettings, securitySettings } from '../settings/settings-query.js';
import { useSettings } from '../settings/use-settings.js';
import { HardeningSection } from './hardening-section.js';
import { NotificationsSection } from './notifications-section.js';
import {
  ebookSource,
  factsSource,
  hardeningSource,
  notificationsSource,
  OVERVIEW_KEY,
  type OverviewSource,
  overviewQuery,
  rateSource,
  useOverview,
} from './overview.js';
import { ProtectionScore, ScoreFailed, ScoreSkeleton } from './protection-score.js';
import { RateSection } from './rate-section.js';

/** The page's queries beside its settings. */
export function first(api: ApiClient): readonly InitialQuery[] {
  const sources = [notificationsSource, hardeningSource, ebookSource, rateSource, factsSource];
  return [
    ...sources.map(
      (source: OverviewSource<unknown>): InitialQuery => ({
        call: { endpoint: source.endpoint, request: {} },
        prefetch: (queries) => queries.prefetchQuery(overviewQuery(source, api)),
      }),
    ),
    {
      call: toAttackersCall(false),
      prefetch: (queries) => queries.prefetchQuery(attackersQuery(false, api)),
    },
  ];
}

const loadAttackers = () => import('./attackers-section.js');
/** Rows of the small panel "Who is attacking". */
const MAX_ATTACKERS = 3;

/** Who is attacking; hidden if there are no attackers or it is unknown. Its space is reserved while its code loads. */
function Attackers() {
  const rows = useAttackers().attackers?.entries.length ?? 0;
  if (rows === 0) return null;
  return (
    <Lazy load={loadAttackers} props={{ limit: MAX_ATTACKERS }}>
      <Section title={__('Who is attacking', 'security-optimizer')} stacked busy>
        <div className="so-card">
          <ul className="so-foelist">
            {Array.from({ length: Math.min(rows, MAX_ATTACKERS) }, (_, index) => index).map((index) => (
              <li key={index}>
                <span className="so-sk so-sk--foe" />
              </li>
            ))}
          </ul>
        </div>
      </Section>
    </Lazy>
  );
}

const loadRecent = () => import('./recent-section.js');

/** Recent Activity is below the first screen: it is loaded and drawn once the browser is idle. */
function RecentLater() {
  const frame = (
    <Section title={__('Recent Activity', 'security-optimizer')} busy>
      <div className="so-card so-recent__wait" />
    </Section>
  );
  return useIdle() ? (
    <Lazy load={loadRecent} props={{}}>
      {frame}
    </Lazy>
  ) : (
    frame
  );
}

/** Whether all data that determines the heights on the page has been loaded or has failed. */
function useComplete(): boolean {
  const { attackers, failure, missing } = useAttackers();
  const parts = [
    useOverview(notificationsSource),
    useOverview(hardeningSource),
    useOverview(ebookSource),
    useOverview(rateSource),
    useOverview(factsSource),
  ];
  return (
    (attackers !== undefined || failure !== null || missing) &&
    parts.every((one) => one.part !== undefined || one.missing)
  );
}

/** Security Dashboard: protection score, next steps, notifications and recent activity. */
export default function SecurityDashboardPage() {
  const client = useQueryClient();
  const security = useSettings(securitySettings);
  const login = useSettings(loginSettings);

  const known = security.state === 'ready' && login.state === 'ready';

  const placed = usePlaced(useComplete() && security.state !== 'loading' && login.state !== 'loading');

  // Notifications and cards depend on the settings.
  const settings = useRef<readonly object[]>([]);
  useEffect(() => {
    if (!known) return;
    const before = settings.current;
    settings.current = [security.values, login.values];
    if (before.length > 0 && settings.current.some((values, index) => values !== before[index])) {
      void invalidate(client, [OVERVIEW_KEY]);
    }
  });

  return (
    <>
      <HeaderFoot>
        {known ? (
          <ProtectionScore />
        ) : security.state === 'failed' || login.state === 'failed' ? (
          <ScoreFailed parts={[security, login]} />
        ) : (
          <ScoreSkeleton />
        )}
      </HeaderFoot>
      <div className={placed ? undefined : 'so-unplaced'}>
        <div className="so-cols so-cols--attack">
          <NotificationsSection />
          <Attackers />
        </div>
        <HardeningSection
          security={security.state === 'ready' ? security.values : null}
          login={login.state === 'ready' ? login.values : null}
        />
        <RateSection />
        <RecentLater />
      </div>
    </>
  );
}
