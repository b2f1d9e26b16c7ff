import { attackGoals } from '@security-optimizer/contract/activity/attackers';
import { activityKind } from '@security-optimizer/contract/activity/event-kinds';
import { FILTER_OPTIONS_MAX } from '@security-optimizer/contract/activity/limits';
import { type LogDropdown, logDropdowns, logFilterNames } from '@security-optimizer/contract/activity/log-address';
import type { SentFilters } from '@security-optimizer/contract/activity/requests';
import type { ActivityFilter, VisitPreset } from '@security-optimizer/contract/activity/schemas';
import { messages } from '@security-optimizer/contract/messages';
import type { ServerText } from '@security-optimizer/contract/server-message';
import { dropUnseen, toPlainText } from '@security-optimizer/contract/typed-text';
import { parseReference } from '../http/request-id.js';
import type { Range } from '../lib/address-set.js';
import { ApiError } from '../lib/api-error.js';
import { parseVisitorRange } from '../lib/carried-address.js';
import { endOfLocalDay } from '../lib/time-zone.js';
import { readTypedRanges } from '../lib/typed-ranges.js';
import type { SiteId } from '../site.js';
import type { ActivityStore, EventFilter, KeyRange, TextSearch, VisitFilter } from './activity-store.js';
import { toKeyRange } from './store/row-keys.js';

export interface FilterOption {
  readonly label: string;
  readonly value: string | number;
}

type Options<Name extends LogDropdown> = { readonly [Filter in Name]: readonly FilterOption[] };

/** The filter panel of the list of anonymous visits, with the applied choices. */
export function visitFilters(choices: VisitChoices, options: Options<LogDropdown<'unknown'>>): ActivityFilter[] {
  return [dates(choices), ...logDropdowns.unknown.map((name) => dropdown(name, choices[name], options[name]))];
}

/** The filter panel of the registered users' list, with the applied choices. */
export function eventFilters(choices: EventChoices, options: Options<LogDropdown<'registered'>>): ActivityFilter[] {
  return [dates(choices), ...logDropdowns.registered.map((name) => dropdown(name, choices[name], options[name]))];
}

function dates({ from, to }: { readonly from: number | null; readonly to: number | null }): ActivityFilter {
  return {
    type: 'datepicker',
    groupTitle: 'Date',
    wp_name: 'date',
    children: [child('from', 'From', 'From', from, []), child('to', 'To', 'To', to, [])],
  };
}

const dropdownTexts: Readonly<Record<LogDropdown, readonly [title: string, placeholder: string]>> = {
  type: ['Visitor type', 'All types'],
  code: ['Response', 'All responses'],
  ip: ['IP address', 'Address or range'],
  user: ['User', 'All users'],
  activity: ['Activity', 'All activities'],
};

/** Creates a drop-down. Its options always include the applied value, even if it is rare or was typed. */
function dropdown(name: LogDropdown, value: string | number | null, options: readonly FilterOption[]): ActivityFilter {
  const [title, placeholder] = dropdownTexts[name];
  const listed = value === null || options.some((option) => option.value === value);
  const all = listed ? options : [...options, { label: String(value), value }];
  return {
    type: 'dropdown',
    groupTitle: title,
    wp_name: name,
    children: [child(name, title, placeholder, value, all)],
  };
}

function child(
  id: string,
  label: string,
  placeholder: string,
  value: string | number | null,
  options: readonly FilterOption[],
): ActivityFilter['children'][number] {
  return {
    id,
    label,
    value,
    selectedValue: value,
    options: options.map((option) => ({ ...option })),
    optionLabel: 'label',
    optionValue: 'value',
    searchable: true,
    placeholder,
  };
}

/** The applied choices, as the response contains them. Dates are Unix seconds; null is no choice. */
export interface VisitChoices {
  readonly from: number | null;
  readonly to: number | null;
  readonly type: string | null;
  readonly code: number | null;
  readonly ip: string | null;
}

export interface EventChoices {
  readonly from: number | null;
  readonly to: number | null;
  /** Visitor id of the user. */
  readonly user: number | null;
  readonly activity: string | null;
}

/** How dates are interpreted. */
export interface DateOptions {
  /** The time zone as WordPress stores it. */
  readonly timeZone: string;
  /** Whether `to` is a time (exclusive) instead of a day. */
  readonly exact: boolean;
}

export interface ParsedFilters<Choices, Filter> {
  readonly choices: Choices;
  readonly filter: Filter;
}

const LONGEST = 200;
/** The last second of the year 9999, the last that four-digit formats can represent. */
const LAST_SECOND = 253_402_300_799;

/**
 * Parses the filters of the list of anonymous visits. Unknown filters and children are ignored.
 * @throws ApiError invalid_input naming each invalid child
 */
