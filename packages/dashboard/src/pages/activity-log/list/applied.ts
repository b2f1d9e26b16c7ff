import type { Query } from '../../../api/rest-url.js';

/** One field of a filter with what the owner chose in it. */
export interface Choice {
  /** The filter's `wp_name`, and the id of its field. */
  readonly group: string;
  readonly child: string;
  /** Name of the field, for people. */
  readonly name: string;
  readonly value: string | number;
  /** The value, for people. */
  readonly text: string;
}

/** What a list is filtered by. */
export interface Applied {
  readonly choices: readonly Choice[];
  /** The end of the period is a moment, not a whole day. */
  readonly exact: boolean;
}

export const NOTHING_APPLIED: Applied = { choices: [], exact: false };

/** The choices with another one in the place of the same field; null takes it away. */
export function withChoice(
  choices: readonly Choice[],
  field: Pick<Choice, 'group' | 'child'>,
  choice: Choice | null,
): readonly Choice[] {
  const others = choices.filter((item) => item.group !== field.group || item.child !== field.child);
  return choice === null ? others : [...others, choice];
}

export function choiceOf(choices: readonly Choice[], group: string, child?: string): Choice | undefined {
  return choices.find((item) => item.group === group && (child === undefined || item.child === child));
}

/** Seconds of one end of the chosen period, if there is one. */
export function periodEnd({ choices }: Applied, child: 'from' | 'to'): number | undefined {
  const value = choiceOf(choices, 'date', child)?.value;
  return typeof value === 'number' ? value : undefined;
}

/** The part of a request that filters a list: only what was chosen. */
export function filterBody({ choices, exact }: Applied): { readonly filters: readonly object[]; readonly exact?: 1 } {
  const groups = Array.from(new Set(choices.map(({ group }) => group)));
  const filters = groups.map((group) => ({
    wp_name: group,
    children: choices
      .filter((choice) => choice.group === group)
      .map(({ child, value }) => ({ id: child, selectedValue: value })),
  }));
  return exact ? { filters, exact: 1 } : { filters };
}

/** The same as plain parameters, for a link to the export. */
export function filterQuery({ choices, exact }: Applied): Query {
  const query: Record<string, string | number> = exact ? { exact: 1 } : {};
  for (const { group, child, value } of choices) query[group === 'date' ? child : group] = value;
  return query;
}
