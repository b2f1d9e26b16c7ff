import { useQueryClient } from '../../data/use-query.js';
import { useDateTexts } from '../../dates/use-date-texts.js';
import { useSiteZone } from '../../dates/use-site-zone.js';
import { __ } from '../../i18n/translate.js';
import { chartPeriod, withPeriod } from './filter/period-choices.js';
import { choiceOf, periodEnd } from './list/applied.js';
import { LogCard } from './list/log-card.js';
import { unknownSource } from './list/log-sources.js';
import { RowMenu } from './list/row-menu.js';
import { UnknownTable, unknownColumns } from './list/unknown-table.js';
import { useLogList } from './list/use-log-list.js';
import { withSubject } from './list/with-subject.js';
import type { ListTabProps } from './list-tab.js';
import { useManageDialog } from './manage/use-manage-dialog.js';
import { TrafficPlace } from './traffic/traffic-place.js';
import { TRAFFIC_KEY, useTraffic } from './traffic/use-traffic.js';

/** Unknown: what visitors without a session asked for, below a chart of their visits. */
export function UnknownTab({ applied, onApply }: ListTabProps) {
  const queries = useQueryClient();
  const texts = useDateTexts();
  const zone = useSiteZone();
  const list = useLogList(unknownSource, applied);
  const traffic = useTraffic(chartPeriod(applied, zone));
  const manage = useManageDialog(list.reload);

  function refresh(): void {
    list.reload();
    void queries.invalidateQueries({ queryKey: [TRAFFIC_KEY] });
  }

  function view(ip: string): void {
    const name = __('IP address', 'security-optimizer');
    onApply(withSubject(applied, list.rows?.filters ?? [], 'ip', name, { value: ip, text: ip }));
  }

  return (
    <>
      <TrafficPlace
        traffic={traffic}
        chosen={choiceOf(applied.choices, 'date') !== undefined}
        marked={applied.exact ? periodEnd(applied, 'from') : undefined}
        onChoose={(bar, step) => onApply(withPeriod(applied, bar, step, zone, texts))}
      />
      <LogCard
        title={__('Unknown Visitors Activity', 'security-optimizer')}
        name="unknown"
        columns={unknownColumns()}
        list={list}
        applied={applied}
        emptyText={__('Visits appear here as they come in.', 'security-optimizer')}
        onApply={onApply}
        onRefresh={refresh}
      >
        {(rows) => (
          <UnknownTable
            rows={rows}
            busy={list.fetching === 'again'}
            focusRow={list.firstAdded}
            menu={(row) => (
              <RowMenu
                subject={row.ip}
                manageText={__('Manage IP Traffic', 'security-optimizer')}
                onManage={
                  row.do_not_block === 1 || row.visitor_id === 0
                    ? undefined
                    : () => manage.open({ type: 'ip', id: row.visitor_id, name: row.ip })
                }
                onView={() => view(row.ip)}
              />
            )}
          />
        )}
      </LogCard>
      {manage.dialog}
    </>
  );
}
