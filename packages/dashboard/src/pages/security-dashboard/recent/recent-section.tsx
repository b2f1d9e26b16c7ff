import '../../../icons/activity-icons.js';
import { useId, useState } from 'react';
import { Lazy } from '../../../components/lazy.js';
import { Section } from '../../../components/section.js';
import { TableSkeleton } from '../../../components/table-skeleton.js';
import { Tabs } from '../../../components/tabs.js';
import { useIdle } from '../../../components/use-idle.js';
import { addDays } from '../../../dates/day.js';
import { dayStart } from '../../../dates/site-day.js';
import { siteNow } from '../../../dates/site-now.js';
import { useSiteZone } from '../../../dates/use-site-zone.js';
import { __, _n, sprintf } from '../../../i18n/translate.js';
import { useServices } from '../../../services.js';
import { registeredColumns } from '../../activity-log/list/registered-table.js';
import { tabText } from '../../activity-log/log-tabs.js';
import { useTraffic } from '../../activity-log/traffic/use-traffic.js';
import { RecentUnknown } from './recent-unknown.js';

const TABS = ['unknown', 'registered'] as const;
type TabId = (typeof TABS)[number];

/** Days of the chart, today included. */
const DAYS = 7;

const loadRegistered = () => import('./recent-registered.js');
const loadTraffic = () => import('./recent-traffic.js');

/** Recent Activity, below the first screen: drawn once the rest of the page is. */
export function RecentSection() {
  if (useIdle()) return <RecentActivity />;
  return (
    <Section title={__('Recent Activity', 'security-optimizer')} busy>
      <div className="so-card so-recent__wait" />
    </Section>
  );
}

/** The chart of the last days and the newest rows, with the way to the whole log. */
function RecentActivity() {
  const { config } = useServices();
  const zone = useSiteZone();
  const [tab, open] = useState<TabId>('unknown');
  const today = siteNow(zone, Date.now()).day;
  const traffic = useTraffic({ from: dayStart(zone, addDays(today, 1 - DAYS)), to: undefined });
  const base = useId();

  return (
    <Section
      title={__('Recent Activity', 'security-optimizer')}
      side={
        traffic
          ? /* translators: %d: number of days */ sprintf(
              _n('Last %d day', 'Last %d days', DAYS, 'security-optimizer'),
              DAYS,
            )
          : undefined
      }
    >
      <div className="so-card">
        {traffic === null ? null : traffic === undefined ? (
          <TrafficSkeleton />
        ) : (
          <Lazy load={loadTraffic} props={{ traffic }}>
            <TrafficSkeleton />
          </Lazy>
        )}
        <div className="so-recent__tabs">
          <Tabs
            label={__('Recent activity', 'security-optimizer')}
            tabs={TABS.map((id) => ({ id, text: tabText(id) }))}
            current={tab}
            base={base}
            onChange={open}
          />
        </div>
        <div role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-tab-${tab}`}>
          {tab === 'unknown' ? (
            <RecentUnknown />
          ) : (
            <Lazy load={loadRegistered} props={{}}>
              <TableSkeleton columns={registeredColumns().slice(0, -1)} />
            </Lazy>
          )}
        </div>
        {config.logPageUrl === '' ? null : (
          <div className="so-card__foot">
            <a className="so-link" href={logAddress(config.logPageUrl, tab)}>
              {__('View all logs', 'security-optimizer')}
            </a>
          </div>
        )}
      </div>
    </Section>
  );
}

/** The full log, on the tab that is open here; its first one needs no hash. */
function logAddress(url: string, tab: TabId): string {
  return tab === 'unknown' ? url : `${url}#${tab}`;
}

function TrafficSkeleton() {
  return (
    <div className="so-traffic--sk so-recent__sk" aria-hidden="true">
      <span className="so-sk" />
    </div>
  );
}
