import type { RegisteredRow } from '@security-optimizer/contract/activity/schemas';
import { __, sprintf } from '../../i18n/translate.js';
import { Lazy } from '../../ui/lazy.js';
import { withSubject } from './applied-filters.js';
import { useBlocks } from './blocks.js';
import { type ListTabProps, LogCard } from './log-card.js';
import { registeredSource, useLogList } from './log-lists.js';
import { RegisteredTable, registeredColumns } from './log-tables.js';
import { RowMenu, useManageDialog, useOpenRow } from './row-actions.js';
import { useBlocking } from './use-blocking.js';

const loadDrawer = () => import('./event-drawer.js');

/** Registered: events of users, the command line and WordPress itself. */
export default function RegisteredTab({ applied, onApply }: ListTabProps) {
  const list = useLogList(registeredSource, applied);
  const manage = useManageDialog(list.reload);
  const blocking = useBlocking();
  const findBlock = useBlocks();
  const details = useOpenRow(list);
  const { rows } = list;
  const isFull = rows?.isFull === true;

  function view(row: RegisteredRow): void {
    const name = __('User', 'security-optimizer');
    onApply(withSubject(applied, list.rows?.filters ?? [], 'user', name, { value: row.visitor_id, text: row.user }));
  }

  function rowBlock(row: RegisteredRow) {
    if (!isFull || row.ip_visitor_id === 0) return undefined;
    const block = findBlock(row.ip, row.ip_block, list.loadedAt);
    const target = { name: row.ip, visitorId: row.ip_visitor_id, block };
    if (block !== null && block.by !== 'lock') {
      const run = (anchor: HTMLElement) => void blocking.showFailure(blocking.unblock(target, anchor.closest('tr')));
      /* translators: %s: an IP address or a user's name */
      return { text: sprintf(__('Unblock %s', 'security-optimizer'), row.ip), run };
    }
    if (row.ip_do_not_block === 1) return undefined;
    const run = (anchor: HTMLElement) => blocking.choose(target, anchor);
    /* translators: %s: an IP address */
    return { text: sprintf(__('Block %s…', 'security-optimizer'), row.ip), run };
  }

  return (
    <>
      <LogCard
        title={__('Registered Users Activity', 'security-optimizer')}
        name="registered"
        columns={registeredColumns()}
        list={list}
        applied={applied}
        emptyText={__('What your users do appears here.', 'security-optimizer')}
        onApply={onApply}
        onRefresh={list.reload}
      >
        {(entries) => (
          <RegisteredTable
            rows={entries}
            busy={list.fetching === 'again'}
            focusRow={list.firstAdded}
            loadedAt={list.loadedAt}
            onOpen={isFull ? (row) => details.open(row.id) : undefined}
            openRow={details.id}
            menu={(row) =>
              // Events of the command line and of scheduled tasks have no visitor.
              row.visitor_id === 0 && rowBlock(row) === undefined ? null : (
                <RowMenu
                  subject={row.user}
                  manageText={__('Manage User Traffic', 'security-optimizer')}
                  block={rowBlock(row)}
                  onManage={
                    row.do_not_block === 1 || row.visitor_id === 0
                      ? undefined
                      : () => manage.open({ type: 'user', id: row.visitor_id, name: row.user })
                  }
                  onView={row.visitor_id === 0 ? undefined : () => view(row)}
                />
              )
            }
          />
        )}
      </LogCard>
      {details.id === null || rows === null ? null : (
        <Lazy
          load={loadDrawer}
          props={{
            rows: rows.entries,
            id: details.id,
            total: rows.total,
            loadedAt: list.loadedAt,
            findBlock,
            blocking,
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
