import { toLogHref } from '@security-optimizer/contract/activity/log-address';
import type { VisitPreset } from '@security-optimizer/contract/activity/schemas';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { SILENT } from '../../api/client.js';
import { ApiError } from '../../api/envelope.js';
import { useSite } from '../../api/site-context.js';
import { LoadFailed } from '../../forms/request-failed.js';
import { addDays, dayStart, siteNow } from '../../i18n/days.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { EmptyState } from '../../ui/inline-messages.js';
import { Lazy } from '../../ui/lazy.js';
import { Section } from '../../ui/section.js';
import { TableSkeleton } from '../../ui/table.js';
import { Tabs } from '../../ui/tabs.js';
import { type ListSource, registeredSource, tabText, unknownSource, useTraffic } from '../activity-log/log-lists.js';
import { RegisteredTable, registeredColumns, UnknownTable, unknownColumns } from '../activity-log/log-tables.js';
import type { TrafficLinks } from '../activity-log/traffic-chart.js';
import { useSiteTimeZone } from '../settings/use-settings.js';

const TABS = ['unknown', 'registered'] as const;
type TabId = (typeof TABS)[number];

/** Days of the chart, including today. */
const DAYS = 7;

const loadTraffic = () =>
  import('../activity-log/traffic-chart.js').then(({ RecentTraffic }) => ({ default: RecentTraffic }));

/** Recent Activity: the chart of the last days, the newest rows, and a link to the log. */
export default function RecentSection() {
  const { config } = useSite();
  const zone = useSiteTimeZone();
  const [tab, open] = useState<TabId>('unknown');
  const today = siteNow(zone, Date.now()).day;
  const from = dayStart(zone, addDays(today, 1 - DAYS));
  const traffic = useTraffic({ from, to: undefined });
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
          <Lazy load={loadTraffic} props={{ traffic, links: trafficLinks(config.logPageUrl, String(from)) }}>
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
          {tab === 'unknown' ? <RecentUnknown /> : <RecentRegistered />}
        </div>
        {config.logPageUrl === '' ? null : (
          <div className="so-card__foot">
            <a className="so-link" href={toLogHref(config.logPageUrl, { tab })}>
              {__('View all logs', 'security-optimizer')}
            </a>
          </div>
        )}
      </div>
    </Section>
  );
}

/** Returns the links of the chart's legend. @param from start of the first day, Unix seconds */
function trafficLinks(url: string, from: string): TrafficLinks | undefined {
  if (url === '') return undefined;
  const link = (preset: VisitPreset) => ({ href: toLogHref(url, { preset, filters: { from } }) });
  return { blocked: link('blocked'), bot: link('bots'), human: link('humans') };
}

function TrafficSkeleton() {
  return (
    <div className="so-traffic--sk so-recent__sk" aria-hidden="true">
      <span className="so-sk" />
    </div>
  );
}

/** The newest visits of anonymous clients. */
function RecentUnknown() {
  const recent = useRecent(unknownSource);
  return (
    <div className="so-recent so-recent--unknown">
      <RecentList
        recent={recent}
        columns={unknownColumns().slice(0, -1)}
        emptyText={__('Visits appear here as they come in.', 'security-optimizer')}
      >
        {(rows) => <UnknownTable rows={rows} busy={false} focusRow={null} />}
      </RecentList>
    </div>
  );
}

/** The newest events of registered users. */
function RecentRegistered() {
  const recent = useRecent(registeredSource);
  return (
    <div className="so-recent">
      <RecentList
        recent={recent}
        columns={registeredColumns().slice(0, -1)}
        emptyText={__('What your users do appears here.', 'security-optimizer')}
      >
        {(rows) => <RegisteredTable rows={rows} busy={false} focusRow={null} />}
      </RecentList>
    </div>
  );
}

interface RecentListProps<Row> {
  readonly recent: Recent<Row>;
  readonly columns: readonly string[];
  /** Text of an empty list. */
  readonly emptyText: string;
  readonly children: (rows: readonly Row[]) => ReactNode;
}

/** The newest rows, or their placeholder. */
function RecentList<Row>({ recent, columns, emptyText, children }: RecentListProps<Row>) {
  const { rows, failure, retrying, retry } = recent;
  if (rows !== undefined) return rows.length === 0 ? <EmptyState text={emptyText} /> : children(rows);
  if (failure === null) return <TableSkeleton columns={columns} />;
  return (
    <div className="so-card__body">
      <LoadFailed
        text={__('We couldn’t load this list.', 'security-optimizer')}
        failure={failure}
        retrying={retrying}
        onRetry={retry}
      />
    </div>
  );
}

interface Recent<Row> {
  readonly rows: readonly Row[] | undefined;
  readonly failure: ApiError | null;
  readonly retrying: boolean;
  readonly retry: () => void;
}

/** The newest rows of a list (the limited view of the specification). */
function useRecent<Row>(source: ListSource<Row>): Recent<Row> {
  const { api } = useSite();
  const query = useQuery({
    queryKey: ['recent', source.endpoint.name],
    queryFn: async ({ signal }) => {
      const call = { endpoint: source.endpoint, request: { limitedView: 1 }, signal };
      const rows = source.read((await api.call<unknown>(call, SILENT)).data);
      if (rows === null) throw new ApiError('refused');
      return rows;
    },
  });
  return {
    rows: query.data?.entries,
    failure: query.data === undefined ? query.error : null,
    retrying: query.isFetching,
    retry: () => void query.refetch(),
  };
}
