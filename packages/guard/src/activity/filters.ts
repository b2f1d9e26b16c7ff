import type { ActivityFilter } from '@security-optimizer/contract/activity';
import type { EventChoices, VisitChoices } from './read-filters.js';

export interface FilterOption {
  readonly label: string;
  readonly value: string | number;
}

type Options<Name extends string> = { readonly [Filter in Name]: readonly FilterOption[] };

/** The filter panel of the unknown visitors' list, with what is applied filled in. */
export function visitFilters(choices: VisitChoices, options: Options<'type' | 'code' | 'ip'>): ActivityFilter[] {
  return [
    dates(choices),
    dropdown('type', 'Visitor type', 'All types', choices.type, options.type),
    dropdown('code', 'Response', 'All responses', choices.code, options.code),
    dropdown('ip', 'IP address', 'Address or range', choices.ip, options.ip),
  ];
}

/** The same for the registered users' list. */
export function eventFilters(choices: EventChoices, options: Options<'user' | 'activity'>): ActivityFilter[] {
  return [
    dates(choices),
    dropdown('user', 'User', 'All users', choices.user, options.user),
    dropdown('activity', 'Activity', 'All activities', choices.activity, options.activity),
  ];
}

function dates({ from, to }: { readonly from: number | null; readonly to: number | null }): ActivityFilter {
  return {
    type: 'datepicker',
    groupTitle: 'Date',
    wp_name: 'date',
    children: [child('from', 'From', 'From', from, []), child('to', 'To', 'To', to, [])],
  };
}

/** What is applied is always among the choices, also when it is rare or was typed. */
function dropdown(
  name: string,
  title: string,
  placeholder: string,
  value: string | number | null,
  options: readonly FilterOption[],
): ActivityFilter {
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
