import type { BlockedRow } from '@security-optimizer/contract/activity/schemas';
import { ApiError } from '../../src/api/envelope.js';
import { BlockedRowView, type BlockedRowViewProps } from '../../src/features/activity-log/blocked-tab.js';
import { AppliedChips, LoadMore, RefreshButton } from '../../src/features/activity-log/log-card.js';
import type { LogList } from '../../src/features/activity-log/log-lists.js';
import { RegisteredTable, UnknownTable } from '../../src/features/activity-log/log-tables.js';
import { Sparkline } from '../../src/features/activity-log/manage-dialog.js';
import { RowMenu } from '../../src/features/activity-log/row-actions.js';
import { TrafficBody } from '../../src/features/activity-log/traffic-chart.js';
import { Table, TableCell, TableRow } from '../../src/ui/table.js';
import { deed, freshLog, visit, words } from '../../test/fake-site/activity-log.js';
import type { Group, PartExample } from '../example.js';
import { english24, LONG, nothing, sampleTraffic, TODAY, UNBROKEN } from './samples.js';

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
  rows: { entries: [], page: 1, pages: 48, cursor: 'next', total: 1430, filters: [], isFull: true },
  isCurrent: true,
  fetching: null,
  failure: null,
  firstAdded: null,
  loadedAt: 0,
  reload: nothing,
  retry: nothing,
  loadMore: nothing,
  loadMoreQuietly: nothing,
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
      <Table
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
      </Table>
    ),
  };
}

function refresh(state: string, news: number, busy: boolean): PartExample {
  return {
    id: `refresh-${state}`,
    title: `refresh, ${state.replace(/-/g, ' ')}`,
    draw: () => <RefreshButton newRows={news} busy={busy} onRefresh={nothing} />,
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
    {
      id: 'table-row',
      title: 'a row of any table',
      ground: 'flush',
      draw: () => (
        <Table label="Recipients" className="so-table--rows is-single" columns={['Email', 'Actions']} withActions>
          <TableRow id="1">
            <TableCell className="so-td-who">owner@example.com</TableCell>
            <TableCell className="so-c-actions">{menu()}</TableCell>
          </TableRow>
        </Table>
      ),
    },
    blocked('address', {}),
    blocked('locked', {}, { until: `${TODAY} 22:41` }),
    blocked('user', {}, { type: 'user', user: 'customer-31' }),
    blocked('pending', { state: 'pending' }),
    blocked('failed', { state: 'failed' }),
    more('idle', {}),
    more('pending', { fetching: 'more' }),
    more('failed', { failure: new ApiError('no_response') }),
    refresh('idle', 0, false),
    refresh('news', 12, false),
    refresh('many-news', 1000, false),
    refresh('busy', 0, true),
    {
      id: 'applied-chips',
      title: 'what a list is filtered by',
      draw: () => <AppliedChips applied={{ choices, exact: false, preset: 'all', search: '' }} onChange={nothing} />,
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
      act: (user) => user.focus('button', /^Saturday 21 Nov, 12:00/),
    },
    {
      id: 'sparkline',
      title: 'visits of the last hours',
      draw: () => <Sparkline values={[2, 4, 8, 3, 0, 1, 12, 20, 18, 4, 6, 9]} />,
    },
  ],
};
