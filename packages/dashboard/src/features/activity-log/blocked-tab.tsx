import type { BlockedRow } from '@security-optimizer/contract/activity/schemas';
import { messages } from '@security-optimizer/contract/messages';
import { toPlainAddress } from '@security-optimizer/contract/typed-text';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import type { ApiCall, ApiFailure } from '../../api/client.js';
import { undoNotice } from '../../api/notices.js';
import { ignoreFailure, useSiteZone } from '../../api/options.js';
import { useDateTexts, useServices } from '../../api/services.js';
import { addressFault } from '../../forms/address-fault.js';
import { SaveFailed, useSave } from '../../forms/form-dialog.js';
import { __, sprintf, translate } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/dialog.js';
import { Field, TextInput } from '../../ui/field.js';
import { Icon } from '../../ui/icon.js';
import { EmptyState, ErrorText } from '../../ui/note.js';
import { Table, TableCell, TableRow } from '../../ui/table.js';
import { ROW_ANIMATION_MS } from '../../ui/times.js';
import { Tip } from '../../ui/tip.js';
import { focusFirstError, useFormErrors } from '../../ui/use-form-errors.js';
import { NO_FILTERS } from './applied-filters.js';
import { type BlockTarget, blockedByText, type Clock, endText, noteBlockChange } from './blocks.js';
import { LoadMore, RefreshButton, RowsPlaceholder } from './log-card.js';
import { BLOCKED_COUNT_KEY, type ListSource, readBlockedList, useLogList } from './log-lists.js';
import { momentText } from './log-tables.js';
import { toSameTerms, useBlocking } from './use-blocking.js';

const source: ListSource<BlockedRow> = {
  name: 'blockedUsers',
  suffix: '/blocked-users',
  read: readBlockedList,
};

