import { __ } from '../../../i18n/translate.js';
import { registeredSource } from '../../activity-log/list/log-sources.js';
import { RegisteredTable, registeredColumns } from '../../activity-log/list/registered-table.js';
import { RecentList } from './recent-list.js';
import { useRecent } from './use-recent.js';

/** What registered users did last. */
export default function RecentRegistered() {
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
