import { activityExport, activityNews } from '@security-optimizer/contract/activity/endpoints';
import { type ReactNode, useId, useRef, useState } from 'react';
import { toCall } from '../../api/client.js';
import { ignoreApiError } from '../../api/envelope.js';
import { useSite } from '../../api/site-context.js';
import { LoadFailed } from '../../forms/request-failed.js';
import { formatNumber } from '../../i18n/locale.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/dom.js';
import { Icon } from '../../ui/icon.js';
import { EmptyState, ErrorText } from '../../ui/inline-messages.js';
import { Lazy } from '../../ui/lazy.js';
import { MenuButton, useExitAnimation } from '../../ui/menu.js';
import { TableSkeleton } from '../../ui/table.js';
import { FILTER_CLOSE_MS } from '../../ui/timing.js';
import { dateTimeText, useSiteClock } from '../settings/site-clock.js';
import {
  type AppliedFilters,
  type FilterChoice,
  isUnfiltered,
  NO_FILTERS,
  toFilterBody,
  toFilterQuery,
  withChoice,
  withLabels,
} from './applied-filters.js';
import { type LogList, useNewRowCount } from './log-lists.js';
import { SeekBar } from './seek-bar.js';

export interface LogCardProps<Row> {
  readonly title: string;
  readonly name: 'unknown' | 'registered';
  readonly columns: readonly string[];
  readonly list: LogList<Row>;
  readonly applied: AppliedFilters;
  /** Whether it waits for the content above, which would move it; see `usePlaced`. */
  readonly unplaced?: boolean;
  /** Text of an empty list without filters. */
  readonly emptyText: string;
  readonly onApply: (applied: AppliedFilters) => void;
  readonly onRefresh: () => void;
  /** Tools before Export and Filter. */
  readonly tools?: ReactNode;
  readonly children: (rows: readonly Row[]) => ReactNode;
}

const loadFilterPanel = () => import('./filter-panel.js');

