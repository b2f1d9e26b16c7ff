import type { BlockedRow } from '@security-optimizer/contract/activity';
import { ApiFailure } from '../../src/api/api-failure.js';
import { BlockedRowView, type BlockedRowViewProps } from '../../src/pages/activity-log/blocked/blocked-row.js';
import { AppliedChips } from '../../src/pages/activity-log/list/applied-chips.js';
import { LoadMore } from '../../src/pages/activity-log/list/load-more.js';
import { LogTable } from '../../src/pages/activity-log/list/log-table.js';
import { RefreshButton } from '../../src/pages/activity-log/list/refresh-button.js';
import { RegisteredTable } from '../../src/pages/activity-log/list/registered-table.js';
import { RowMenu } from '../../src/pages/activity-log/list/row-menu.js';
import { UnknownTable } from '../../src/pages/activity-log/list/unknown-table.js';
import type { LogList } from '../../src/pages/activity-log/list/use-log-list.js';
import { Sparkline } from '../../src/pages/activity-log/manage/sparkline.js';
import { TrafficBody } from '../../src/pages/activity-log/traffic/traffic-body.js';
import { deed, freshLog, visit, words } from '../../test/fake-log.js';
import type { Group, PartExample } from '../example.js';
import { sampleTraffic } from './sample-site.js';
import { english24, LONG, nothing, TODAY, UNBROKEN } from './samples.js';
import '../../src/icons/activity-icons.js';

const table = { busy: false, focusRow: null };
const menu = () => (
  <RowMenu subject="203.0.113.24" manageText="Manage IP Traffic" onManage={nothing} onView={nothing} />
);

const unknownRows = [
  ...freshLog().unknown,
  visit(97, { code: 302, page_visited: '/wp-admin/' }),
  visit(96, {
    ip: '2001:db8:85a3:8d3:1319:8a2e:370:7348',
    hostname: UNBROKEN,
    page_visited: `/?${UNBROKEN}`.repeat(3),
  }),
];
const registeredRows = [
  ...freshLog().registered,
  deed(48, { user: LONG, words: words('login.failed', ''), activity: 'Failed login' }),
  deed(47, { user: 'Scheduled task', visitor_id: 0, origin: 'cron', words: words('plugin.updated', LONG) }),
];

const list: LogList<{ id: number }> = {
  rows: { entries: [], page: 1, pages: 48, cursor: 'next', total: 1430, filters: [] },
  isCurrent: true,
  fetching: null,
  failure: null,
  firstAdded: null,
  reload: nothing,
  retry: nothing,
  loadMore: nothing,
};

function more(state: string, change: Partial<LogList<{ id: number }>>): PartExample {
  return {
    id: `load-more-${state}`,
    title: `next page, ${state}`,
    ground: 'flush',
    draw: () => <LoadMore list={{ ...list, ...change }} />,
  };
}

function blocked(state: string, props: Partial<BlockedRowViewProps>, change: Partial<BlockedRow> = {}): PartExample {
  return {
    id: `blocked-row-${state}`,
    title: `blocked, ${state}`,
    ground: 'flush',
    draw: () => (
      <LogTable
        label="Blocked"
        columns={['Blocked', 'Kind', 'Since', 'Actions']}
        withActions
        className="so-table--blocked"
      >
        {freshLog()
          .blocked.slice(0, 1)
          .map((row) => (
            <BlockedRowView key={row.id} row={{ ...row, ...change }} state={undefined} onUnblock={nothing} {...props} />
          ))}
      </LogTable>
    ),
  };
}

function refresh(state: string, news: number, busy: boolean): PartExample {
  return {
    id: `refresh-${state}`,
    title: `refresh, ${state.replace(/-/g, ' ')}`,
    draw: () => <RefreshButton news={news} busy={busy} onRefresh={nothing} />,
  };
}

const choices = [
  { group: 'type', child: 'type', name: 'Visitor', value: 'Human', text: 'Human' },
  { group: 'ip', child: 'ip', name: 'IP address', value: '203.0.113.24', text: '203.0.113.24' },
];

export const log: Group = {
  id: 'log',
  title: 'Tables and charts of the log',
  examples: [
    {
      id: 'table-unknown',
      title: 'unknown visitors',
      ground: 'flush',
      draw: () => <UnknownTable {...table} rows={unknownRows} menu={menu} />,
    },
    {
      id: 'table-unknown-busy',
      title: 'unknown visitors, read again',
      ground: 'flush',
      draw: () => <UnknownTable {...table} rows={unknownRows.slice(0, 2)} busy menu={menu} />,
    },
    {
      id: 'table-unknown-plain',
      title: 'unknown visitors without actions',
      ground: 'flush',
      draw: () => <UnknownTable {...table} rows={unknownRows.slice(0, 2)} />,
    },
    {
      id: 'table-registered',
      title: 'registered users',
      ground: 'flush',
      draw: () => <RegisteredTable {...table} rows={registeredRows} menu={menu} />,
    },
    blocked('address', {}),
    blocked('locked', {}, { until: `${TODAY} 22:41` }),
    blocked('user', {}, { type: 'user', user: 'customer-31' }),
    blocked('pending', { state: 'pending' }),
    blocked('failed', { state: 'failed' }),
    more('idle', {}),
    more('pending', { fetching: 'more' }),
    more('failed', { failure: new ApiFailure('no_response') }),
    refresh('idle', 0, false),
    refresh('news', 12, false),
    refresh('many-news', 1000, false),
    refresh('busy', 0, true),
    {
      id: 'applied-chips',
      title: 'what a list is filtered by',
      draw: () => <AppliedChips applied={{ choices, exact: false }} onChange={nothing} />,
    },
    {
      id: 'traffic',
      title: 'traffic',
      draw: () => <TrafficBody traffic={sampleTraffic()} onChoose={nothing} />,
    },
    {
      id: 'traffic-plain',
      title: `traffic, a picture only, since ${english24.shortDay('2026-11-08')}`,
      draw: () => <TrafficBody traffic={sampleTraffic()} />,
    },
    {
      id: 'traffic-hour',
      title: 'traffic of a day, one hour marked, tooltip on focus',
      draw: () => {
        const traffic = sampleTraffic(24);
        return <TrafficBody tall traffic={traffic} marked={traffic.bars[12]?.from} onChoose={nothing} />;
      },
      act: (hands) => hands.focus('button', /^Saturday 21 Nov, 12:00/),
    },
    {
      id: 'sparkline',
      title: 'visits of the last hours',
      draw: () => <Sparkline values={[2, 4, 8, 3, 0, 1, 12, 20, 18, 4, 6, 9]} />,
    },
  ],
};
