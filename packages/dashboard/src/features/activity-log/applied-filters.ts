import { type AttackGoal, attackGoals } from '@security-optimizer/contract/activity/attackers';
import { type LogFilterName, type LogView, logFilterNames } from '@security-optimizer/contract/activity/log-address';
import { type ActivityFilter, type VisitPreset, visitPresets } from '@security-optimizer/contract/activity/schemas';
import { dropUnseen } from '@security-optimizer/contract/typed-text';
import type { Query } from '../../api/client.js';
import type { DateFormats } from '../../i18n/date-formats.js';
import { dayEnd, dayStart, siteDay, siteNow } from '../../i18n/days.js';
import { __, translate } from '../../i18n/translate.js';
import { dateTimeText } from '../settings/site-clock.js';
import { goalText } from './reasons.js';

/** A chosen value of a filter field. */
export interface FilterChoice {
  /** `wp_name` of the filter, and id of the field. */
  readonly group: string;
  readonly child: string;
  /** Display name of the field. */
  readonly name: string;
  readonly value: string | number;
  /** Display text of the value. */
  readonly text: string;
}

/** The filters of a list: the choices of its filter panel, its preset and the text of its search field. */
export interface AppliedFilters {
  readonly choices: readonly FilterChoice[];
  /** Whether the period ends at an exact time instead of with a whole day. */
  readonly exact: boolean;
  readonly preset: VisitPreset;
  /** Empty for none. */
  readonly search: string;
}

export const NO_FILTERS: AppliedFilters = { choices: [], exact: false, preset: 'all', search: '' };

/** Whether the list has no filters. */
export function isUnfiltered({ choices, preset, search }: AppliedFilters): boolean {
  return choices.length === 0 && preset === 'all' && search === '';
}

/** Replaces or removes the choice of a field. */
export function withChoice(
  choices: readonly FilterChoice[],
  field: Pick<FilterChoice, 'group' | 'child'>,
  choice: FilterChoice | null,
): readonly FilterChoice[] {
  const others = choices.filter((item) => item.group !== field.group || item.child !== field.child);
  return choice === null ? others : [...others, choice];
}

export function findChoice(choices: readonly FilterChoice[], group: string, child?: string): FilterChoice | undefined {
  return choices.find((item) => item.group === group && (child === undefined || item.child === child));
}

/** Returns one end of the chosen period, Unix seconds. */
export function getPeriodEnd({ choices }: AppliedFilters, child: 'from' | 'to'): number | undefined {
  const value = findChoice(choices, 'date', child)?.value;
  return typeof value === 'number' ? value : undefined;
}

/** The filters in the format of a list request. */
export function toFilterBody({ choices, exact, preset, search }: AppliedFilters): {
  readonly filters: { wp_name: string; children: { id: string; selectedValue: unknown }[] }[];
  readonly exact?: 1;
  readonly preset?: VisitPreset;
  readonly search?: string;
} {
  const groups = Array.from(new Set(choices.map(({ group }) => group)));
  const filters = groups.map((group) => ({
    wp_name: group,
    children: choices
      .filter((choice) => choice.group === group)
      .map(({ child, value }) => ({ id: child, selectedValue: value })),
  }));
  return {
    filters,
    ...(exact && { exact: 1 as const }),
    ...(preset !== 'all' && { preset }),
    ...(search !== '' && { search }),
  };
}

/** The filters as query parameters of an export link. */
export function toFilterQuery({ choices, exact, preset, search }: AppliedFilters): Query {
  const query: Record<string, string | number> = {};
  if (exact) query.exact = 1;
  if (preset !== 'all') query.preset = preset;
  if (search !== '') query.search = search;
  for (const { group, child, value } of choices) query[group === 'date' ? child : group] = value;
  return query;
}

/**
 * Adds a filter for the visitor or user of a row.
 *
 * @param filters filters of the list, which define id and name of the field
 * @param name name if the list has no such filter
 */
export function withSubject(
  applied: AppliedFilters,
  filters: readonly ActivityFilter[],
  group: 'ip' | 'user',
  name: string,
  subject: Pick<FilterChoice, 'value' | 'text'>,
): AppliedFilters {
  const child = filters.find(({ wp_name }) => wp_name === group)?.children[0];
  const field = { group, child: child?.id ?? group };
  const choice = { ...field, ...subject, name: child === undefined ? name : translate(child.label) };
  return { ...applied, choices: withChoice(applied.choices, field, choice) };
}

/** Sets or removes the filter by the attackers' goal. */
export function withGoal(applied: AppliedFilters, goal: AttackGoal | null): AppliedFilters {
  const field = { group: 'goal', child: 'goal' };
  return { ...applied, choices: withChoice(applied.choices, field, goal === null ? null : toGoalChoice(goal)) };
}

function toGoalChoice(goal: AttackGoal): FilterChoice {
  return { group: 'goal', child: 'goal', name: groupName('goal'), value: goal, text: goalText(goal) };
}

/** Converts one end of a period to a choice: a whole day at the site. */
export function toDayChoice(child: 'from' | 'to', day: string, zone: string, formats: DateFormats): FilterChoice {
  return {
    group: 'date',
    child,
    name: endName(child),
    value: dayStart(zone, day),
    text: formats.shortDate(day),
  };
}

