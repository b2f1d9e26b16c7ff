import { loginAccess } from '@security-optimizer/contract/login/endpoints';
import { LOGIN_ACCESS_MAX } from '@security-optimizer/contract/login/limits';
import {
  type AddressRange,
  isEverybody,
  isInRange,
  parseAddress,
  readAddresses,
} from '@security-optimizer/contract/typed-addresses';
import { toPlainAddress } from '@security-optimizer/contract/typed-text';
import { useEffect, useId, useRef, useState } from 'react';
import { toCall } from '../../api/client.js';
import { FormDialog } from '../../forms/form-dialog.js';
import { addressFault } from '../../forms/ip-address.js';
import { useSubmit } from '../../forms/use-submit.js';
import { __, sprintf } from '../../i18n/translate.js';
import { Button, IconButton } from '../../ui/button.js';
import { ConfirmDialog, useDialogClose } from '../../ui/dialog.js';
import { classes } from '../../ui/dom.js';
import { TextInput } from '../../ui/field.js';
import { Icon } from '../../ui/icon.js';
import { ErrorText, Note } from '../../ui/inline-messages.js';
import type { DialogProps } from '../../ui/lazy.js';
import { ROW_ANIMATION_MS } from '../../ui/timing.js';
import { focusFirstError, type Messages, useFormErrors } from '../../ui/use-form-errors.js';
import { loginSettings } from '../settings/settings-query.js';
import { useKnownSettings, useSettingsCache } from '../settings/use-settings.js';

/** Manage Login Access: the addresses that may log in. */
export default function LoginAccessDialog({ onClosed }: DialogProps) {
  const settings = useKnownSettings(loginSettings);
  const { store, refetch } = useSettingsCache(loginSettings);
  const list = useAccessRows(settings.login_access ?? []);
  const body = useRef<HTMLDivElement>(null);
  const errors = useFormErrors(getAccessErrors(list.rows), () => focusFirstError(body.current));
  const saving = useSubmit();
  const closing = useDialogClose(onClosed);
  /** The question before the list is saved. */
  const [confirming, setConfirming] = useState<'own' | 'everybody' | null>(null);
  const id = useId();
  const own = settings.your_address ?? '';
  const isShutOut = excludesAddress(own, list.rows);

  function submit(): void {
    if (!errors.check()) return;
    if (isShutOut) setConfirming('own');
    else if (getRanges(list.rows).some(isEverybody)) setConfirming('everybody');
    else send(false);
  }

  function send(confirmed: boolean): void {
    const rows = getFilledRows(list.rows);
    const entries = rows.map(({ text }) => text);
    saving.save<unknown>({
      call: toCall(loginAccess, confirmed ? { entries, confirm: true } : { entries }),
      onSuccess: (data) => {
        store({ login_access: entries, ...loginSettings.read(data) });
        closing.close();
      },
      onUnclear: refetch,
      onFailure: ({ code, fields }) => {
        // The owner's address may have changed since the page was opened; the server checks the current one.
        if (code === 'would_shut_you_out') setConfirming('own');
        if (code === 'means_everybody') setConfirming('everybody');
        // The server identifies rows by their index in the request.
        errors.showServerErrors(
          Object.fromEntries(Object.entries(fields).map(([index, text]) => [rows[Number(index)]?.key ?? index, text])),
        );
      },
    });
  }

  return (
    <FormDialog
      title={__('Manage Login Access', 'security-optimizer')}
      size="large"
      closing={closing}
      saving={saving}
      dirty={list.changed}
      onSubmit={submit}
    >
      <p>
        {__('Only these addresses can open the login page. Remove them all to let everyone try.', 'security-optimizer')}
      </p>
      {isShutOut ? (
        <Note
          kind="warn"
          action={
            <Button small onClick={() => list.addAddress(own)}>
              {/* translators: %s: an IP address */}
              {sprintf(__('Add %s', 'security-optimizer'), own)}
            </Button>
          }
        >
          <p>
            <strong>{__('Your own address is not on the list.', 'security-optimizer')}</strong>{' '}
            {__('You would lose access once you log out.', 'security-optimizer')}
          </p>
        </Note>
      ) : null}
      <div ref={body}>
        <span className="so-label" id={`${id}-label`}>
          {__('Allowed IP addresses', 'security-optimizer')}
        </span>
        <AccessList list={list} labelledBy={`${id}-label`} errors={errors.shown} onTouch={errors.touch} />
        <p className="so-help">
          {__('One address, a range such as 198.51.100.* or a block such as 198.51.100.0/24.', 'security-optimizer')}
        </p>
      </div>
      <div className="so-mt-12">
        <Button disabled={list.rows.length >= LOGIN_ACCESS_MAX} onClick={list.add}>
          <Icon name="plus" />
          {__('Add another', 'security-optimizer')}
        </Button>
        {!isShutOut && own !== '' && getFilledRows(list.rows).length === 0 ? (
          <Button kind="quiet" onClick={() => list.addAddress(own)}>
            {/* translators: %s: an IP address */}
            {sprintf(__('Add %s, your own address', 'security-optimizer'), own)}
          </Button>
        ) : null}
      </div>
      {confirming === 'everybody' ? (
        <ConfirmDialog
          title={__('Let everybody try?', 'security-optimizer')}
          confirmText={__('Save', 'security-optimizer')}
          cancelText={__('Go back', 'security-optimizer')}
          onClosed={() => setConfirming(null)}
          onConfirm={() => send(true)}
        >
          <p>{__('A range in this list means everybody, so the list keeps nobody out.', 'security-optimizer')}</p>
        </ConfirmDialog>
      ) : null}
      {confirming === 'own' ? (
        <ConfirmDialog
          title={__('Shut yourself out?', 'security-optimizer')}
          confirmText={__('Save and shut me out', 'security-optimizer')}
          cancelText={__('Go back', 'security-optimizer')}
          onClosed={() => setConfirming(null)}
          onConfirm={() => send(true)}
        >
          <p>
            {sprintf(
              /* translators: %s: an IP address */
              __(
                'Your own address, %s, is not on the list. Once this is saved you can’t log in from it, and the admin area closes for you.',
                'security-optimizer',
              ),
              own,
            )}
          </p>
        </ConfirmDialog>
      ) : null}
    </FormDialog>
  );
}

