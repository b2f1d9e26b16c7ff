import {
  type ActivityFilter,
  type BlockedRow,
  blockedList,
  blockedRow,
  type RegisteredRow,
  registeredList,
  registeredRow,
  type UnknownRow,
  unknownList,
  unknownRow,
} from '@security-optimizer/contract/activity';
import * as z from 'zod/mini';
import { tolerant } from '../../api/tolerant.js';
import { __ } from '../../i18n/translate.js';

/** The pages of a list that were loaded. */
export interface LogRows<Row> {
  readonly entries: readonly Row[];
  readonly filters: readonly ActivityFilter[];
  readonly page: number;
  readonly pages: number;
  /** Cursor of the next page, if the server sent one. */
  readonly cursor: string | null;
  readonly total: number | null;
  /** How far back a text was looked for, Unix seconds, when that ended before the page was full. */
  readonly searched_to?: number | null | undefined;
  /**
   * The server knows presets, search, details of a row and blocks with an end. An older one would ignore them, so they
   * are not offered.
   */
  readonly isFull: boolean;
}

/** A list endpoint of the contract. */
export interface ListSource<Row> {
  readonly name: string;
  readonly suffix: string;
  readonly read: (data: unknown) => LogRows<Row> | null;
}

const NO_WORDS = { kind: '', object: '', object_type: '', before: null, after: null };
const ONE_PAGE = { page: 1, pages: 1 };

const unknownSchema = tolerant(
  z.extend(unknownList, { entries: z.array(tolerant(unknownRow, { count: 1 })) }),
  ONE_PAGE,
);
const registeredSchema = tolerant(
  z.extend(registeredList, { entries: z.array(tolerant(registeredRow, { words: NO_WORDS, origin: 'web' })) }),
  ONE_PAGE,
);
const blockedSchema = tolerant(
  z.extend(blockedList, { entries: z.array(tolerant(blockedRow, { type: 'ip', by: 'owner' })) }),
  ONE_PAGE,
);

/** Parses a list of anonymous visits. @returns null for anything else */
export function readUnknownList(data: unknown): LogRows<UnknownRow> | null {
  return withRows(readList(unknownSchema, data), (row, place) => ({
    ...withId(row, place),
    code: row.code || Number.parseInt(row.response, 10) || 0,
  }));
}

/** Parses a list of events of registered users. @returns null for anything else */
export function readRegisteredList(data: unknown): LogRows<RegisteredRow> | null {
  return withRows(readList(registeredSchema, data), withId);
}

/** Parses a list of blocked visitors. @returns null for anything else */
export function readBlockedList(data: unknown): LogRows<BlockedRow> | null {
  return withRows(readList(blockedSchema, data), (row, place) => ({ ...row, id: row.id || `row-${place}` }));
}

/** Fields of the rows of a server that knows the rest, too. */
const FULL = ['current_block', 'ip_block', 'until_unix'];

function readList<List extends object>(
  schema: z.ZodMiniType<List>,
  data: unknown,
): (List & { readonly isFull: boolean }) | undefined {
  const { data: given } = z.safeParse(z.looseObject({ entries: z.array(z.unknown()) }), data);
  const list = given === undefined ? undefined : z.safeParse(schema, data).data;
  if (given === undefined || list === undefined) return undefined;
  const [first] = given.entries;
  const isFull = typeof first !== 'object' || first === null || FULL.some((name) => name in first);
  return { ...list, isFull };
}

function withRows<Row, List extends LogRows<Row>>(
  list: List | undefined,
  withPlace: (row: Row, place: number) => Row,
): LogRows<Row> | null {
  return list === undefined ? null : { ...list, entries: list.entries.map(withPlace) };
}

/** Numbers rows without an id by their position. */
function withId<Row extends { readonly id: number }>(row: Row, place: number): Row {
  return row.id === 0 ? { ...row, id: -1 - place } : row;
}

export const unknownSource: ListSource<UnknownRow> = {
  name: 'activityUnknown',
  suffix: '/activity-unknown',
  read: readUnknownList,
};

export const registeredSource: ListSource<RegisteredRow> = {
  name: 'registeredActivity',
  suffix: '/activity-registered',
  read: readRegisteredList,
};

/** The tabs in their order; each id is also the hash that opens the tab in links of earlier versions. */
export const TAB_IDS = ['unknown', 'registered', 'blocked', 'weekly-reports', 'log-settings'] as const;
export type TabId = (typeof TAB_IDS)[number];

export function tabText(id: TabId): string {
  switch (id) {
    case 'unknown':
      return __('Unknown', 'security-optimizer');
    case 'registered':
      return __('Registered', 'security-optimizer');
    case 'blocked':
      return __('Blocked', 'security-optimizer');
    case 'weekly-reports':
      return __('Weekly Reports', 'security-optimizer');
    case 'log-settings':
      return __('Log Settings', 'security-optimizer');
  }
}
