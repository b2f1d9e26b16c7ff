import type { ReactNode } from 'react';
import { EmptyState } from '../../../components/empty-state.js';
import { LoadFailed } from '../../../components/load-failed.js';
import { TableSkeleton } from '../../../components/table-skeleton.js';
import { __ } from '../../../i18n/translate.js';
import type { Recent } from './use-recent.js';

export interface RecentListProps<Row> {
  readonly recent: Recent<Row>;
  readonly columns: readonly string[];
  /** What to say when nothing was recorded yet. */
  readonly emptyText: string;
  readonly children: (rows: readonly Row[]) => ReactNode;
}

/** The rows of a list in the limited view, or what stands in for them. */
export function RecentList<Row>({ recent, columns, emptyText, children }: RecentListProps<Row>) {
  const { rows, failure, retrying, retry } = recent;
  if (rows !== undefined) return rows.length === 0 ? <EmptyState text={emptyText} /> : children(rows);
  if (failure === null) return <TableSkeleton columns={columns} />;
  return (
    <div className="so-card__body">
      <LoadFailed
        text={__('We couldn’t load this list.', 'security-optimizer')}
        failure={failure}
        retrying={retrying}
        onRetry={retry}
      />
    </div>
  );
}