export function parseVisitFilters(
  sent: SentFilters,
  dates: DateOptions,
  { preset = null, search = '' }: VisitSearch = {},
): ParsedFilters<VisitChoices, Required<VisitFilter>> {
  const read = reader(sent);
  const from = read('from', seconds, 'date');
  const to = read('to', seconds, 'date');
  const type = read('type', shortText);
  const code = read('code', (text) => toWholeNumber(text, 100, 999));
  const ip = read('ip', readRanges);
  const goal = read('goal', (text) => attackGoals.find((known) => known === text) ?? null);
  read.refuseFaults();
  const parsedSearch = parseSearch(search);
  const addresses = intersect(ip?.ranges ?? null, parsedSearch.ranges);
  return {
    choices: { from, to, type, code, ip: ip?.text ?? null },
    filter: { from, to: lastSecond(to, dates), type, code, addresses, preset, goal, search: parsedSearch.text },
  };
}

/** Parses the filters of the registered users' list; see `parseVisitFilters`. */
export function parseEventFilters(
  sent: SentFilters,
  dates: DateOptions,
  search = '',
): ParsedFilters<EventChoices, Required<EventFilter>> {
  const read = reader(sent);
  const from = read('from', seconds, 'date');
  const to = read('to', seconds, 'date');
  const user = read('user', (text) => toWholeNumber(text, 1, Number.MAX_SAFE_INTEGER));
  const activity = read('activity', shortText);
  read.refuseFaults();
  const parsedSearch = parseSearch(search);
  return {
    choices: { from, to, user, activity },
    filter: {
      ...{ from, to: lastSecond(to, dates), user, activity },
      addresses: intersect(null, parsedSearch.ranges),
      search: parsedSearch.text,
    },
  };
}

/** What a request searches for, besides its filters. */
export interface VisitSearch {
  readonly preset?: VisitPreset | null;
  /** Addresses or networks, part of a path, a whole path in quotes, a login, or a reference; empty for none. */
  readonly search?: string;
}

/** `"/"` and `"/shop/"` find exactly this path. */
const QUOTED_PATH = /^["“](\/.*)["”]$/s;

/** Parses the text of the search field: addresses and ranges, or else a text that may be a reference. */
function parseSearch(search: string): {
  readonly ranges: readonly Range[] | null;
  readonly text: TextSearch | null;
} {
  const text = dropUnseen(search);
  if (text === '') return { ranges: null, text: null };
  const path = QUOTED_PATH.exec(text)?.[1] ?? null;
  if (path !== null) return { ranges: null, text: { text: path, path, reference: null } };
  const typed = text.length > LONGEST ? { fault: true } : readRanges(text);
  return 'fault' in typed
    ? { ranges: null, text: { text, path, reference: parseReference(toPlainText(text)) } }
    : { ranges: typed.ranges, text: null };
}

/** Returns the addresses that both lists contain, in the store's format; null for all. */
function intersect(first: readonly Range[] | null, second: readonly Range[] | null): VisitFilter['addresses'] {
  if (first === null || second === null) {
    const ranges = first ?? second;
    return ranges === null ? null : mergeKeyRanges(ranges.map(toKeyRange));
  }
  const [own, other] = [first.map(toKeyRange), second.map(toKeyRange)];
  // All keys have the same length, so they sort like the addresses.
  const both = own.flatMap(({ low, high }) =>
    other.map((range) => ({ low: range.low > low ? range.low : low, high: range.high < high ? range.high : high })),
  );
  return mergeKeyRanges(both.filter(({ low, high }) => low <= high));
}

/** Merges ranges so that no two overlap, lowest first. */
function mergeKeyRanges(ranges: readonly KeyRange[]): readonly KeyRange[] {
  const merged: { low: string; high: string }[] = [];
  for (const { low, high } of [...ranges].sort((a, b) => (a.low < b.low ? -1 : 1))) {
    const last = merged.at(-1);
    if (last === undefined || low > last.high) merged.push({ low, high });
    else if (high > last.high) last.high = high;
  }
  return merged;
}

/** Converts plain parameters, named after the children, to filters; for links. */
export function plainFilters(parameters: Readonly<Record<string, unknown>>): SentFilters {
  const filter = (wp_name: string, ids: readonly string[]) => ({
    wp_name,
    children: ids.map((id) => ({ id, value: parameters[id] })),
  });
  const others = logFilterNames.filter((id) => id !== 'from' && id !== 'to');
  return [filter('date', ['from', 'to']), ...others.map((id) => filter(id, [id]))];
}

/** Why a value can't be used, in place of the value. */
interface Fault {
  readonly fault: ServerText;
}

