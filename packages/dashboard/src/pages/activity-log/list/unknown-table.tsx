import type { UnknownRow } from '@security-optimizer/contract/activity';
import type { ReactNode } from 'react';
import { __, translate } from '../../../i18n/translate.js';
import { Icon } from '../../../icons/icon.js';
import { AddressCell, PageCell, ResponseCell, TimeCell } from './cells.js';
import { Cell, LogTable, Row } from './log-table.js';

export interface TableProps<Row> {
  readonly rows: readonly Row[];
  readonly busy: boolean;
  readonly focusRow: string | null;
  /** The menu of a row; without it there is no column for it. */
  readonly menu?: (row: Row) => ReactNode;
}

export function unknownColumns(): readonly string[] {
  return [
    __('Time', 'security-optimizer'),
    __('Visitor', 'security-optimizer'),
    __('IP address', 'security-optimizer'),
    __('Page visited', 'security-optimizer'),
    __('Response', 'security-optimizer'),
    __('Actions', 'security-optimizer'),
  ];
}

/** What visitors without a session asked for. All of it was written by strangers: it is shown as text only. */
export function UnknownTable({ rows, menu, ...table }: TableProps<UnknownRow>) {
  const columns = unknownColumns();
  return (
    <LogTable
      {...table}
      label={__('Unknown Visitors Activity', 'security-optimizer')}
      columns={menu ? columns : columns.slice(0, -1)}
      withActions={menu !== undefined}
    >
      {rows.map((row) => (
        <Row key={row.id} id={row.id}>
          <TimeCell ts={row.ts} seconds={row.ts_unix} />
          <VisitorCell type={row.type} />
          <AddressCell ip={row.ip} hostname={row.hostname} />
          <PageCell row={row} />
          <ResponseCell code={row.code} response={row.response} rule={row.rule} />
          {menu ? <Cell className="so-c-actions">{menu(row)}</Cell> : null}
        </Row>
      ))}
    </LogTable>
  );
}

const KINDS: Readonly<Record<string, { readonly icon: string; readonly kind: string }>> = {
  Human: { icon: 'user', kind: 'human' },
  Unknown: { icon: 'unknown', kind: 'unknown' },
};
const BOT = { icon: 'bot', kind: 'bot' };

/** Human, Unknown, or the name of a bot. */
function VisitorCell({ type }: { readonly type: string }) {
  const { icon, kind } = KINDS[type] ?? BOT;
  return (
    <Cell className="so-td-who">
      <span className={`so-who so-who--${kind}`}>
        <Icon name={icon} />
        {translate(type)}
      </span>
    </Cell>
  );
}
