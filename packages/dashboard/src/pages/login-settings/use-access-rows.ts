import { ROW_ANIMATION_MS } from '@security-optimizer/contract/limits';
import { useEffect, useRef, useState } from 'react';
import type { AccessRow } from './access-rows.js';

export interface AccessRows {
  readonly rows: readonly AccessRow[];
  /** Keys of rows that are on their way out, in their old places, for the animation alone. */
  readonly drawn: readonly (AccessRow & { readonly leaving: boolean })[];
  /** The row that should have the focus, when it changes. */
  readonly focus: { readonly key: string } | null;
  readonly changed: boolean;
  readonly edit: (key: string, text: string) => void;
  /** Adds an empty row. */
  readonly add: () => void;
  /** Puts an address into the first empty row, or into a new one. */
  readonly put: (address: string) => void;
  /** Takes a row away. The last one is emptied instead: at least one row always stays. */
  readonly remove: (key: string) => void;
}

/** The rows of the dialog while they are edited. */
export function useAccessRows(stored: readonly string[]): AccessRows {
  const nextKey = useRef(0);
  const newRow = (text: string): AccessRow => ({ key: `row-${nextKey.current++}`, text });
  const [first] = useState(() => (stored.length > 0 ? stored : ['']).map(newRow));
  const [rows, setRows] = useState<readonly AccessRow[]>(first);
  const [gone, setGone] = useState<readonly { readonly row: AccessRow; readonly place: number }[]>([]);
  const [focus, setFocus] = useState<{ readonly key: string } | null>(null);

  useEffect(() => {
    if (gone.length === 0) return;
    const timer = setTimeout(() => setGone([]), ROW_ANIMATION_MS);
    return () => clearTimeout(timer);
  }, [gone]);

  function edit(key: string, text: string): void {
    setRows((before) => before.map((row) => (row.key === key ? { key, text } : row)));
  }

  function append(text: string): void {
    const row = newRow(text);
    setRows([...rows, row]);
    setFocus({ key: row.key });
  }

  function remove(key: string): void {
    const place = rows.findIndex((row) => row.key === key);
    const row = rows[place];
    if (row === undefined) return;
    if (rows.length === 1) {
      edit(key, '');
      setFocus({ key });
      return;
    }
    const left = rows.filter((item) => item.key !== key);
    setRows(left);
    setGone([...gone, { row, place }]);
    setFocus({ key: left[Math.min(place, left.length - 1)]?.key ?? '' });
  }

  const drawn = rows.map((row) => ({ ...row, leaving: false }));
  for (const { row, place } of gone) drawn.splice(place, 0, { ...row, leaving: true });
  const texts = (list: readonly AccessRow[]): string => JSON.stringify(list.map(({ text }) => text).filter(Boolean));
  return {
    rows,
    drawn,
    focus,
    changed: texts(rows) !== texts(first),
    edit,
    add: () => append(''),
    put(address) {
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
