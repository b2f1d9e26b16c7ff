import type { SentFilters } from '@security-optimizer/contract/activity-filters';
import { IP_FILTER_PATTERN } from '@security-optimizer/contract/activity-limits';
import { messages } from '@security-optimizer/contract/messages';
import { parseRange } from '../lib/address-set.js';
import { ApiError } from '../lib/api-error.js';
import type { EventFilter, VisitFilter } from './activity-store.js';
import { endOfLocalDay } from './local-days.js';

/** What is applied, as it stands in the filters of the answer. Dates are Unix seconds; null is no choice. */
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

/** How dates are meant. */
export interface DateReading {
  /** As WordPress stores it. */
  readonly timeZone: string;
  /** The To is a moment (outside) in place of a day. */
  readonly exact: boolean;
}

export interface ReadFilters<Choices, Filter> {
  readonly choices: Choices;
  readonly filter: Filter;
}

const LONGEST = 200;
/** The last second of the year 9999, the last that formats of four digits can show. */
const LAST_SECOND = 253_402_300_799;

/**
 * The filters of the unknown visitors' list. Filters and children that nobody knows are left alone.
 * @throws ApiError invalid_input naming each child that can't be read
 */
export function readVisitFilters(sent: SentFilters, dates: DateReading): ReadFilters<VisitChoices, VisitFilter> {
  const read = reader(sent);
  const from = read('from', seconds, 'date');
  const to = read('to', seconds, 'date');
  const type = read('type', shortText);
  const code = read('code', (text) => wholeNumber(text, 100, 999));
  const ip = read('ip', rangeText);
  const range = ip === null ? null : parseRange(ip);
  read.refuseFaults();
  const addresses = range === null ? null : { low: addressKeyOf(range.from), high: addressKeyOf(range.to) };
  return {
    choices: { from, to, type, code, ip },
    filter: { from, to: lastSecond(to, dates), type, code, addresses },
  };
}

/** The same for the registered users' list. */
export function readEventFilters(sent: SentFilters, dates: DateReading): ReadFilters<EventChoices, EventFilter> {
  const read = reader(sent);
  const from = read('from', seconds, 'date');
  const to = read('to', seconds, 'date');
  const user = read('user', (text) => wholeNumber(text, 1, Number.MAX_SAFE_INTEGER));
  const activity = read('activity', shortText);
  read.refuseFaults();
  return {
    choices: { from, to, user, activity },
    filter: { from, to: lastSecond(to, dates), user, activity },
  };
}

/** Filters that stand as plain parameters, each under the name of its child; for links. */
export function plainFilters(parameters: Readonly<Record<string, unknown>>): SentFilters {
  const filter = (wp_name: string, ids: readonly string[]) => ({
    wp_name,
    children: ids.map((id) => ({ id, value: parameters[id] })),
  });
  return [filter('date', ['from', 'to']), ...['type', 'code', 'ip', 'user', 'activity'].map((id) => filter(id, [id]))];
}

/** Reads children one by one and remembers which can't be read. */
function reader(sent: SentFilters) {
  const fields: Record<string, string> = {};
  const read = <Value>(child: string, parse: (text: string) => Value | null, filter = child): Value | null => {
    const text = sentChoice(sent, filter, filter === child ? undefined : child);
    if (text === null) return null;
    const value = text.length > LONGEST ? null : parse(text);
    if (value === null) fields[child] = messages.invalidFormat;
    return value;
  };
  return Object.assign(read, {
    refuseFaults(): void {
      if (Object.keys(fields).length > 0) throw new ApiError('invalid_input', { fields });
    },
  });
}

/** What is chosen in a child of a filter, in its first one when none is named; null for nothing. */
function sentChoice(sent: SentFilters, filter: string, childId: string | undefined): string | null {
  const children = (sent ?? []).find(({ wp_name }) => wp_name === filter)?.children ?? [];
  const child = childId === undefined ? children[0] : children.find(({ id }) => id === childId);
  return textOf(unwrapped(child?.selectedValue) ?? unwrapped(child?.value));
}

/** A drop-down may send the whole option in place of its value. */
function unwrapped(choice: unknown): unknown {
  return typeof choice === 'object' && choice !== null && 'value' in choice ? choice.value : choice;
}

/** A choice as text; null for none. */
function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  // Anything that is neither text nor number becomes a text that no child accepts.
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '\0';
  return text === '' ? null : text;
}

function seconds(text: string): number | null {
  return wholeNumber(text, 0, LAST_SECOND);
}

function wholeNumber(text: string, least: number, most: number): number | null {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : -1;
  return value >= least && value <= most ? value : null;
}

function shortText(text: string): string | null {
  return /\p{Cc}/u.test(text) ? null : text;
}

/** Spaces around a hyphen are the only ones that mean something to people. */
function rangeText(text: string): string | null {
  const range = text.replace(/ *- */, '-');
  return IP_FILTER_PATTERN.test(range) && parseRange(range) !== null ? range : null;
}

function lastSecond(to: number | null, { timeZone, exact }: DateReading): number | null {
  if (to === null) return null;
  return exact ? to - 1 : endOfLocalDay(timeZone, to) - 1;
}

/** 16 bytes in hexadecimal, as the store orders addresses. */
function addressKeyOf(words: readonly number[]): string {
  return words.map((word) => word.toString(16).padStart(8, '0')).join('');
}
