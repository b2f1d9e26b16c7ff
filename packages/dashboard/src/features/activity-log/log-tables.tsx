import type { CurrentBlock } from '@security-optimizer/contract/activity/blocks';
import { activityKind, eventSentence } from '@security-optimizer/contract/activity/event-kinds';
import type { RegisteredRow, UnknownRow } from '@security-optimizer/contract/activity/schemas';
import type { ReactNode } from 'react';
import { type DateFormats, getDateFormats } from '../../i18n/date-formats.js';
import { twoDigits } from '../../i18n/days.js';
import { formatNumber } from '../../i18n/locale.js';
import { ownersLanguage } from '../../i18n/server-message.js';
import { __, _n, sprintf, translate } from '../../i18n/translate.js';
import { classes } from '../../ui/dom.js';
import { Icon } from '../../ui/icon.js';
import { Table, TableCell, TableRow } from '../../ui/table.js';
import { TextWith } from '../../ui/text-with.js';
import { Tooltip } from '../../ui/tooltip.js';
import { useSiteClock } from '../settings/site-clock.js';
import { blockText, toBlock, toNetwork, useBlocks } from './blocks.js';
import { refusalText, scanText, triedText } from './reasons.js';

export interface LogTableProps<Row> {
  readonly rows: readonly Row[];
  readonly busy: boolean;
  readonly focusRow: string | null;
  /** The menu of a row; without it there is no actions column. */
  readonly menu?: (row: Row) => ReactNode;
  /** When the rows were loaded, milliseconds since 1970. */
  readonly loadedAt?: number;
  /** Opens the details of a row. */
  readonly onOpen?: ((row: Row) => void) | undefined;
  /** Id of the row whose details are open. */
  readonly openRow?: number | null;
  /** The checkbox at the start of a row while several rows are selected. */
  readonly pick?: ((row: Row) => ReactNode) | undefined;
}

