import { HIDDEN_ADDRESS, type LoginAddresses } from '../login/login-addresses.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { ActivityStore, EventRow, VisitRow } from './activity-store.js';
import { BYTE_ORDER_MARK, type Cell, csvLine } from './export-csv.js';
import type { ListSource } from './list-activity.js';
import { localTimestamp } from './local-days.js';
import { plainFilters, readEventFilters, readVisitFilters } from './read-filters.js';
import { eventSource, registeredRowOf } from './registered-events.js';
import { unknownRowOf, visitSource } from './unknown-visits.js';

/** Rows read at once; few enough that nobody else who reads the log has to wait for them. */
const BATCH = 200;

export interface ExportAsk {
  readonly site: SiteConfig;
  readonly list: 'unknown' | 'registered';
  readonly format: 'csv' | 'json';
  /** Filters under the names of their children: `from`, `to`, `type`, … */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The To is a moment, not a day. */
  readonly exact: boolean;
}

/** A file that is written while it is read. */
export interface ExportFile {
  readonly name: string;
  readonly mediaType: string;
  /** Pieces of text. Throws StorageError in the middle when the log can't be read any more. */
  readonly content: AsyncIterable<string>;
}

export interface ExportDeps {
  readonly store: Pick<
    ActivityStore,
    'newestVisit' | 'listVisits' | 'countVisits' | 'newestEvent' | 'listEvents' | 'countEvents'
  >;
  readonly timeZone: (site: SiteId) => string;
  /** Where one logs in or signs up at a site, or did. */
  readonly loginAddresses: (site: SiteId) => Promise<LoginAddresses>;
  /** Milliseconds since the Unix epoch. */
  readonly clock: () => number;
}

/**
 * Every row of a list that the filters match at this moment, newest first, as a file. Memory is that of one batch of
 * rows: the next one is read when the one before has been taken.
 *
 * @throws ApiError invalid_input naming the filter; StorageError when the first rows can't be read
 */
export async function exportActivity(deps: ExportDeps, ask: ExportAsk): Promise<ExportFile> {
  const { site, list, format } = ask;
  const timeZone = deps.timeZone(site.id);
  // A file is passed on: it names no address at which one logs in.
  const addresses = await deps.loginAddresses(site.id);
  const dates = { timeZone, exact: ask.exact };
  const filters = plainFilters(ask.parameters);
  const batches =
    list === 'unknown'
      ? await readBatches(visitSource(deps.store), site.id, readVisitFilters(filters, dates).filter)
      : await readBatches(eventSource(deps.store), site.id, readEventFilters(filters, dates).filter);
  const records = (row: VisitRow | EventRow) =>
    'target' in row ? visitRecord(row, timeZone, addresses) : eventRecord(row, timeZone, addresses);
  const names = list === 'unknown' ? visitNames : eventNames;
  const today = localTimestamp(timeZone, Math.floor(deps.clock() / 1000)).slice(0, 10);
  return {
    name: `activity-${list}-${today}.${format}`,
    mediaType: format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/json; charset=utf-8',
    content: format === 'csv' ? csvOf(names, batches, records) : jsonOf(batches, records),
  };
}

/** The first batch is there when it resolves, so that a fault can still be answered as one. */
async function readBatches<Filter, Row extends { readonly id: number }>(
  source: ListSource<Filter, Row>,
  site: SiteId,
  filter: Filter,
): Promise<AsyncIterable<readonly Row[]>> {
  const anchor = await source.newest(site);
  const read = (before: number | null) => source.rows({ site, filter, anchor, before, skip: 0, limit: BATCH });
  const first = await read(null);
  return (async function* () {
    for (let rows = first; rows.length > 0; ) {
      yield rows;
      if (rows.length < BATCH) return;
      rows = await read((rows.at(-1) as Row).id);
    }
  })();
}

type ExportRecord = { readonly [name: string]: Cell };

async function* csvOf<Row>(
  names: readonly string[],
  batches: AsyncIterable<readonly Row[]>,
  recordOf: (row: Row) => ExportRecord,
): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + csvLine(names);
  for await (const rows of batches) {
    yield rows
      .map((row) => {
        const record = recordOf(row);
        return csvLine(names.map((name) => record[name] ?? null));
      })
      .join('');
  }
}

async function* jsonOf<Row>(
  batches: AsyncIterable<readonly Row[]>,
  recordOf: (row: Row) => ExportRecord,
): AsyncGenerator<string> {
  let before = '[\n';
  for await (const rows of batches) {
    yield before + rows.map((row) => JSON.stringify(recordOf(row))).join(',\n');
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

const NO_FLAGS = { block: 0, do_not_block: 0 } as const;

const visitNames = [
  ...['id', 'ts', 'ts_unix', 'type', 'ip', 'hostname', 'page_visited', 'response', 'code', 'rule', 'count'],
  ...['more', 'more_from'],
];

function visitRecord(row: VisitRow, timeZone: string, addresses: LoginAddresses): ExportRecord {
  const shown = unknownRowOf(row, timeZone, NO_FLAGS);
  const page_visited = addresses.isIn(row.target) ? HIDDEN_ADDRESS : shown.page_visited;
  return picked({ ...shown, page_visited }, visitNames);
}

const eventNames = [
  ...['id', 'ts', 'ts_unix', 'user', 'ip', 'hostname', 'activity', 'actions'],
  ...['origin', 'object', 'object_type', 'before', 'after'],
];

function eventRecord(row: EventRow, timeZone: string, addresses: LoginAddresses): ExportRecord {
  const shown = registeredRowOf(row, { timeZone, flags: NO_FLAGS, caller: null });
  const record = picked({ ...shown, ...shown.words }, eventNames);
  return Object.fromEntries(
    Object.entries(record).map(([name, cell]) => [name, typeof cell === 'string' ? addresses.hideIn(cell) : cell]),
  );
}

function picked(row: object, names: readonly string[]): ExportRecord {
  return Object.fromEntries(names.map((name) => [name, (row as ExportRecord)[name] ?? null]));
}
