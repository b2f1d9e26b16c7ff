import { MAX_BLOCKED_AT_ONCE } from '@security-optimizer/contract/activity/blocks';
import type { UnknownRow } from '@security-optimizer/contract/activity/schemas';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { invalidate } from '../../api/queries.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { restoreFocus } from '../../ui/dom.js';
import { Icon } from '../../ui/icon.js';
import { useDialogs } from '../../ui/lazy.js';
import { MenuButton, type MenuItem } from '../../ui/menu.js';
import { BLOCKED_COUNT_KEY, type LogList } from './log-lists.js';
import type { ManageDialogProps, Subject } from './manage-dialog.js';
import type { Blocking } from './use-blocking.js';

/** The row with open details. */
export interface OpenRow {
  /** Null while none are open. */
  readonly id: number | null;
  readonly open: (id: number) => void;
  /** The content of the drawer. */
  readonly on: {
    readonly onMove: (id: number) => void;
    readonly onLast: () => void;
    readonly onClosed: () => void;
  };
}

/**
 * Opens the details of rows. The row in the list follows, more rows are loaded at the end, and the focus returns to it.
 */
export function useOpenRow<Row>({ rows, fetching, loadMoreQuietly }: LogList<Row>): OpenRow {
  const [id, setId] = useState<number | null>(null);
  const last = useRef<number | null>(null);

  // After the drawer is removed, because it keeps the focus until then.
  useEffect(() => {
    const { current } = last;
    last.current = id;
    if (id === null && current !== null) restoreFocus(() => findRow(current));
  }, [id]);

  return {
    id,
    open: setId,
    on: {
      onMove(next) {
        setId(next);
        findRow(next)?.scrollIntoView?.({ block: 'nearest' });
      },
      onLast() {
        if (rows !== null && rows.page < rows.pages && fetching === null) loadMoreQuietly();
      },
      onClosed: () => setId(null),
    },
  };
}

function findRow(id: number): Element | null {
  return document.querySelector(`.so-table--open [data-row="${id}"]`);
}

export interface RowMenuProps {
  /** Address or user of the row. */
  readonly subject: string;
  readonly manageText: string;
  /** Undefined if blocking is not allowed. */
  readonly onManage: (() => void) | undefined;
  /** Block or Unblock of the row's address. */
  readonly block?: { readonly text: string; readonly run: (anchor: HTMLElement) => void } | undefined;
  /** Undefined for events without a user. */
  readonly onView: (() => void) | undefined;
}

/** The menu of a row. */
export function RowMenu({ subject, manageText, onManage, block, onView }: RowMenuProps) {
  const anchor = useRef<HTMLSpanElement>(null);
  const items: MenuItem[] = [];
  if (onView !== undefined) {
    items.push({ icon: 'search', text: __('View activity', 'security-optimizer'), onChoose: onView });
  }
  if (onManage !== undefined) items.unshift({ icon: 'sliders', text: manageText, onChoose: onManage });
  if (block !== undefined) {
    const run = (): void => {
      const button = anchor.current?.querySelector('button');
      if (button) block.run(button);
    };
    items.unshift({ icon: 'ban', text: block.text, onChoose: run });
  }
  return (
    <span ref={anchor}>
      <MenuButton
        className="so-iconbtn"
        /* translators: %s: an IP address or a user's name */
        label={sprintf(__('Actions for %s', 'security-optimizer'), subject)}
        items={items}
      >
        <Icon name="more" />
      </MenuButton>
    </span>
  );
}

export interface ManageDialogOpener {
  readonly open: (subject: Subject) => void;
  /** The dialog, to be rendered by the caller. */
  readonly dialog: ReactNode;
}

const dialogs = { manage: () => import('./manage-dialog.js') };

/** Opens Manage IP Traffic or Manage User Traffic. @param onChanged reloads the lists */
export function useManageDialog(onChanged: () => void): ManageDialogOpener {
  const queries = useQueryClient();
  const [subject, setSubject] = useState<Subject | null>(null);
  const { Current, open, closed } = useDialogs<'manage', ManageDialogProps>(dialogs);

  function changed(): void {
    void invalidate(queries, BLOCKED_COUNT_KEY);
    onChanged();
  }

  return {
    open(next) {
      setSubject(next);
      open('manage');
    },
    dialog:
      Current === null || subject === null ? null : <Current subject={subject} onChanged={changed} onClosed={closed} />,
  };
}

export interface RowSelection {
  /** Shows or hides the checkboxes. */
  readonly tool: ReactNode;
  /** The number of selected rows, and Block. */
  readonly bar: ReactNode;
  /** The checkbox of a row; undefined while they are hidden. */
  readonly pick: ((row: UnknownRow) => ReactNode) | undefined;
  /** Selects or deselects a row. */
  readonly toggle: (row: UnknownRow) => void;
}

/** Selects several rows to block their visitors at once. All rows of a visitor are selected together. */
export function useRowSelection(blocking: Blocking): RowSelection {
  const [chosen, setChosen] = useState<ReadonlyMap<number, string> | null>(null);
  const count = chosen?.size ?? 0;

  function toggle(row: UnknownRow): void {
    if (!canBeChosen(row)) return;
    setChosen((before) => {
      const next = new Map(before ?? []);
      if (!next.delete(row.visitor_id) && next.size < MAX_BLOCKED_AT_ONCE) next.set(row.visitor_id, row.ip);
      return next;
    });
  }

  function block(anchor: HTMLElement): void {
    const several = Array.from(chosen ?? [], ([visitorId, name]) => ({ visitorId, name }));
    const [first] = several;
    if (first !== undefined) blocking.choose({ name: first.name, visitorId: 0, several, block: null }, anchor);
  }

  return {
    tool: (
      <button
        type="button"
        className="so-btn so-btn--tool"
        aria-pressed={chosen !== null}
        onClick={() => setChosen(chosen === null ? new Map() : null)}
      >
        <Icon name="check-circle" />
        <span className="so-btn__label">{__('Select', 'security-optimizer')}</span>
      </button>
    ),
    bar:
      chosen === null ? null : (
        <div className="so-pickbar">
          <span className="so-num" role="status">
            {sprintf(
              /* translators: %d: number of addresses */
              _n('%d address selected', '%d addresses selected', count, 'security-optimizer'),
              count,
            )}
          </span>
          <button type="button" className="so-btn" onClick={() => setChosen(null)}>
            {__('Done', 'security-optimizer')}
          </button>
          <button
            type="button"
            className="so-btn so-btn--danger"
            disabled={count === 0}
            aria-haspopup="dialog"
            onClick={({ currentTarget }) => block(currentTarget)}
          >
            {__('Block selected…', 'security-optimizer')}
          </button>
        </div>
      ),
    pick:
      chosen === null
        ? undefined
        : (row) => (
            <label className="so-check so-pick">
              <input
                type="checkbox"
                checked={chosen.has(row.visitor_id)}
                disabled={!canBeChosen(row)}
                /* translators: %s: an IP address */
                aria-label={sprintf(__('Select %s', 'security-optimizer'), row.ip)}
                onChange={() => toggle(row)}
              />
            </label>
          ),
    toggle,
  };
}

function canBeChosen(row: UnknownRow): boolean {
  return row.visitor_id !== 0 && row.do_not_block === 0;
}