function openHint(): string {
  return __('Press Enter on a row to open its details.', 'security-optimizer');
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

/** Visits of anonymous clients. Their values are untrusted and shown as plain text. */
export function UnknownTable({ rows, menu, loadedAt = 0, onOpen, openRow, pick, ...table }: LogTableProps<UnknownRow>) {
  const columns = unknownColumns();
  const findBlock = useBlocks();
  return (
    <Table
      {...table}
      label={__('Unknown Visitors Activity', 'security-optimizer')}
      columns={menu ? columns : columns.slice(0, -1)}
      withActions={menu !== undefined}
      hint={onOpen && openHint()}
    >
      {rows.map((row) => {
        const block = findBlock(row.ip, row.current_block ?? toBlock(row.block, row.ip), loadedAt);
        return (
          <TableRow
            key={row.id}
            id={row.id}
            className={classes(
              block !== null && 'is-blocked',
              row.id === openRow && 'is-picked',
              pick !== undefined && 'has-pick',
            )}
            onOpen={onOpen && (() => onOpen(row))}
          >
            <TimeCell ts={row.ts} seconds={row.ts_unix} pick={pick?.(row)} />
            <VisitorCell type={row.type} />
            <AddressCell ip={row.ip} hostname={row.hostname} block={block} />
            <PageCell row={row} />
            <ResponseCell {...row} />
            {menu ? <TableCell className="so-c-actions">{menu(row)}</TableCell> : null}
          </TableRow>
        );
      })}
    </Table>
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
    <TableCell className="so-td-who">
      <span className={`so-who so-who--${kind}`}>
        <Icon name={icon} />
        {kind === 'human' ? __('Human', 'security-optimizer') : translate(type)}
      </span>
    </TableCell>
  );
}

export function registeredColumns(): readonly string[] {
  return [
    __('Time', 'security-optimizer'),
    __('User', 'security-optimizer'),
    __('IP address', 'security-optimizer'),
    __('Activity', 'security-optimizer'),
    __('Actions', 'security-optimizer'),
  ];
}

/** Events of registered users. Their values are untrusted and shown as plain text. */
export function RegisteredTable({
  rows,
  menu,
  loadedAt = 0,
  onOpen,
  openRow,
  ...table
}: Omit<LogTableProps<RegisteredRow>, 'pick'>) {
  const columns = registeredColumns();
  const formats = getDateFormats();
  const findBlock = useBlocks();
  return (
    <Table
      {...table}
      label={__('Registered Users Activity', 'security-optimizer')}
      columns={menu ? columns : columns.slice(0, -1)}
      withActions={menu !== undefined}
      hint={onOpen && openHint()}
    >
      {rows.map((row) => {
        const block = findBlock(row.ip, row.ip_block, loadedAt);
        return (
          <TableRow
            key={row.id}
            id={row.id}
            className={classes(block !== null && 'is-blocked', row.id === openRow && 'is-picked')}
            onOpen={onOpen && (() => onOpen(row))}
          >
            <TimeCell ts={row.ts} seconds={row.ts_unix} />
            <UserCell row={row} />
            <AddressCell ip={eventAddress(row)} hostname={row.hostname} block={block} />
            <TableCell className="so-td-page">
              {FAILED.has(row.words.kind) ? (
                <span className="so-pill so-pill--bad so-pill--text">{eventText(row, formats)}</span>
              ) : (
                <span className="so-event">{eventText(row, formats)}</span>
              )}
            </TableCell>
            {menu ? <TableCell className="so-c-actions">{menu(row)}</TableCell> : null}
          </TableRow>
        );
      })}
    </Table>
  );
}

const FAILED: ReadonlySet<string> = new Set(['login.failed', 'login.locked', 'factor.failed']);

/** The event in the owner's language if its kind is known, otherwise the server's text. */
export function eventText({ words, activity }: RegisteredRow, formats: DateFormats): string {
  if (activityKind(words.kind) === null) return activity;
  const { kind, object_type: objectType } = words;
  const object = isolated(words.object);
  const before = words.before === null ? null : isolated(words.before);
  // The end of a lockout is in local time of the site.
  const ends = kind === 'login.locked' && words.after !== null ? momentText(words.after, formats) : words.after;
  // The result of an action is JSON, see event-kinds.ts.
  const after = ends === null || kind === 'product.action' ? ends : isolated(ends);
  return eventSentence({ kind, object, objectType, before, after }, ownersLanguage);
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Isolates a name, so that a right-to-left one keeps its place in the sentence (UAX #9). */
function isolated(name: string): string {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}

/** The address of an event; a lockout is that of the network which counts as one client. */
export function eventAddress({ words, ip }: RegisteredRow): string {
  return words.kind === 'login.locked' && ip.includes(':') ? (toNetwork(ip) ?? ip) : ip;
}

function UserCell({ row }: { readonly row: RegisteredRow }) {
  // Events without a user show their origin.
  const hasNoUser = row.visitor_id === 0;
  const pill = originText(row.origin);
  return (
    <TableCell className="so-td-who">
      <span className="so-who so-who--user">
        <Icon name={hasNoUser ? 'sliders' : 'user'} />
        <span className="so-who__name">
          <UserName row={row} fallback={pill || __('Visitor', 'security-optimizer')} />
          {row.you === 1 && !isAttempt(row) ? <span className="so-pill">{__('You', 'security-optimizer')}</span> : null}
          {hasNoUser || pill === '' ? null : <span className="so-pill">{pill}</span>}
        </span>
      </span>
    </TableCell>
  );
}

function UserName({ row, fallback }: { readonly row: RegisteredRow; readonly fallback: string }) {
  if (row.visitor_id === 0) return <>{fallback}</>;
  if (!isAttempt(row)) return <bdi>{row.user}</bdi>;
  /* translators: %s: login that somebody tried, without success */
  const text = __('tried %s', 'security-optimizer');
  return (
    <TextWith text={text}>
      <bdi>{row.user}</bdi>
    </TextWith>
  );
}

/** Whether the event is a failed login, which is not an act of the user. */
export function isAttempt({ words }: RegisteredRow): boolean {
  return words.kind === 'login.failed';
}

export function originText(origin: RegisteredRow['origin']): string {
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

/** Local time at the site. */
function TimeCell({ ts, seconds, pick }: { readonly ts: string; readonly seconds: number; pick?: ReactNode }) {
  const moment = formatRowTime(ts, seconds, getDateFormats());
  return (
    <TableCell className="so-td-time">
      {pick}
      <time className="so-num" dir="ltr" dateTime={seconds > 0 ? new Date(seconds * 1000).toISOString() : undefined}>
        {moment === null ? (
          ts
        ) : (
          <>
            {moment.time}
            {'\u2002'}
            <small>{moment.day}</small>
          </>
        )}
      </time>
    </TableCell>
  );
}

interface AddressCellProps {
  readonly ip: string;
  readonly hostname: string;
  readonly block?: CurrentBlock | null;
}

/** An address and its host name, or the end of its block. */
function AddressCell({ ip, hostname, block = null }: AddressCellProps) {
  const clock = useSiteClock();
  return (
    <TableCell className="so-td-ip">
      <Tooltip text={hostname} className="so-ip">
        <span className="so-mono" dir="ltr">
          {ip}
        </span>
        {block !== null ? (
          <span className="so-mark">
            <Icon name="ban" />
            {blockText(block, clock)}
          </span>
        ) : hostname === '' ? null : (
          <small dir="ltr">{hostname}</small>
        )}
      </Tooltip>
    </TableCell>
  );
}

/** The request target, truncated to one line with a tooltip, and the number of refused visits that share the row. */
function PageCell({ row }: { readonly row: UnknownRow }) {
  const { page_visited: target, count } = row;
  const why = triedText(row) || refusalText(row) || scanText(row);
  return (
    <TableCell className="so-td-page so-td-path">
      <Tooltip text={target} className="so-pathcell">
        <span className="so-mono so-path" dir="ltr">
          {target}
        </span>
        {count > 1 ? (
          <span className="so-times so-num">
            <span aria-hidden="true">× {count}</span>
            {/* translators: %d: how often a page was visited in a moment */}
            <span className="so-vh">{sprintf(__('%d times', 'security-optimizer'), count)}</span>
          </span>
        ) : null}
      </Tooltip>
      {why === '' ? null : (
        <>
          {' '}
          <small className="so-why">{why}</small>
        </>
      )}
      {row.more > 0 ? <MoreLikeThis {...row} /> : null}
    </TableCell>
  );
}

/** During a flood one row represents similar refused visits of a second. */
function MoreLikeThis({ more, more_from: from, ip }: Pick<UnknownRow, 'more' | 'more_from' | 'ip'>) {
  const number = formatNumber(more);
  return (
    <small className="so-more so-num">
      {from === ip
        ? /* translators: %s: number of visits */
          sprintf(_n('and %s more like this', 'and %s more like this', more, 'security-optimizer'), number)
        : from === null
          ? sprintf(
              /* translators: %s: number of visits */
              _n(
                'and %s more like this from other addresses',
                'and %s more like this from other addresses',
                more,
                'security-optimizer',
              ),
              number,
            )
          : sprintf(
              /* translators: 1: number of visits, 2: addresses, for example 203.0.113.0/24 */
              _n('and %1$s more like this from %2$s', 'and %1$s more like this from %2$s', more, 'security-optimizer'),
              number,
              from,
            )}
    </small>
  );
}

/** HTTP status: red for refused visits, amber for wrong passwords and errors. */
function ResponseCell(row: ResponsePillProps) {
  return (
    <TableCell className="so-td-status">
      <ResponsePill {...row} />
    </TableCell>
  );
}

export type ResponsePillProps = Pick<UnknownRow, 'code' | 'response' | 'rule' | 'failed_login'>;

export function ResponsePill({ code, response, rule, failed_login: isFailedLogin }: ResponsePillProps) {
  const blocked = rule !== null;
  const isFailure = isFailedLogin === 1 && !blocked;
  const kind = blocked ? ' so-pill--bad' : isFailure || code >= 400 ? ' so-pill--warn' : '';
  const text = blocked
    ? /* translators: %s: HTTP status */ sprintf(__('%s Blocked', 'security-optimizer'), String(code))
    : isFailure
      ? __('Failed login', 'security-optimizer')
      : response || String(code);
  return <span className={`so-pill${kind}`}>{text}</span>;
}

/**
 * Day and time of a row in the owner's language.
 *
 * @param ts `YYYY-MM-DD HH:MM`, local time of the site
 * @param seconds Unix seconds, which add the seconds to `ts`; 0 when unknown
 */
export function formatRowTime(ts: string, seconds: number, formats: DateFormats): { day: string; time: string } | null {
  const match = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2})/.exec(ts);
  if (match === null) return null;
  const [, day = '', minute = ''] = match;
  const time = seconds > 0 ? formats.fullTime(`${minute}:${twoDigits(seconds % 60)}`) : formats.time(minute);
  return { day: formats.shortDay(day), time };
}

/** Day and time in one text, `21 Nov, 14:32`; other formats are returned unchanged. */
export function momentText(ts: string, formats: DateFormats): string {
  const moment = formatRowTime(ts, 0, formats);
  return moment === null ? ts : `${moment.day}, ${moment.time}`;
}
