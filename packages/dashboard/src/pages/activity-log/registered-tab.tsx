import type { RegisteredRow } from '@security-optimizer/contract/activity';
import { __ } from '../../i18n/translate.js';
import { LogCard } from './list/log-card.js';
import { registeredSource } from './list/log-sources.js';
import { RegisteredTable, registeredColumns } from './list/registered-table.js';
import { RowMenu } from './list/row-menu.js';
import { useLogList } from './list/use-log-list.js';
import { withSubject } from './list/with-subject.js';
import type { ListTabProps } from './list-tab.js';
import { useManageDialog } from './manage/use-manage-dialog.js';

/** Registered: what registered users, the command line and WordPress itself did. */
export default function RegisteredTab({ applied, onApply }: ListTabProps) {
  const list = useLogList(registeredSource, applied);
  const manage = useManageDialog(list.reload);

  function view(row: RegisteredRow): void {
    const name = __('User', 'security-optimizer');
    onApply(withSubject(applied, list.rows?.filters ?? [], 'user', name, { value: row.visitor_id, text: row.user }));
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
        {(rows) => (
          <RegisteredTable
            rows={rows}
            busy={list.fetching === 'again'}
            focusRow={list.firstAdded}
            menu={(row) =>
              // The command line and scheduled tasks are nobody whose traffic could be managed.
              row.visitor_id === 0 ? null : (
                <RowMenu
                  subject={row.user}
                  manageText={__('Manage User Traffic', 'security-optimizer')}
                  onManage={
                    row.do_not_block === 1
                      ? undefined
                      : () => manage.open({ type: 'user', id: row.visitor_id, name: row.user })
                  }
                  onView={() => view(row)}
                />
              )
            }
          />
        )}
      </LogCard>
      {manage.dialog}
    </>
  );
}