function isFault<Value>(value: Value | Fault): value is Fault {
  return typeof value === 'object' && value !== null && 'fault' in value;
}

/** Creates a function that parses children one by one and collects the invalid ones. */
function reader(sent: SentFilters) {
  const fields: Record<string, ServerText> = {};
  const read = <Value>(child: string, parse: (text: string) => Value | Fault | null, filter = child): Value | null => {
    const text = sentChoice(sent, filter, filter === child ? undefined : child);
    if (text === null) return null;
    const value = text.length > LONGEST ? null : parse(text);
    if (value === null) fields[child] = messages.invalidFormat;
    else if (isFault(value)) fields[child] = value.fault;
    else return value;
    return null;
  };
  return Object.assign(read, {
    refuseFaults(): void {
      if (Object.keys(fields).length > 0) throw new ApiError('invalid_input', { fields });
    },
  });
}

/** Returns the choice in a child of a filter, or in its first child without `childId`; null if there is none. */
function sentChoice(sent: SentFilters, filter: string, childId: string | undefined): string | null {
  const children = (sent ?? []).find(({ wp_name }) => wp_name === filter)?.children ?? [];
  const child = childId === undefined ? children[0] : children.find(({ id }) => id === childId);
  return toText(unwrapOption(child?.selectedValue) ?? unwrapOption(child?.value));
}

/** Returns the value of a choice: a drop-down may send the whole option. */
function unwrapOption(choice: unknown): unknown {
  return typeof choice === 'object' && choice !== null && 'value' in choice ? choice.value : choice;
}

/** Returns a choice as text; null for none. */
function toText(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  // Any other type becomes a text that no child accepts.
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '\0';
  return text === '' ? null : text;
}

function seconds(text: string): number | null {
  return toWholeNumber(text, 0, LAST_SECOND);
}

function toWholeNumber(text: string, min: number, max: number): number | null {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : -1;
  return value >= min && value <= max ? value : null;
}

function shortText(text: string): string | null {
  return /\p{Cc}/u.test(text) ? null : text;
}

/** Parses addresses and ranges as people type them, see `readTypedRanges`; `text` is their plain text. */
function readRanges(typed: string): { readonly ranges: readonly Range[]; readonly text: string } | Fault {
  const read = readTypedRanges(typed);
  if ('fault' in read) return read;
  const ranges = read.texts.map(parseVisitorRange).filter((range) => range !== null);
  return { ranges, text: read.texts.join(', ') };
}

function lastSecond(to: number | null, { timeZone, exact }: DateOptions): number | null {
  if (to === null) return null;
  return exact ? to - 1 : endOfLocalDay(timeZone, to) - 1;
}

export type FilterOptions = readonly FilterOption[];

/** Filters whose choices are names, perhaps in other scripts. The choices of all others consist of ASCII. */
const NAMES: ReadonlySet<LogDropdown> = new Set(['type', 'user', 'activity']);
/** Filters whose values are numbers in responses. */
const NUMBERS: ReadonlySet<LogDropdown> = new Set(['code', 'user']);

/**
 * Lists options of a drop-down that contain the text, most frequent first, at most 200. Activities are searched by
 * their labels, all other filters by the store. Throws StorageError.
 */
export async function filterOptions(
  store: Pick<ActivityStore, 'options'>,
  site: SiteId,
  filter: LogDropdown,
  search: string,
): Promise<FilterOptions> {
  const wanted = NAMES.has(filter) ? dropUnseen(search) : toPlainText(search);
  if (filter === 'activity') {
    const lower = wanted.toLowerCase();
    const all = await store.options(site, filter, '', FILTER_OPTIONS_MAX);
    return all
      .map(({ label, value }) => ({ label: activityKind(value)?.label ?? label, value }))
      .filter(({ label }) => label.toLowerCase().includes(lower));
  }
  const found = await store.options(site, filter, wanted, FILTER_OPTIONS_MAX);
  return found.map(({ label, value }) => ({ label, value: NUMBERS.has(filter) ? Number(value) : value }));
}

/**
 * Lists options of a filter of a list; see `filterOptions`.
 * @throws ApiError invalid_input
 * @throws StorageError
 */
export async function searchFilter(
  store: Pick<ActivityStore, 'options'>,
  query: {
    readonly site: SiteId;
    readonly list: 'unknown' | 'registered';
    readonly filter: string;
    readonly search: string;
  },
): Promise<FilterOptions> {
  const dropdowns: readonly LogDropdown[] = logDropdowns[query.list];
  const name = dropdowns.find((entry) => entry === query.filter);
  if (name === undefined) {
    throw new ApiError('invalid_input', { fields: { filter: `Use ${dropdowns.join(', ')}.` } });
  }
  return filterOptions(store, query.site, name, query.search);
}