interface AccessListProps {
  readonly list: AccessRows;
  readonly labelledBy: string;
  readonly errors: Messages;
  readonly onTouch: (key: string) => void;
}

/** The list of address fields. */
function AccessList({ list, labelledBy, errors, onTouch }: AccessListProps) {
  const element = useRef<HTMLUListElement>(null);

  useEffect(() => {
    if (list.focus !== null) element.current?.querySelector<HTMLElement>(`#${list.focus.key}`)?.focus();
  }, [list.focus]);

  let number = 0;
  return (
    <ul className="so-iplist" aria-labelledby={labelledBy} ref={element}>
      {list.drawn.map(({ key, text, leaving }) => {
        if (leaving) {
          return (
            <li key={key} className="is-leaving" aria-hidden="true">
              <div className="so-field">
                <span className="so-input so-mono">{text}</span>
              </div>
            </li>
          );
        }
        number += 1;
        const error = errors[key];
        return (
          <li key={key}>
            <div className={classes('so-field', error !== undefined && 'has-error')}>
              <TextInput
                id={key}
                mono
                placeholder={__('IP address', 'security-optimizer')}
                /* translators: %d: number of the row */
                aria-label={sprintf(__('IP address %d', 'security-optimizer'), number)}
                aria-invalid={error === undefined ? undefined : true}
                aria-describedby={error === undefined ? undefined : `${key}-error`}
                value={text}
                onText={(typed) => {
                  list.edit(key, typed);
                  onTouch(key);
                }}
              />
              {error === undefined ? null : <ErrorText id={`${key}-error`}>{error}</ErrorText>}
            </div>
            <IconButton
              icon="trash"
              label={
                toPlainAddress(text) === ''
                  ? __('Remove this row', 'security-optimizer')
                  : /* translators: %s: an IP address */
                    sprintf(__('Remove %s', 'security-optimizer'), text)
              }
              onClick={() => list.remove(key)}
            />
          </li>
        );
      })}
    </ul>
  );
}

