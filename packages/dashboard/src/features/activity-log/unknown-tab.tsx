import { toLogHref } from '@security-optimizer/contract/activity/log-address';
import type { Traffic, TrafficBar, UnknownRow } from '@security-optimizer/contract/activity/schemas';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { invalidate } from '../../api/queries.js';
import { useSite } from '../../api/site-context.js';
import { getDateFormats } from '../../i18n/date-formats.js';
import { __ } from '../../i18n/translate.js';
import { Lazy, usePlaced } from '../../ui/lazy.js';
import { useSiteTimeZone } from '../settings/use-settings.js';
import { findChoice, getChartPeriod, getPeriodEnd, toLogView, withPeriod, withSubject } from './applied-filters.js';
import { toBlock, useBlocks } from './blocks.js';
import { type ListTabProps, LogCard } from './log-card.js';
import { TRAFFIC_KEY, unknownSource, useLogList, useTraffic } from './log-lists.js';
import { UnknownTable, unknownColumns } from './log-tables.js';
import { RowMenu, useManageDialog, useOpenRow, useRowSelection } from './row-actions.js';
import type { TrafficLink, TrafficLinks } from './traffic-chart.js';
import { useAttackers } from './use-attackers.js';
import { ATTACKERS_KEY, useBlocking } from './use-blocking.js';

const loadPanel = () => import('./attackers-panel.js');
const loadDrawer = () => import('./request-drawer.js');

/** Unknown: visits of anonymous clients, below the chart of the traffic and the attackers. */
export function UnknownTab({ applied, onApply }: ListTabProps) {
  const queries = useQueryClient();
  const { config } = useSite();
  const formats = getDateFormats();
  const zone = useSiteTimeZone();
  const list = useLogList(unknownSource, applied);
  const traffic = useTraffic(getChartPeriod(applied, zone));
  const attackers = useAttackers();
  // The height of the panel depends on the number of attackers.
  const placed = usePlaced(attackers.attackers !== undefined || attackers.failure !== null || attackers.missing);
  const manage = useManageDialog(list.reload);
  const blocking = useBlocking();
  const selection = useRowSelection(blocking);
  const findBlock = useBlocks();
  const details = useOpenRow(list);
  const { rows } = list;
  const isFull = rows?.isFull === true;
  useFoundReference(applied.search, list.isCurrent ? (rows?.entries ?? null) : null, details.open);

  function refresh(): void {
    list.reload();
    void invalidate(queries, [TRAFFIC_KEY]);
    void invalidate(queries, [ATTACKERS_KEY]);
  }

  function view(ip: string): void {
    const name = __('IP address', 'security-optimizer');
    onApply(withSubject(applied, list.rows?.filters ?? [], 'ip', name, { value: ip, text: ip }));
  }

  function openDetails(row: UnknownRow): void {
    if (selection.pick === undefined) details.open(row.id);
    else selection.toggle(row);
  }

  function rowBlock(row: UnknownRow) {
    if (!isFull || row.visitor_id === 0) return undefined;
    const block = findBlock(row.ip, row.current_block ?? toBlock(row.block, row.ip), list.loadedAt);
    const target = { name: row.ip, visitorId: row.visitor_id, block };
    if (block !== null && block.by !== 'lock') {
      const run = (anchor: HTMLElement) => void blocking.showFailure(blocking.unblock(target, anchor.closest('tr')));
      return { text: __('Unblock', 'security-optimizer'), run };
    }
    if (row.do_not_block === 1) return undefined;
    const run = (anchor: HTMLElement) => blocking.choose(target, anchor);
    return { text: __('Block this visitor…', 'security-optimizer'), run };
  }

  function linkTo(change: Partial<typeof applied>): TrafficLink {
    const next = { ...applied, ...change };
    return { href: toLogHref(config.logPageUrl, toLogView(next)), onOpen: () => onApply(next) };
  }

  const choices = applied.choices.filter(({ group }) => group !== 'type');
  const links = isFull
    ? {
        blocked: linkTo({ choices, preset: 'blocked' }),
        bot: linkTo({ choices, preset: 'bots' }),
        human: linkTo({ choices, preset: 'humans' }),
      }
    : undefined;

  return (
    <>
      <LazyTrafficCard
        traffic={traffic}
        chosen={findChoice(applied.choices, 'date') !== undefined}
        marked={applied.exact ? getPeriodEnd(applied, 'from') : undefined}
        onChoose={(bar, step) => onApply(withPeriod(applied, bar, step, zone, formats))}
        links={links}
      />
      {attackers.missing ? null : (
        <Lazy load={loadPanel} props={{ applied, onApply, blocking }}>
          <div className="so-card so-attackers--wait" aria-hidden="true">
            <span className="so-sk" />
          </div>
        </Lazy>
      )}
      <LogCard
        title={__('Unknown Visitors Activity', 'security-optimizer')}
        name="unknown"
        columns={unknownColumns()}
        list={list}
        applied={applied}
        unplaced={!placed}
        emptyText={__('Visits appear here as they come in.', 'security-optimizer')}
        onApply={onApply}
        onRefresh={refresh}
        tools={isFull && rows.entries.length > 0 ? selection.tool : null}
      >
        {(entries) => (
          <>
            <UnknownTable
              rows={entries}
              busy={list.fetching === 'again'}
              focusRow={list.firstAdded}
              loadedAt={list.loadedAt}
              onOpen={isFull ? openDetails : undefined}
              openRow={details.id}
              pick={selection.pick}
              menu={(row) => (
                <RowMenu
                  subject={row.ip}
                  manageText={__('Manage IP Traffic', 'security-optimizer')}
                  block={rowBlock(row)}
                  onManage={
                    row.do_not_block === 1 || row.visitor_id === 0
                      ? undefined
                      : () => manage.open({ type: 'ip', id: row.visitor_id, name: row.ip })
                  }
                  onView={() => view(row.ip)}
                />
              )}
            />
            {selection.bar}
          </>
        )}
      </LogCard>
      {details.id === null || rows === null ? null : (
        <Lazy
          load={loadDrawer}
          props={{
            rows: rows.entries,
            id: details.id,
            total: rows.total,
            findBlock,
            blocking,
            onShowAll: view,
            ...details.on,
          }}
        >
          {null}
        </Lazy>
      )}
      {manage.dialog}
      {blocking.popover}
    </>
  );
}