/** A list of the log: toolbar, filters, rows and paging. */
export function LogCard<Row extends { readonly id: number }>(props: LogCardProps<Row>) {
  const { title, name, list, onApply } = props;
  const { rows, fetching } = list;
  const [open, setOpen] = useState(false);
  const [openings, setOpenings] = useState(0);
  const panel = useExitAnimation(open, FILTER_CLOSE_MS);
  const filterButton = useRef<HTMLButtonElement>(null);
  const id = useId();
  const isReady = rows !== null && list.isCurrent;
  const { applied } = props;
  const shown = { ...applied, choices: withLabels(applied.choices, rows?.filters ?? []) };
  const news = useNewRowCount(name, applied, isReady ? Math.max(0, ...rows.entries.map((row) => row.id)) : null);

  function apply(next: AppliedFilters): void {
    // The clicked button may disappear with the filter.
    filterButton.current?.focus();
    onApply(next);
  }

  function toggleFilter(): void {
    if (rows === null) return;
    if (!open) setOpenings(openings + 1);
    setOpen(!open);
  }

  return (
    <section className={classes('so-card', props.unplaced && 'so-unplaced')} aria-labelledby={id}>
      <div className="so-card__head">
        <h2 id={id}>{title}</h2>
        <div className="so-card__tools so-anchor">
          <RefreshButton newRows={news} busy={fetching === 'again'} onRefresh={props.onRefresh} />
          {isReady ? props.tools : null}
          {isReady && rows.entries.length === 0 ? null : <ExportMenu name={name} applied={applied} ready={isReady} />}
          <button
            ref={filterButton}
            type="button"
            className="so-btn so-btn--tool"
            aria-expanded={open}
            aria-haspopup="dialog"
            // The first response defines the filters.
            aria-disabled={rows === null || undefined}
            onClick={toggleFilter}
          >
            <Icon name="filter" />
            <span className="so-btn__label">{__('Filter', 'security-optimizer')}</span>
            {applied.choices.length === 0 ? null : <span className="so-badge so-num">{applied.choices.length}</span>}
          </button>
          {panel.drawn && rows !== null ? (
            <Lazy
              // A new key resets the panel if it is reopened during its closing animation.
              key={openings}
              load={loadFilterPanel}
              props={{
                name,
                filters: rows.filters,
                applied: shown,
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
      {rows === null || rows.isFull ? <SeekBar name={name} applied={applied} onApply={onApply} /> : null}
      <AppliedChips applied={shown} onChange={apply} />
      {isReady ? (
        <Rows {...props} rows={rows.entries} onClear={() => apply(NO_FILTERS)} />
      ) : (
        <RowsPlaceholder columns={props.columns} list={list} />
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
  if (isUnfiltered(applied)) return <EmptyState text={emptyText} />;
  return (
    <EmptyState text={__('Try a longer period or remove a filter.', 'security-optimizer')}>
      <Button onClick={onClear}>{__('Clear filters', 'security-optimizer')}</Button>
    </EmptyState>
  );
}

export interface AppliedChipsProps {
  readonly applied: AppliedFilters;
  readonly onChange: (applied: AppliedFilters) => void;
}

/** The applied filters, each with a remove button. */
export function AppliedChips({ applied, onChange }: AppliedChipsProps) {
  const { search } = applied;
  if (applied.choices.length === 0 && search === '') return null;

  function remove(choice: FilterChoice): void {
    if (choice.group === 'search') {
      onChange({ ...applied, search: '' });
      return;
    }
    // An exact period needs both of its ends.
    const exact = applied.exact && choice.group !== 'date';
    onChange({ ...applied, choices: withChoice(applied.choices, choice, null), exact });
  }

  const name = __('Search', 'security-optimizer');
  const searched: FilterChoice = { group: 'search', child: 'search', name, value: search, text: search };
  const chips = search === '' ? applied.choices : [...applied.choices, searched];

  return (
    <div className="so-applied">
      {chips.map((choice) => (
        <span key={`${choice.group}/${choice.child}`} className="so-chip">
          <span>{choice.name}:</span>
          <bdi className="so-chip__text">{choice.text}</bdi>
          <button
            type="button"
            aria-label={sprintf(
              /* translators: 1: name of a filter, 2: what was chosen in it */
              __('Remove filter %1$s: %2$s', 'security-optimizer'),
              choice.name,
              choice.text,
            )}
            onClick={() => remove(choice)}
          >
            <Icon name="x" />
          </button>
        </span>
      ))}
      <button type="button" className="so-link" onClick={() => onChange(NO_FILTERS)}>
        {__('Clear all', 'security-optimizer')}
      </button>
    </div>
  );
}

export interface RowsPlaceholderProps {
  readonly columns: readonly string[];
  readonly list: Pick<LogList<unknown>, 'failure' | 'retry'>;
}

/** Placeholder of the rows while they load, or the error. */
export function RowsPlaceholder({ columns, list }: RowsPlaceholderProps) {
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

/** Loads the next page, if there is one. */
export function LoadMore<Row>({ list }: { readonly list: LogList<Row> }) {
  const clock = useSiteClock();
  const { rows, fetching, failure } = list;
  if (rows === null || rows.page >= rows.pages) return null;
  return (
    <div className="so-card__foot">
      <Button
        onClick={list.loadMore}
        pendingText={fetching === 'more' ? __('Loading…', 'security-optimizer') : undefined}
      >
        {__('Load More', 'security-optimizer')}
      </Button>
      <span className="so-num">
        {rows.searched_to == null
          ? sprintf(
              /* translators: 1: page of a list that was loaded last, 2: number of pages */
              __('Page %1$s of %2$s', 'security-optimizer'),
              formatNumber(rows.page),
              formatNumber(rows.pages),
            )
          : sprintf(
              /* translators: %s: day and time; a text was looked for in the entries since then */
              __('Searched back to %s', 'security-optimizer'),
              dateTimeText(rows.searched_to, clock, 'shortDate'),
            )}
      </span>
      {failure === null ? null : <ErrorText>{__('We couldn’t load more. Try again.', 'security-optimizer')}</ErrorText>}
    </div>
  );
}

/** Props of the tabs with a list. The page keeps their filters while other tabs are open. */
export interface ListTabProps {
  readonly applied: AppliedFilters;
  readonly onApply: (applied: AppliedFilters) => void;
}

export interface RefreshButtonProps {
  /** New rows since the list was loaded; the server counts up to 1,000. */
  readonly newRows: number;
  readonly busy: boolean;
  readonly onRefresh: () => void;
}

/** Larger numbers are shown as "1,000+". */
const MAX_COUNTED_ROWS = 1000;

/** Reloads the list. Shows the number of new rows. */
export function RefreshButton({ newRows, busy, onRefresh }: RefreshButtonProps) {
  const count = formatNumber(Math.min(newRows, MAX_COUNTED_ROWS)) + (newRows >= MAX_COUNTED_ROWS ? '+' : '');
  /* translators: %s: number of entries that came since the list was read */
  const text = sprintf(_n('%s new', '%s new', newRows, 'security-optimizer'), count);
  return (
    <>
      <button
        type="button"
        className={classes('so-iconbtn so-iconbtn--line', newRows > 0 && 'so-iconbtn--news')}
        aria-label={
          newRows > 0 ? `${text}, ${__('Refresh', 'security-optimizer')}` : __('Refresh', 'security-optimizer')
        }
        aria-busy={busy || undefined}
        onClick={busy ? undefined : onRefresh}
      >
        {busy ? <span className="so-spin" /> : <Icon name="refresh" />}
        {newRows > 0 ? <span className="so-iconbtn__text so-num">{text}</span> : null}
      </button>
      <span className="so-vh" role="status">
        {newRows > 0 ? __('There are new entries.', 'security-optimizer') : ''}
      </span>
    </>
  );
}

interface ExportMenuProps {
  readonly name: 'unknown' | 'registered';
  readonly applied: AppliedFilters;
  /** Whether the list has loaded. The button reserves its space until then. */
  readonly ready: boolean;
}

/** Downloads all rows that match the filters. The server streams the file. */
function ExportMenu({ name, applied, ready }: ExportMenuProps) {
  const { api } = useSite();

  async function download(format: 'csv' | 'json'): Promise<void> {
    // A link can neither show an error nor renew the nonce, so request the list first.
    const call = toCall(activityNews, { list: name, since: 0, ...toFilterBody(applied) });
    const started = await api.call<unknown>(call, { name: activityExport.name }).catch(ignoreApiError);
    if (started === undefined) return;
    const link = document.createElement('a');
    link.href = api.link(activityExport, { list: name, format, ...toFilterQuery(applied) });
    link.download = '';
    document.body.append(link);
    link.click();
    link.remove();
  }

  return (
    <MenuButton
      className={classes('so-btn so-btn--tool', !ready && 'so-unplaced')}
      items={[
        {
          icon: 'download',
          text: __('Export as CSV', 'security-optimizer'),
          onChoose: () => void download('csv'),
        },
        {
          icon: 'download',
          text: __('Export as JSON', 'security-optimizer'),
          onChoose: () => void download('json'),
        },
      ]}
    >
      <Icon name="download" />
      <span className="so-btn__label">{__('Export', 'security-optimizer')}</span>
    </MenuButton>
  );
}
