import type { BlockedRow } from '@security-optimizer/contract/activity';
import { useEffect, useId } from 'react';
import { EmptyState } from '../../../components/empty-state.js';
import { useQueryClient } from '../../../data/use-query.js';
import { __ } from '../../../i18n/translate.js';
import { NOTHING_APPLIED } from '../list/applied.js';
import { LoadMore } from '../list/load-more.js';
import { LogTable } from '../list/log-table.js';
import { MissingRows } from '../list/missing-rows.js';
import { readBlockedRow, readList } from '../list/read-list.js';
import { RefreshButton } from '../list/refresh-button.js';
import { type ListSource, useLogList } from '../list/use-log-list.js';
import { BLOCKED_COUNT_KEY } from '../use-blocked-count.js';
import { BlockForm } from './block-form.js';
import { BlockedRowView } from './blocked-row.js';
import { useUnblock } from './use-unblock.js';

const source: ListSource<BlockedRow> = {
  name: 'blockedUsers',
  suffix: '/blocked-users',
  read: (data) => readList(data, readBlockedRow),
};

/** Blocked: addresses and users that the owner blocked, and addresses locked by failed log-ins. */
export default function BlockedTab() {
  const queries = useQueryClient();
  const list = useLogList(source, NOTHING_APPLIED);
  const unblock = useUnblock(list.reload);
  const id = useId();
  const { rows } = list;
  const total = rows?.total;

  useEffect(() => {
    if (typeof total === 'number') queries.setQueryData(BLOCKED_COUNT_KEY, total);
  }, [queries, total]);

  const columns = [
    __('User or IP', 'security-optimizer'),
    __('Type', 'security-optimizer'),
    __('Blocked on', 'security-optimizer'),
    __('Actions', 'security-optimizer'),
  ];
  return (
    <section className="so-card" aria-labelledby={id}>
      <div className="so-card__head">
        <div>
          <h2 id={id} tabIndex={-1}>
            {__('Blocked', 'security-optimizer')}
          </h2>
          <p>{__('They see a “blocked” page until you unblock them.', 'security-optimizer')}</p>
        </div>
        <div className="so-card__tools">
          <RefreshButton news={0} busy={list.fetching === 'again'} onRefresh={list.reload} />
        </div>
      </div>
      <BlockForm onBlocked={list.reload} />
      {rows !== null ? (
        rows.entries.length === 0 ? (
          <EmptyState text={__('Nobody is blocked at the moment.', 'security-optimizer')} />
        ) : (
          <LogTable
            label={__('Blocked', 'security-optimizer')}
            className="so-table--rows"
            columns={columns}
            withActions
            busy={list.fetching === 'again'}
            focusRow={list.firstAdded}
          >
            {rows.entries.map((row) => (
              <BlockedRowView
                key={row.id}
                row={row}
                state={unblock.states[row.id]}
                onUnblock={() => unblock.start(row, document.getElementById(id))}
              />
            ))}
          </LogTable>
        )
      ) : (
        <MissingRows columns={columns} list={list} />
      )}
      <LoadMore list={list} />
    </section>
  );
}