interface AccessRows {
  readonly rows: readonly AccessRow[];
  /** Rows with those that are being removed, for the animation. */
  readonly drawn: readonly (AccessRow & { readonly leaving: boolean })[];
  /** The row to focus after a change. */
  readonly focus: { readonly key: string } | null;
  readonly changed: boolean;
  readonly edit: (key: string, text: string) => void;
  /** Adds an empty row. */
  readonly add: () => void;
  /** Adds an address to the first empty row, or as a new row. */
  readonly addAddress: (address: string) => void;
  /** Removes a row. The last one is cleared instead. */
  readonly remove: (key: string) => void;
}

/** State of the rows while they are edited. */
function useAccessRows(stored: readonly string[]): AccessRows {
  const nextKey = useRef(0);
  const newRow = (text: string): AccessRow => ({ key: `row-${nextKey.current++}`, text });
  const [first] = useState(() => (stored.length > 0 ? stored : ['']).map(newRow));
  const [rows, setRows] = useState<readonly AccessRow[]>(first);
  const [removed, setRemoved] = useState<readonly { readonly row: AccessRow; readonly index: number }[]>([]);
  const [focus, setFocus] = useState<{ readonly key: string } | null>(null);

  useEffect(() => {
    if (removed.length === 0) return;
    const timer = setTimeout(() => setRemoved([]), ROW_ANIMATION_MS);
    return () => clearTimeout(timer);
  }, [removed]);

  function edit(key: string, text: string): void {
    setRows((before) => before.map((row) => (row.key === key ? { key, text } : row)));
  }

  function append(text: string): void {
    const row = newRow(text);
    setRows([...rows, row]);
    setFocus({ key: row.key });
  }

  function remove(key: string): void {
    const index = rows.findIndex((row) => row.key === key);
    const row = rows[index];
    if (row === undefined) return;
    if (rows.length === 1) {
      edit(key, '');
      setFocus({ key });
      return;
    }
    const remaining = rows.filter((item) => item.key !== key);
    setRows(remaining);
    setRemoved([...removed, { row, index }]);
    setFocus({ key: remaining[Math.min(index, remaining.length - 1)]?.key ?? '' });
  }

  const drawn = rows.map((row) => ({ ...row, leaving: false }));
  for (const { row, index } of removed) drawn.splice(index, 0, { ...row, leaving: true });
  const texts = (list: readonly AccessRow[]): string => JSON.stringify(list.map(({ text }) => text).filter(Boolean));
  return {
    rows,
    drawn,
    focus,
    changed: texts(rows) !== texts(first),
    edit,
    add: () => append(''),
    addAddress(address) {
      const empty = rows.find(({ text }) => text.trim() === '');
      if (empty === undefined) append(address);
      else {
        edit(empty.key, address);
        setFocus({ key: empty.key });
      }
    },
    remove,
  };
}

interface AccessRow {
  readonly key: string;
  readonly text: string;
}

/** Rows in the format of the API; empty ones are dropped (specification section 5). */
function getFilledRows(rows: readonly AccessRow[]): readonly AccessRow[] {
  return rows.map(({ key, text }) => ({ key, text: toPlainAddress(text) })).filter(({ text }) => text !== '');
}

/** Errors by row key. */
function getAccessErrors(rows: readonly AccessRow[]): Messages {
  const errors: Record<string, string> = {};
  for (const { key, text } of getFilledRows(rows)) {
    const fault = addressFault(text);
    if (fault !== null) errors[key] = fault;
  }
  return errors;
}

/** Whether a non-empty list excludes this address. */
function excludesAddress(address: string, rows: readonly AccessRow[]): boolean {
  const bytes = parseAddress(address);
  if (bytes === null || getFilledRows(rows).length === 0) return false;
  return !getRanges(rows).some((range) => isInRange(bytes, range));
}

function getRanges(rows: readonly AccessRow[]): readonly AddressRange[] {
  const ranges: AddressRange[] = [];
  for (const { text } of rows) {
    const read = readAddresses(text);
    if ('ranges' in read) ranges.push(...read.ranges);
  }
  return ranges;
}
