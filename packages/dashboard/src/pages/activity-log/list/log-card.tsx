import { FILTER_CLOSE_MS } from '@security-optimizer/contract/limits';
import { type ReactNode, useId, useRef, useState } from 'react';
import { Button } from '../../../components/button.js';
import { EmptyState } from '../../../components/empty-state.js';
import { Lazy } from '../../../components/lazy.js';
import { useLeaving } from '../../../components/use-leaving.js';
import { __ } from '../../../i18n/translate.js';
import { Icon } from '../../../icons/icon.js';
import { type Applied, NOTHING_APPLIED } from './applied.js';
import { AppliedChips } from './applied-chips.js';
import { ExportMenu } from './export-menu.js';
import { LoadMore } from './load-more.js';
import { MissingRows } from './missing-rows.js';
import { RefreshButton } from './refresh-button.js';
import type { LogList } from './use-log-list.js';
import { useNews } from './use-news.js';

export interface LogCardProps<Row> {
  readonly title: string;
  readonly name: 'unknown' | 'registered';
  readonly columns: readonly string[];
  readonly list: LogList<Row>;
  readonly applied: Applied;
  /** What to say when nothing was recorded yet. */
  readonly emptyText: string;
  readonly onApply: (applied: Applied) => void;
  readonly onRefresh: () => void;
  /** The table of the rows. */
  readonly children: (rows: readonly Row[]) => ReactNode;
}

const loadFilterPanel = () => import('../filter/filter-panel.js');

/** A list of the log with its tools: refresh, export, filter, the applied filters, and more rows. */
export function LogCard<Row extends { readonly id: number }>(props: LogCardProps<Row>) {
  const { title, name, list, applied, onApply } = props;
  const { rows, fetching } = list;
  const [open, setOpen] = useState(false);
  const [openings, setOpenings] = useState(0);
  const panel = useLeaving(open, FILTER_CLOSE_MS);
  const filterButton = useRef<HTMLButtonElement>(null);
  const id = useId();
  const isReady = rows !== null && list.isCurrent;
  const news = useNews(name, applied, isReady ? Math.max(0, ...rows.entries.map((row) => row.id)) : null);

  function apply(next: Applied): void {
    // The button that was pressed may go away with what it removes.
    filterButton.current?.focus();
    onApply(next);
  }

  function toggleFilter(): void {
    if (rows === null) return;
    if (!open) setOpenings(openings + 1);
    setOpen(!open);
  }

  return (
    <section className="so-card" aria-labelledby={id}>
      <div className="so-card__head">
        <h2 id={id}>{title}</h2>
        <div className="so-card__tools so-anchor">
          <RefreshButton news={news} busy={fetching === 'again'} onRefresh={props.onRefresh} />
          <ExportMenu name={name} applied={applied} disabled={!isReady || rows.entries.length === 0} />
          <button
            ref={filterButton}
            type="button"
            className="so-btn so-btn--tool"
            aria-expanded={open}
            aria-haspopup="dialog"
            // Its fields come with the first answer.
            aria-disabled={rows === null || undefined}
            onClick={toggleFilter}
          >
            <Icon name="filter" />
            <span className="so-btn__label">{__('Filter', 'security-optimizer')}</span>
            {applied.choices.length === 0 ? null : <span className="so-badge so-num">{applied.choices.length}</span>}
          </button>
          {panel.drawn && rows !== null ? (
            <Lazy
              // Opened again while it still closes, it begins anew: with the focus, and with what is applied.
              key={openings}
              load={loadFilterPanel}
              props={{
                name,
                filters: rows.filters,
                applied,
                leaving: panel.leaving,
                opener: filterButton,
                onApply,
                onClose: () => setOpen(false),
              }}
            >
              {null}
            </Lazy>
          ) : null}
        </div>
      </div>
      <AppliedChips applied={applied} onChange={apply} />
      {isReady ? (
        <Rows {...props} rows={rows.entries} onClear={() => apply(NOTHING_APPLIED)} />
      ) : (
        <MissingRows columns={props.columns} list={list} />
      )}
      {isReady ? <LoadMore list={list} /> : null}
    </section>
  );
}

interface RowsProps<Row> extends LogCardProps<Row> {
  readonly rows: readonly Row[];
  readonly onClear: () => void;
}

function Rows<Row>({ rows, applied, emptyText, children, onClear }: RowsProps<Row>) {
  if (rows.length > 0) return children(rows);
  if (applied.choices.length === 0) return <EmptyState text={emptyText} />;
  return (
    <EmptyState text={__('Try a longer period or remove a filter.', 'security-optimizer')}>
      <Button onClick={onClear}>{__('Clear filters', 'security-optimizer')}</Button>
    </EmptyState>
  );
}
