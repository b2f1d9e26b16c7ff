import { type MouseEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { __ } from '../i18n/translate.js';
import { classes } from './dom.js';
import { PRESS_MS, SKELETON_ROWS } from './timing.js';

export interface TableProps {
  readonly label: string;
  readonly columns: readonly string[];
  /** The last column holds actions. */
  readonly withActions: boolean;
  readonly className?: string;
  /** The rows are being reloaded. */
  readonly busy?: boolean;
  /** Id of the row that gets the focus when it appears. */
  readonly focusRow?: string | null;
  /** Text for screen readers that rows can be opened. */
  readonly hint?: string | undefined;
  readonly children: ReactNode;
}

/** On phones CSS turns the table into cards. Browsers then drop the implicit roles, so they are explicit here. */
const ROLES = {
  table: { role: 'table' },
  group: { role: 'rowgroup' },
  row: { role: 'row' },
  head: { role: 'columnheader', scope: 'col' },
  cell: { role: 'cell' },
} as const;

/** A table that turns into cards on phones. */
export function Table({ label, columns, withActions, className = '', busy, focusRow, hint, children }: TableProps) {
  const id = useId();
  const body = useRef<HTMLTableSectionElement>(null);

  useEffect(() => {
    if (!focusRow) return;
    const rows = Array.from(body.current?.children ?? []);
    const row = rows.find((item) => item instanceof HTMLElement && item.dataset.row === focusRow);
    if (row instanceof HTMLElement) row.focus();
  }, [focusRow]);

  return (
    <div className="so-tablewrap" aria-busy={busy || undefined}>
      {hint === undefined ? null : (
        <span className="so-vh" id={id}>
          {hint}
        </span>
      )}
      <table
        {...ROLES.table}
        className={classes('so-table so-table--cards', className, hint !== undefined && 'so-table--open')}
        aria-label={label}
        aria-describedby={hint === undefined ? undefined : id}
      >
        <thead {...ROLES.group}>
          <tr {...ROLES.row}>
            {columns.map((column, index) => (
              <th
                {...ROLES.head}
                key={column}
                className={withActions && index === columns.length - 1 ? 'so-c-end' : undefined}
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

export interface TableRowProps {
  readonly id: string | number;
  readonly className?: string | undefined;
  /**
   * Opens the details of the row by a click, Enter or a tap. Buttons, links and fields inside keep their own actions.
   */
  readonly onOpen?: (() => void) | undefined;
  readonly children: ReactNode;
}

/** Elements inside a row with their own action. */
const CONTROLS = 'a, button, input, label, [role="menu"]';

export function TableRow({ id, className, onOpen, children }: TableRowProps) {
  const touched = useRef(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [pressed, setPressed] = useState(false);
  useEffect(() => () => clearTimeout(timer.current), []);
  if (onOpen === undefined) {
    return (
      <tr {...ROLES.row} data-row={id} tabIndex={-1} className={className || undefined}>
        {children}
      </tr>
    );
  }

  function open(event: MouseEvent): void {
    const isTap = touched.current;
    touched.current = false;
    if (isControl(event.target, event.currentTarget)) return;
    // A text selection ends with a click.
    if (window.getSelection()?.isCollapsed === false) return;
    if (!isTap) {
      onOpen?.();
      return;
    }
    // A tap highlights the row before it opens (specification section 9).
    setPressed(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setPressed(false);
      onOpen?.();
    }, PRESS_MS);
  }

  return (
    <tr
      {...ROLES.row}
      data-row={id}
      tabIndex={0}
      className={classes(className, pressed && 'is-pressed') || undefined}
      onTouchEnd={() => {
        touched.current = true;
      }}
      onClick={open}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.target !== event.currentTarget) return;
        event.preventDefault();
        onOpen();
      }}
    >
      {children}
    </tr>
  );
}

function isControl(target: EventTarget, row: Element): boolean {
  const control = target instanceof Element ? target.closest(CONTROLS) : null;
  return control !== null && row.contains(control);
}

export function TableCell({ className, children }: { readonly className?: string; readonly children: ReactNode }) {
  return (
    <td {...ROLES.cell} className={className}>
      {children}
    </td>
  );
}

/** Widths of the bars in per cent; equal widths would look like a pattern. */
const WIDTHS = [70, 64, 72, 58, 66];

/** Shown while the rows of a table load. The last column holds actions. */
export function TableSkeleton({ columns }: { readonly columns: readonly string[] }) {
  return (
    <div className="so-tablewrap" aria-busy="true">
      <span className="so-vh" role="status">
        {__('Loading', 'security-optimizer')}
      </span>
      <table className="so-table so-table--sk" aria-hidden="true">
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={column} className={index === columns.length - 1 ? 'so-c-end' : undefined}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: SKELETON_ROWS }, (_, row) => row).map((row) => (
            <tr key={row}>
              {columns.map((column, index) => (
                <td key={column}>
                  <span
                    className={index === columns.length - 1 ? 'so-sk so-sk--end' : 'so-sk'}
                    style={index === columns.length - 1 ? undefined : { width: `${WIDTHS[(row + index) % 5]}%` }}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