/** Converts one end of a period to a choice: an exact time. */
function toMomentChoice(child: 'from' | 'to', seconds: number, zone: string, formats: DateFormats): FilterChoice {
  const text = dateTimeText(seconds, { zone, formats });
  return { group: 'date', child, name: endName(child), value: seconds, text };
}

/** Replaces the period by that of a bar of the chart. */
export function withPeriod(
  applied: AppliedFilters,
  bar: { readonly from: number; readonly to: number },
  step: 'day' | 'hour',
  zone: string,
  formats: DateFormats,
): AppliedFilters {
  const others = applied.choices.filter(({ group }) => group !== 'date');
  if (step === 'day') {
    const { day } = siteNow(zone, bar.from * 1000);
    return {
      ...applied,
      choices: [toDayChoice('from', day, zone, formats), toDayChoice('to', day, zone, formats), ...others],
      exact: false,
    };
  }
  const end = (child: 'from' | 'to', seconds: number): FilterChoice => toMomentChoice(child, seconds, zone, formats);
  return { ...applied, choices: [end('from', bar.from), end('to', bar.to), ...others], exact: true };
}

/**
 * Returns the period of the chart, Unix seconds, end exclusive. It has whole days, so that a chosen hour is shown among
 * its neighbours.
 */
export function getChartPeriod(
  applied: AppliedFilters,
  zone: string,
): { from: number | undefined; to: number | undefined } {
  const [from, to] = [getPeriodEnd(applied, 'from'), getPeriodEnd(applied, 'to')];
  // An exact end is the start of the next hour, which may be on the next day.
  const last = to === undefined ? undefined : siteDay(zone, applied.exact ? to - 1 : to);
  return {
    from: from === undefined ? undefined : dayStart(zone, siteDay(zone, from)),
    to: last === undefined ? undefined : dayEnd(zone, last),
  };
}

/** Whether a period is shorter than whole days, which last at least 23 hours, and so has an exact end. */
const WHOLE_DAYS = 23 * 3600;

/**
 * Converts a view from the URL to filters. The labels of choices are their values; `withLabels` adds those of the list.
 */
export function fromLogView({ preset, search, filters }: LogView, zone: string, formats: DateFormats): AppliedFilters {
  const [from, to] = [toSeconds(filters.from), toSeconds(filters.to)];
  const span = from === null || to === null ? 0 : to - from;
  const exact = span > 0 && span < WHOLE_DAYS;
  const end = (child: 'from' | 'to', seconds: number | null): readonly FilterChoice[] => {
    if (seconds === null) return [];
    return [
      exact
        ? toMomentChoice(child, seconds, zone, formats)
        : { ...toDayChoice(child, siteDay(zone, seconds), zone, formats), value: seconds },
    ];
  };
  const others = logFilterNames.flatMap((group): readonly FilterChoice[] => {
    const text = filters[group];
    if (text === undefined || group === 'from' || group === 'to') return [];
    // Users are numbers in lists and requests.
    const value = group === 'user' ? (toSeconds(text) ?? text) : text;
    if (group === 'goal') return attackGoals.filter((goal) => goal === text).map(toGoalChoice);
    return [{ group, child: group, name: groupName(group), value, text }];
  });
  return {
    choices: [...end('from', from), ...end('to', to), ...others],
    exact,
    preset: visitPresets.find((name) => name === preset) ?? 'all',
    search: dropUnseen(search),
  };
}

/** Converts filters to a view for the URL. */
export function toLogView({ choices, preset, search }: AppliedFilters): Pick<LogView, 'preset' | 'search' | 'filters'> {
  const filters = choices.map(({ group, child, value }) => [group === 'date' ? child : group, String(value)]);
  return { preset: preset === 'all' ? null : preset, search, filters: Object.fromEntries(filters) };
}

/** Adds the names and labels of the list's filters to the choices. */
export function withLabels(
  choices: readonly FilterChoice[],
  filters: readonly ActivityFilter[],
): readonly FilterChoice[] {
  return choices.map((choice) => {
    const field = filters.find(({ wp_name }) => wp_name === choice.group)?.children[0];
    if (field === undefined || choice.group === 'date') return choice;
    const option = field.options.find(({ value }) => String(value) === String(choice.value));
    const isAddress = choice.group === 'ip';
    const text = option === undefined ? choice.text : isAddress ? option.label : translate(option.label);
    return { ...choice, child: field.id, name: translate(field.label), text };
  });
}

function toSeconds(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : null;
}

/** Name of a filter until the list is loaded. A missing one is a type error. */
function groupName(group: Exclude<LogFilterName, 'from' | 'to'>): string {
  switch (group) {
    case 'ip':
      return __('IP address', 'security-optimizer');
    case 'goal':
      return __('What they want', 'security-optimizer');
    case 'user':
      return __('User', 'security-optimizer');
    case 'activity':
      return __('Activity', 'security-optimizer');
    case 'code':
      return __('Response', 'security-optimizer');
    case 'type':
      return __('Visitor', 'security-optimizer');
  }
}

function endName(child: 'from' | 'to'): string {
  return child === 'from' ? __('Since', 'security-optimizer') : __('Until', 'security-optimizer');
}
