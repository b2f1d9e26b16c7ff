import { type ReactNode, useEffect, useRef } from 'react';

export interface LogTableProps {
  readonly label: string;
  readonly columns: readonly string[];
  /** The last column holds actions. */
  readonly withActions: boolean;
  readonly className?: string;
  /** Rows are being fetched again. */
  readonly busy?: boolean;
  /** `id` of the row that gets the focus when it appears. */
  readonly focusRow?: string | null;
  readonly children: ReactNode;
}

/**
 * On phones the table turns into cards. Browsers forget what the elements are when a style sheet makes blocks of them,
 * so their roles are written out.
 */
const ROLES = {
  table: { role: 'table' },
  group: { role: 'rowgroup' },
  row: { role: 'row' },
  head: { role: 'columnheader', scope: 'col' },
  cell: { role: 'cell' },
} as const;

/** A table that turns into cards on phones. */
export function LogTable({ label, columns, withActions, className = '', busy, focusRow, children }: LogTableProps) {
  const body = useRef<HTMLTableSectionElement>(null);

  useEffect(() => {
    if (!focusRow) return;
    const rows = Array.from(body.current?.children ?? []);
    const row = rows.find((item) => item instanceof HTMLElement && item.dataset.row === focusRow);
    if (row instanceof HTMLElement) row.focus();
  }, [focusRow]);

  return (
    <div className="so-tablewrap" aria-busy={busy || undefined}>
      <table {...ROLES.table} className={`so-table so-table--cards ${className}`} aria-label={label}>
        <thead {...ROLES.group}>
          <tr {...ROLES.row}>
            {columns.map((column, place) => (
              <th
                {...ROLES.head}
                key={column}
                className={withActions && place === columns.length - 1 ? 'so-c-end' : undefined}
              >
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody {...ROLES.group} ref={body}>
          {children}
        </tbody>
      </table>
    </div>
  );
}

export function Row({ id, className, children }: { id: string | number; className?: string; children: ReactNode }) {
  return (
    <tr {...ROLES.row} data-row={id} tabIndex={-1} className={className}>
      {children}
    </tr>
  );
}

export function Cell({ className, children }: { readonly className?: string; readonly children: ReactNode }) {
  return (
    <td {...ROLES.cell} className={className}>
      {children}
    </td>
  );
}
