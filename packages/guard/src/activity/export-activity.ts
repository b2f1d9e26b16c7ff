import type { VisitPreset } from '@security-optimizer/contract/activity/schemas';
import type { DownloadFile } from '../feature.js';
import { plainText } from '../lib/plain-text.js';
import { toLocalTimestamp } from '../lib/time-zone.js';
import { HIDDEN_ADDRESS, type LoginAddresses } from '../login/index.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { ActivityStore, EventRow, VisitRow } from './activity-store.js';
import { toUnknownRow, visitSource } from './anonymous-visits.js';
import { parseEventFilters, parseVisitFilters, plainFilters } from './filters.js';
import type { ListSource } from './list-activity.js';
import { eventSource, toRegisteredRow } from './registered-events.js';

/** Rows per query; few enough not to delay other readers of the log. */
const BATCH = 200;

export interface ExportQuery {
  readonly site: SiteConfig;
  readonly list: 'unknown' | 'registered';
  readonly format: 'csv' | 'json';
  /** Filters by the names of their children: `from`, `to`, `type`, … */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Whether `to` is a time instead of a day. */
  readonly exact: boolean;
  readonly preset?: VisitPreset | null;
  /** Text of the search field above the list; empty for none. */
  readonly search?: string;
}

export interface ExportContext {
  readonly store: Pick<
    ActivityStore,
    'newestVisit' | 'listVisits' | 'searchVisits' | 'countVisits' | 'newestEvent' | 'searchEvents' | 'countEvents'
  >;
  readonly timeZone: (site: SiteId) => string;
  /** The current and former login and sign-up addresses of a site. */
  readonly loginAddresses: (site: SiteId) => Promise<LoginAddresses>;
  /** Milliseconds since the Unix epoch. */
  readonly clock: () => number;
}

/**
 * Exports all current rows of a list that match the filters, newest first, as a file. It keeps one batch of rows in
 * memory: the next one is read when the previous one has been consumed.
 *
 * @throws ApiError invalid_input naming the filter
 * @throws StorageError if the first rows can't be read
 */
export async function exportActivity(deps: ExportContext, query: ExportQuery): Promise<DownloadFile> {
  const { site, list, format } = query;
  const timeZone = deps.timeZone(site.id);
  // The file may be shared, so it must not contain login addresses.
  const addresses = await deps.loginAddresses(site.id);
  const dates = { timeZone, exact: query.exact };
  const filters = plainFilters(query.parameters);
  const batches =
    list === 'unknown'
      ? await readBatches(visitSource(deps.store), site.id, parseVisitFilters(filters, dates, query).filter)
      : await readBatches(eventSource(deps.store), site.id, parseEventFilters(filters, dates, query.search).filter);
  const records = (row: VisitRow | EventRow) =>
    'target' in row ? visitRecord(row, timeZone, addresses) : eventRecord(row, timeZone, addresses);
  const names = list === 'unknown' ? visitNames : eventNames;
  const today = toLocalTimestamp(timeZone, Math.floor(deps.clock() / 1000)).slice(0, 10);
  return {
    name: `activity-${list}-${today}.${format}`,
    mediaType: format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/json; charset=utf-8',
    content: format === 'csv' ? toCsv(names, batches, records) : toJson(batches, records),
  };
}

/** Resolves after the first batch was read, so that an error can still become an error response. */
async function readBatches<Filter, Row extends { readonly id: number }>(
  source: ListSource<Filter, Row>,
  site: SiteId,
  filter: Filter,
): Promise<AsyncIterable<readonly Row[]>> {
  const anchor = await source.newest(site);
  const read = (before: number | null) => source.rows({ site, filter, anchor, before, skip: 0, limit: BATCH });
  const first = await read(null);
  return (async function* () {
    for (let found = first; ; ) {
      const { rows, stoppedAt } = found;
      if (rows.length > 0) yield rows;
      if (rows.length < BATCH && stoppedAt === null) return;
      found = await read(stoppedAt ?? (rows.at(-1) as Row).id);
    }
  })();
}

type ExportRecord = { readonly [name: string]: Cell };

async function* toCsv<Row>(
  names: readonly string[],
  batches: AsyncIterable<readonly Row[]>,
  toRecord: (row: Row) => ExportRecord,
): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + csvLine(names);
  for await (const rows of batches) {
    yield rows
      .map((row) => {
        const record = toRecord(row);
        return csvLine(names.map((name) => record[name] ?? null));
      })
      .join('');
  }
}

async function* toJson<Row>(
  batches: AsyncIterable<readonly Row[]>,
  toRecord: (row: Row) => ExportRecord,
): AsyncGenerator<string> {
  let before = '[\n';
  for await (const rows of batches) {
    yield before + rows.map((row) => JSON.stringify(toRecord(row))).join(',\n');
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

const NO_FLAGS = { block: 0, do_not_block: 0 } as const;

const visitNames = [
  ...['id', 'ts', 'ts_unix', 'type', 'ip', 'hostname', 'page_visited', 'response', 'code', 'rule', 'count'],
  ...['more', 'more_from', 'reason', 'failed_login', 'tried'],
];

function visitRecord(row: VisitRow, timeZone: string, addresses: LoginAddresses): ExportRecord {
  const shown = toUnknownRow(row, timeZone, NO_FLAGS, null);
  const page_visited = addresses.isNamedIn(row.target) ? HIDDEN_ADDRESS : shown.page_visited;
  return pickFields({ ...shown, page_visited }, visitNames);
}

const eventNames = [
  ...['id', 'ts', 'ts_unix', 'user', 'ip', 'hostname', 'activity', 'actions'],
  ...['origin', 'object', 'object_type', 'before', 'after'],
];

function eventRecord(row: EventRow, timeZone: string, addresses: LoginAddresses): ExportRecord {
  const shown = toRegisteredRow(row, {
    timeZone,
    flags: NO_FLAGS,
    caller: null,
    address: { flags: NO_FLAGS, block: null },
  });
  const record = pickFields({ ...shown, ...shown.words }, eventNames);
  return Object.fromEntries(
    Object.entries(record).map(([name, cell]) => [name, typeof cell === 'string' ? addresses.redact(cell) : cell]),
  );
}

function pickFields(row: object, names: readonly string[]): ExportRecord {
  return Object.fromEntries(names.map((name) => [name, (row as ExportRecord)[name] ?? null]));
}

export type Cell = string | number | null;

/** UTF-8 byte order mark: without it spreadsheets assume the system's encoding. */
const BYTE_ORDER_MARK = '\ufeff';

/**
 * Prefixes that a spreadsheet interprets as a formula (OWASP, "CSV Injection"): = + - @, tab, CR and LF, and the
 * full-width forms of the first four.
 */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * Formats one line of a CSV file (RFC 4180), with its line end. Texts are always quoted, so that a semicolon or tab
 * does not split cells where another list separator is used. A text that would be a formula gets an apostrophe as a
 * prefix, and control characters are shown as `\u000a`.
 */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = plainText(cell, Number.POSITIVE_INFINITY);
  return `"${FORMULA.test(cell) ? "'" : ''}${text.replaceAll('"', '""')}"`;
}