/** The reference on the blocked page. */
const REFERENCE = /^[0-9A-Z]{4}-[0-9A-Z]{4}$/i;

/** Opens the details of a request that was found by its reference, once. */
function useFoundReference(search: string, rows: readonly UnknownRow[] | null, onFound: (id: number) => void): void {
  const opened = useRef('');
  const latest = useRef(onFound);
  latest.current = onFound;
  useEffect(() => {
    if (!REFERENCE.test(search)) opened.current = '';
    else if (rows !== null && opened.current !== search) {
      opened.current = search;
      const [first] = rows;
      if (first !== undefined) latest.current(first.id);
    }
  }, [search, rows]);
}

interface LazyTrafficCardProps {
  /** Undefined while it loads, null when unknown. */
  readonly traffic: Traffic | null | undefined;
  readonly chosen: boolean;
  /** Start of the hour in the filter, Unix seconds. */
  readonly marked: number | undefined;
  readonly onChoose: (bar: TrafficBar, step: 'day' | 'hour') => void;
  readonly links?: TrafficLinks | undefined;
}

const loadCard = () => import('./traffic-chart.js');

/** Reserves the space of the chart while its code and data load. */
function LazyTrafficCard({ traffic, ...props }: LazyTrafficCardProps) {
  if (traffic === null) return null;
  const skeleton = (
    <div className="so-card so-traffic--sk" aria-hidden="true">
      <span className="so-sk" />
    </div>
  );
  if (traffic === undefined) return skeleton;
  return (
    <Lazy load={loadCard} props={{ traffic, ...props }}>
      {skeleton}
    </Lazy>
  );
}
