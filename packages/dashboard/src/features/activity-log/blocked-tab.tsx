import { blockedUsers, blockIp, blockUser, loginUnblock } from '@security-optimizer/contract/activity/endpoints';
import type { BlockedRow } from '@security-optimizer/contract/activity/schemas';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useId, useRef, useState } from 'react';
import { type ApiCall, TRACKED, toCall } from '../../api/client.js';
import { type ApiError, ignoreApiError } from '../../api/envelope.js';
import { useSite } from '../../api/site-context.js';
import { __, sprintf } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { Icon } from '../../ui/icon.js';
import { EmptyState, ErrorText } from '../../ui/inline-messages.js';
import { Table, TableCell, TableRow } from '../../ui/table.js';
import { ROW_ANIMATION_MS } from '../../ui/timing.js';
import { undoToast } from '../../ui/toast-store.js';
import { Tooltip } from '../../ui/tooltip.js';
import { type SiteClock, useSiteClock } from '../settings/site-clock.js';
import { NO_FILTERS } from './applied-filters.js';
import { BlockForm } from './block-form.js';
import { type BlockTarget, blockedByText, endText, noteBlockChange } from './blocks.js';
import { LoadMore, RefreshButton, RowsPlaceholder } from './log-card.js';
import { BLOCKED_COUNT_KEY, type ListSource, readBlockedList, useLogList } from './log-lists.js';
import { momentText } from './log-tables.js';
import { toSameTerms, useBlocking } from './use-blocking.js';

const source: ListSource<BlockedRow> = {
  endpoint: blockedUsers,
  read: readBlockedList,
};

/** Blocked: addresses and users that the owner blocked, and addresses locked out after failed logins. */
export default function BlockedTab() {
  const queries = useQueryClient();
  const list = useLogList(source, NO_FILTERS);
  const { api } = useSite();
  const blocking = useBlocking(list.reload);
  const unblock = useUnblock(list.reload, (row) => {
    const { duration, note } = toSameTerms(toTarget(row).block, toTarget(row));
    if (row.type === 'ip') {
      const again = blocking.block({ ...toTarget(row), block: null }, { duration, note, scope: 'address' });
      void blocking.showFailure(again);
      return;
    }
    const call = toCall(blockUser, { id: row.visitor_id, block: 1, duration, ...(note !== '' && { note }) });
    api.call<unknown>(call, TRACKED).then(list.reload, ignoreApiError);
  });
  const id = useId();
  const { rows } = list;
  const total = rows?.total;

  useEffect(() => {
    if (typeof total === 'number') queries.setQueryData(BLOCKED_COUNT_KEY, total);
  }, [queries, total]);

  const keep = (row: BlockedRow) => blocking.block(toTarget(row), { duration: 0, note: row.note, scope: 'address' });

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
          <p>{__('They are kept out until the time shown, or until you unblock them.', 'security-optimizer')}</p>
        </div>
        <div className="so-card__tools">
          <RefreshButton newRows={0} busy={list.fetching === 'again'} onRefresh={list.reload} />
        </div>
      </div>
      <BlockForm onBlocked={list.reload} />
      {rows !== null ? (
        rows.entries.length === 0 ? (
          <EmptyState text={__('Nobody is blocked at the moment.', 'security-optimizer')} />
        ) : (
          <Table
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
                onUnblock={() => unblock.start(row, () => findNeighbour(row.id) ?? document.getElementById(id))}
                onKeep={rows.isFull && canBeKept(row) ? () => keep(row) : undefined}
              />
            ))}
          </Table>
        )
      ) : (
        <RowsPlaceholder columns={columns} list={list} />
      )}
      <LoadMore list={list} />
      {blocking.popover}
    </section>
  );
}

/** The button of the row after this one, or of the one before it. */
function findNeighbour(id: BlockedRow['id']): HTMLElement | null {
  const rows = Array.from(document.querySelectorAll<HTMLElement>('.so-table--rows tbody tr'));
  const index = rows.findIndex((row) => row.dataset.row === String(id));
  const neighbours = [...rows.slice(index + 1), ...rows.slice(0, Math.max(index, 0)).reverse()];
  const button = (row: HTMLElement) => row.querySelector<HTMLElement>('.so-c-actions button');
  return neighbours.map(button).find((found) => found !== null) ?? null;
}

/** Whether a block has an end and can be made permanent. */
function canBeKept(row: BlockedRow): boolean {
  return row.until !== null && row.type === 'ip';
}

/** A lockout has no visitor id and is made permanent by its address. */
function toTarget(row: BlockedRow): BlockTarget {
  const { by, by_login, note, user, until_unix: until } = row;
  return { name: user, visitorId: row.visitor_id, block: { by, by_login, note, until, range: user } };
}

export interface BlockedRowViewProps {
  readonly row: BlockedRow;
  readonly state: UnblockState | undefined;
  readonly onUnblock: () => void;
  /**
   * Makes the block permanent; undefined for a block without an end.
   *
   * @returns the reason of a failure; null on success
   */
  readonly onKeep?: (() => Promise<ApiError | null>) | undefined;
}

