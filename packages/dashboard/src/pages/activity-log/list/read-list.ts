import type { ActivityFilter, BlockedRow, RegisteredRow, UnknownRow } from '@security-optimizer/contract/activity';
import { type Fields, isFields } from '../../../data/fields.js';
import { readFlag } from '../../../options/read-flag.js';

/** What was read of a list so far. */
export interface LogRows<Row> {
  readonly entries: readonly Row[];
  readonly filters: readonly ActivityFilter[];
  readonly page: number;
  readonly pages: number;
  /** Where the next page begins, if the server says so. */
  readonly cursor: string | null;
  readonly total: number | null;
}

type ReadRow<Row> = (row: Fields, place: number) => Row;

/**
 * Reads an answered list. A server may leave out what the contract adds to the specification; such values get
 * defaults that show nothing.
 *
 * @returns null when it is no list
 */
export function readList<Row>(data: unknown, readRow: ReadRow<Row>): LogRows<Row> | null {
  if (!isFields(data) || !Array.isArray(data.entries)) return null;
  return {
    entries: data.entries.filter(isFields).map(readRow),
    filters: Array.isArray(data.filters) ? data.filters.filter(isFilter) : [],
    page: number(data.page) ?? 1,
    pages: number(data.pages) ?? 1,
    cursor: typeof data.cursor === 'string' ? data.cursor : null,
    total: number(data.total),
  };
}

export const readUnknownRow: ReadRow<UnknownRow> = (row, place) => ({
  ...readBase(row, place),
  type: text(row.type),
  page_visited: text(row.page_visited),
  count: number(row.count) ?? 1,
  more: number(row.more) ?? 0,
  more_from: typeof row.more_from === 'string' ? row.more_from : null,
  code: number(row.code) ?? (Number.parseInt(text(row.response), 10) || 0),
  rule: typeof row.rule === 'string' ? row.rule : null,
});

export const readRegisteredRow: ReadRow<RegisteredRow> = (row, place) => {
  const words = isFields(row.words) ? row.words : {};
  return {
    ...readBase(row, place),
    user: text(row.user),
    activity: text(row.activity),
    actions: text(row.actions),
    words: {
      kind: text(words.kind),
      object: text(words.object),
      object_type: text(words.object_type),
      before: typeof words.before === 'string' ? words.before : null,
      after: typeof words.after === 'string' ? words.after : null,
    },
    origin: row.origin === 'cli' || row.origin === 'cron' || row.origin === 'system' ? row.origin : 'web',
    you: readFlag(row.you) ?? 0,
  };
};

export const readBlockedRow: ReadRow<BlockedRow> = (row, place) => ({
  id: row.id === undefined ? `row-${place}` : String(row.id),
  ts: text(row.ts),
  ts_unix: number(row.ts_unix) ?? 0,
  until: typeof row.until === 'string' ? row.until : null,
  user: text(row.user),
  visitor_id: number(row.visitor_id) ?? 0,
  type: row.type === 'user' ? 'user' : 'ip',
  hostname: text(row.hostname),
});

function readBase(row: Fields, place: number) {
  return {
    // Rows that a server gives no id to are told apart by their place.
    id: number(row.id) ?? -1 - place,
    ts: text(row.ts),
    ts_unix: number(row.ts_unix) ?? 0,
    ip: text(row.ip),
    hostname: text(row.hostname),
    response: text(row.response),
    visitor_id: number(row.visitor_id) ?? 0,
    block: readFlag(row.block) ?? 0,
    do_not_block: readFlag(row.do_not_block) ?? 0,
  };
}

function isFilter(value: unknown): value is ActivityFilter {
  return isFields(value) && typeof value.wp_name === 'string' && Array.isArray(value.children);
}

function number(value: unknown): number | null {
  const read = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof read === 'number' && Number.isFinite(read) ? read : null;
}

function text(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : '';
}
