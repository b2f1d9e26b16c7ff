import type { UnknownRow } from '@security-optimizer/contract/activity/schemas';
import { type ReactNode, useState } from 'react';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Icon } from '../../ui/icon.js';
import type { Blocking } from './use-blocking.js';

/** Maximum number of visitors in a request to block; see `MAX_BLOCKED_AT_ONCE` of the contract. */
const MAX_SELECTED = 100;

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
      if (!next.delete(row.visitor_id) && next.size < MAX_SELECTED) next.set(row.visitor_id, row.ip);
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
