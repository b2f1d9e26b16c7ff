import { LoadFailed } from '../../../components/load-failed.js';
import { TableSkeleton } from '../../../components/table-skeleton.js';
import { __ } from '../../../i18n/translate.js';
import type { LogList } from './use-log-list.js';

export interface MissingRowsProps {
  readonly columns: readonly string[];
  readonly list: Pick<LogList<unknown>, 'failure' | 'retry'>;
}

/** Stands where the rows of a list will be while they are on their way, or says why they did not come. */
export function MissingRows({ columns, list }: MissingRowsProps) {
  if (list.failure === null) return <TableSkeleton columns={columns} />;
  return (
    <div className="so-card__body so-card__sep">
      <LoadFailed
        text={__('We couldn’t load this list.', 'security-optimizer')}
        failure={list.failure}
        onRetry={list.retry}
      />
    </div>
  );
}
