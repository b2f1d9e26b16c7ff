import { __ } from '../../../i18n/translate.js';
import { unknownSource } from '../../activity-log/list/log-sources.js';
import { UnknownTable, unknownColumns } from '../../activity-log/list/unknown-table.js';
import { RecentList } from './recent-list.js';
import { useRecent } from './use-recent.js';

/** The newest visits without a session. */
export function RecentUnknown() {
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