/** Blocked: addresses and users that the owner blocked, and addresses locked out after failed logins. */
export default function BlockedTab() {
  const queries = useQueryClient();
  const list = useLogList(source, NO_FILTERS);
  const { run } = useServices();
  const blocking = useBlocking(list.reload);
  const unblock = useUnblock(list.reload, (row) => {
    const { duration, note } = toSameTerms(toTarget(row).block, toTarget(row));
    if (row.type === 'ip') {
      const again = blocking.block({ ...toTarget(row), block: null }, { duration, note, scope: 'address' });
      void blocking.showFailure(again);
      return;
    }
    const call = {
      suffix: `/block-user/${row.visitor_id}`,
      body: { block: 1, duration, ...(note !== '' && { note }) },
    };
    run<unknown>({ name: 'blockUser', call, onSuccess: list.reload }).catch(ignoreFailure);
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
          <p>{__('They see a “blocked” page until you unblock them.', 'security-optimizer')}</p>
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

/** Blocks an address or range, also one without visits. */
export function BlockForm({ onBlocked }: { readonly onBlocked: () => void }) {
  const [address, setAddress] = useState('');
  const [isConfirming, setIsConfirming] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const wrong = addressError(address);
  const errors = useFormErrors(wrong === null ? {} : { address: wrong }, () => focusFirstError(form.current));
  const { pending, failure, save } = useSave();

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (errors.check()) block({ address: toPlainAddress(address) });
  }

  function block(body: { readonly address: string; readonly confirm?: boolean }): void {
    save<unknown>({
      name: 'blockAddresses',
      call: { suffix: '/block-addresses', body },
      onSuccess: () => {
        setAddress('');
        errors.reset();
        onBlocked();
      },
      onFailure: ({ code, fields }) => {
        if (code === 'means_everybody') setIsConfirming(true);
        errors.showServerErrors(fields);
      },
    });
  }

  return (
    <>
      <form className="so-card__body so-card__sep" noValidate ref={form} onSubmit={submit}>
        <Field
          label={__('Block an IP address or range', 'security-optimizer')}
          help={__(
            'One address, a range such as 198.51.100.* or a block such as 198.51.100.0/24.',
            'security-optimizer',
          )}
          error={errors.shown.address}
        >
          {(control) => (
            <div className="so-addmail">
              <TextInput
                {...control}
                mono
                value={address}
                onText={(text) => {
                  setAddress(text);
                  errors.touch('address');
                }}
              />
              <Button kind="danger" submit pendingText={pending ? __('Blocking…', 'security-optimizer') : undefined}>
                {__('Block', 'security-optimizer')}
              </Button>
            </div>
          )}
        </Field>
        <div className="so-formfail">
          <SaveFailed failure={isConfirming ? null : failure} />
        </div>
      </form>
      {isConfirming ? (
        <ConfirmDialog
          title={__('Block everybody?', 'security-optimizer')}
          confirmText={__('Block everybody', 'security-optimizer')}
          cancelText={__('Go back', 'security-optimizer')}
          onClosed={() => setIsConfirming(false)}
          onConfirm={() => block({ address: toPlainAddress(address), confirm: true })}
        >
          <p>{__('This range means everybody: hardly anyone could visit your site.', 'security-optimizer')}</p>
        </ConfirmDialog>
      ) : null}
    </>
  );
}

function addressError(text: string): string | null {
  return toPlainAddress(text) === '' ? translate(messages.required) : addressFault(text);
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
  readonly onKeep?: (() => Promise<ApiFailure | null>) | undefined;
}

/** A blocked visitor: start, origin, end and note of the block, and its unblock button. */
export function BlockedRowView({ row, state, onUnblock, onKeep }: BlockedRowViewProps) {
  const clock = { texts: useDateTexts(), zone: useSiteZone() };
  const { texts } = clock;
  const isUser = row.type === 'user';
  const by = blockedByText(row);
  const until = row.until === null ? '' : untilText(row, clock);
  return (
    <TableRow id={row.id} className={state === 'leaving' ? 'is-leaving' : ''}>
      <TableCell className="so-td-who">
        <Tip text={row.hostname}>
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
        </Tip>
      </TableCell>
      <TableCell className="so-td-hide">
        {isUser ? __('User', 'security-optimizer') : __('IP address', 'security-optimizer')}
      </TableCell>
      <TableCell className="so-td-grow so-num">
        {momentText(row.ts, texts)}
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
function untilText({ until, until_unix: seconds }: BlockedRow, clock: Clock): string {
  const end = seconds === null ? momentText(until ?? '', clock.texts) : endText(seconds, clock);
  /* translators: %s: day and time, for example "tomorrow, 14:35" */
  return sprintf(__('until %s', 'security-optimizer'), end);
}

interface KeepButtonProps {
  readonly name: string;
  readonly onKeep: () => Promise<ApiFailure | null>;
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

  return (
    <>
      <button
        type="button"
        className="so-link"
        /* translators: %s: an IP address */
        aria-label={sprintf(__('Make the block of %s permanent', 'security-optimizer'), name)}
        aria-disabled={pending || undefined}
        onClick={() => void keep()}
      >
        {pending ? __('Blocking…', 'security-optimizer') : __('Make permanent', 'security-optimizer')}
      </button>
      {failed ? <ErrorText>{__('This was not changed. Try again.', 'security-optimizer')}</ErrorText> : null}
    </>
  );
}

/** State of unblocking a row; `leaving` while the row fades out. */
export type UnblockState = 'pending' | 'failed' | 'leaving';

export interface Unblock {
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
export function useUnblock(onDone: () => void, undo: (row: BlockedRow) => void): Unblock {
  const { run } = useServices();
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
    run<unknown>({
      ...toUnblockRequest(row),
      successNotice: () =>
        undoNotice({
          title: __('Unblocked', 'security-optimizer'),
          text: `\u2066${row.user}\u2069`,
          undo: () => latest.current.undo(row),
        }),
      onSuccess: () => {
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
      },
      onFailure: () => mark(row.id, 'failed'),
    }).catch(ignoreFailure);
  }

  return { states, start };
}

/** A lockout has no visitor id; it is ended by address. */
function toUnblockRequest({ type, user, visitor_id: id }: BlockedRow): {
  readonly name: string;
  readonly call: ApiCall;
} {
  if (type === 'user') return { name: 'blockUser', call: { suffix: `/block-user/${id}`, body: { block: 0 } } };
  if (id > 0) return { name: 'blockIp', call: { suffix: `/block-ip/${id}`, body: { block: 0 } } };
  return { name: 'loginUnblock', call: { suffix: '/login-unblock', body: { ip: user, block: 0 } } };
}
