import type { RegisteredRow } from '@security-optimizer/contract/activity';
import { activityKind, eventSentence } from '@security-optimizer/contract/activity-kinds';
import type { DateTexts } from '../../../dates/date-texts.js';
import { useDateTexts } from '../../../dates/use-date-texts.js';
import { __, translate } from '../../../i18n/translate.js';
import { Icon } from '../../../icons/icon.js';
import { AddressCell, TimeCell } from './cells.js';
import { Cell, LogTable, Row } from './log-table.js';
import { momentText } from './moment-text.js';
import type { TableProps } from './unknown-table.js';

export function registeredColumns(): readonly string[] {
  return [
    __('Time', 'security-optimizer'),
    __('User', 'security-optimizer'),
    __('IP address', 'security-optimizer'),
    __('Activity', 'security-optimizer'),
    __('Actions', 'security-optimizer'),
  ];
}

/** What registered users did. Names come from users: they are shown as text only. */
export function RegisteredTable({ rows, menu, ...table }: TableProps<RegisteredRow>) {
  const columns = registeredColumns();
  const texts = useDateTexts();
  return (
    <LogTable
      {...table}
      label={__('Registered Users Activity', 'security-optimizer')}
      columns={menu ? columns : columns.slice(0, -1)}
      withActions={menu !== undefined}
    >
      {rows.map((row) => (
        <Row key={row.id} id={row.id}>
          <TimeCell ts={row.ts} seconds={row.ts_unix} />
          <UserCell row={row} />
          <AddressCell ip={row.ip} hostname={row.hostname} />
          <Cell className="so-td-page">
            {FAILED.has(row.words.kind) ? (
              <span className="so-pill so-pill--bad so-pill--text">{sentenceOf(row, texts)}</span>
            ) : (
              <span className="so-event">{sentenceOf(row, texts)}</span>
            )}
          </Cell>
          {menu ? <Cell className="so-c-actions">{menu(row)}</Cell> : null}
        </Row>
      ))}
    </LogTable>
  );
}

const FAILED: ReadonlySet<string> = new Set(['login.failed', 'login.locked', 'factor.failed']);

/** The server's words, unless the event is one that can be told in the owner's language. */
function sentenceOf({ words, activity }: RegisteredRow, texts: DateTexts): string {
  if (activityKind(words.kind) === null) return activity;
  const { kind, object, object_type: objectType, before } = words;
  // The end of a lock is a time of the site's clock.
  const after = kind === 'login.locked' && words.after !== null ? momentText(words.after, texts) : words.after;
  return eventSentence({ kind, object, objectType, before, after }, translate);
}

function UserCell({ row }: { readonly row: RegisteredRow }) {
  // What was done without a user is told by where it came from, in the reader's language.
  const isNobody = row.visitor_id === 0;
  const pill = originText(row.origin);
  return (
    <Cell className="so-td-who">
      <span className="so-who so-who--user">
        <Icon name={isNobody ? 'sliders' : 'user'} />
        <span className="so-who__name">
          {isNobody ? pill || __('Visitor', 'security-optimizer') : <bdi>{row.user}</bdi>}
          {row.you === 1 ? <span className="so-pill">{__('You', 'security-optimizer')}</span> : null}
          {isNobody || pill === '' ? null : <span className="so-pill">{pill}</span>}
        </span>
      </span>
    </Cell>
  );
}

function originText(origin: RegisteredRow['origin']): string {
  switch (origin) {
    case 'cli':
      return __('Command line', 'security-optimizer');
    case 'cron':
      return __('Scheduled task', 'security-optimizer');
    case 'system':
      return __('System', 'security-optimizer');
    default:
      return '';
  }
}