/** A blocked visitor: start, origin, end and note of the block, and its unblock button. */
export function BlockedRowView({ row, state, onUnblock, onKeep }: BlockedRowViewProps) {
  const clock = useSiteClock();
  const { formats } = clock;
  const isUser = row.type === 'user';
  const by = blockedByText(row);
  const until = row.until === null ? '' : untilText(row, clock);
  return (
    <TableRow id={row.id} className={state === 'leaving' ? 'is-leaving' : ''}>
      <TableCell className="so-td-who">
        <Tooltip text={row.hostname}>
          <span className={isUser ? 'so-who so-who--user' : 'so-who'}>
            <Icon name={isUser ? 'user' : 'globe'} />
            {isUser ? (
              <bdi>{row.user}</bdi>
            ) : (
              <span className="so-mono" dir="ltr">
                {row.user}
              </span>
            )}
          </span>
        </Tooltip>
      </TableCell>
      <TableCell className="so-td-hide">
        {isUser ? __('User', 'security-optimizer') : __('IP address', 'security-optimizer')}
      </TableCell>
      <TableCell className="so-td-grow so-num">
        {momentText(row.ts, formats)}
        {by === '' && until === '' ? null : (
          <small className="so-until">
            {by}
            {by !== '' && until !== '' ? ', ' : null}
            {until}
            {onKeep === undefined ? null : <KeepButton name={row.user} onKeep={onKeep} />}
          </small>
        )}
        {row.note === '' ? null : <small className="so-until">{`“${row.note}”`}</small>}
        {state === 'failed' ? <ErrorText>{__('Still blocked. Try again.', 'security-optimizer')}</ErrorText> : null}
      </TableCell>
      <TableCell className="so-c-actions">
        {state === 'leaving' ? null : (
          <Button
            small
            /* translators: %s: an IP address or a user's name */
            aria-label={sprintf(__('Unblock %s', 'security-optimizer'), row.user)}
            pendingText={state === 'pending' ? __('Unblocking…', 'security-optimizer') : undefined}
            onClick={onUnblock}
          >
            {__('Unblock', 'security-optimizer')}
          </Button>
        )}
      </TableCell>
    </TableRow>
  );
}

/** "until tomorrow, 14:35" */
function untilText({ until, until_unix: seconds }: BlockedRow, clock: SiteClock): string {
  const end = seconds === null ? momentText(until ?? '', clock.formats) : endText(seconds, clock);
  /* translators: %s: day and time, for example "tomorrow, 14:35" */
  return sprintf(__('until %s', 'security-optimizer'), end);
}

interface KeepButtonProps {
  readonly name: string;
  readonly onKeep: () => Promise<ApiError | null>;
}

/** Makes a block with an end permanent. */
function KeepButton({ name, onKeep }: KeepButtonProps) {
  const [pending, setPending] = useState(false);
  const [failed, setFailed] = useState(false);

  async function keep(): Promise<void> {
    if (pending) return;
    setPending(true);
    setFailed((await onKeep()) !== null);
    setPending(false);
  }

  const text = pending ? __('Blocking…', 'security-optimizer') : __('Make permanent', 'security-optimizer');
  return (
    <>
      <button
        type="button"
        className="so-link"
        /* translators: 1: a button, 2: what it applies to */
        aria-label={sprintf(__('%1$s: %2$s', 'security-optimizer'), text, name)}
        aria-disabled={pending || undefined}
        onClick={() => void keep()}
      >
        {text}
      </button>
      {failed ? <ErrorText>{__('This was not changed. Try again.', 'security-optimizer')}</ErrorText> : null}
    </>
  );
}

/** State of unblocking a row; `leaving` while the row fades out. */
export type UnblockState = 'pending' | 'failed' | 'leaving';

interface Unblock {
  /** By row id. */
  readonly states: Readonly<Record<string, UnblockState>>;
  /** @param findNext finds the element to focus when the row is removed */
  readonly start: (row: BlockedRow, findNext: () => HTMLElement | null) => void;
}

/**
 * Unblocks rows, several at a time. Each row fades out; then the list is reloaded.
 *
 * @param undo blocks the visitor of a row again
 */
function useUnblock(onDone: () => void, undo: (row: BlockedRow) => void): Unblock {
  const { api } = useSite();
  const queries = useQueryClient();
  const [states, setStates] = useState<Readonly<Record<string, UnblockState>>>({});
  const latest = useRef({ onDone, undo, mounted: true });
  latest.current.onDone = onDone;
  latest.current.undo = undo;
  useEffect(() => {
    const current = latest.current;
    current.mounted = true;
    return () => {
      current.mounted = false;
    };
  }, []);

  function mark(id: string, state: UnblockState | null): void {
    setStates(({ [id]: _last, ...others }) => (state === null ? others : { ...others, [id]: state }));
  }

  function start(row: BlockedRow, findNext: () => HTMLElement | null): void {
    const state = states[row.id];
    if (state === 'pending' || state === 'leaving') return;
    mark(row.id, 'pending');
    const successMessage = () =>
      undoToast({
        title: __('Unblocked', 'security-optimizer'),
        text: `\u2066${row.user}\u2069`,
        undo: () => latest.current.undo(row),
      });
    api.call<unknown>(toUnblockCall(row), { successMessage }).then(
      () => leave(row, findNext),
      (error) => {
        mark(row.id, 'failed');
        ignoreApiError(error);
      },
    );
  }

  function leave(row: BlockedRow, findNext: () => HTMLElement | null): void {
    if (row.type === 'ip') noteBlockChange(queries, row.user, null);
    mark(row.id, 'leaving');
    // Only if the focus would be lost with the button.
    const { activeElement } = document;
    const isFocused = activeElement?.closest<HTMLElement>('tr')?.dataset.row === String(row.id);
    if (isFocused || activeElement === document.body) findNext()?.focus();
    setTimeout(() => {
      if (!latest.current.mounted) return;
      latest.current.onDone();
      // The same address may be blocked again and reappear under this id.
      mark(row.id, null);
    }, ROW_ANIMATION_MS);
  }

  return { states, start };
}

/** A lockout has no visitor id; it is ended by address. */
function toUnblockCall({ type, user, visitor_id: id }: BlockedRow): ApiCall {
  if (type === 'user') return toCall(blockUser, { id, block: 0 });
  if (id > 0) return toCall(blockIp, { id, block: 0 });
  return toCall(loginUnblock, { ip: user, block: 0 });
}
